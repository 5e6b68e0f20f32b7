"""All Web API methods: importing this module registers them."""

from bot.sandbox import (
    chat,
    conversations,
    directory,
)

__all__ = ["chat", "conversations", "directory"]
