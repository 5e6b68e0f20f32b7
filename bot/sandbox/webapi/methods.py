"""The Web API of the sandbox: all its methods by name."""

from bot.sandbox.webapi import chat, conversations, directory, reactions, sessions, streams, views
from bot.sandbox.webapi.call import Method

METHODS = {
    value.name: value
    for module in (chat, conversations, directory, reactions, sessions, streams, views)
    for value in vars(module).values()
    if isinstance(value, Method)
}
