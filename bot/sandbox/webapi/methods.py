"""All Web API methods: importing this module registers them."""

from bot.sandbox.webapi import chat, conversations, directory, reactions, sessions, streams, views

ALL = (chat, conversations, directory, reactions, sessions, streams, views)
