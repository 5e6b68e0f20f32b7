"""Modes of an eval: the model or Footnote decides whether to search."""

from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from agent.settings import AgentSettings

Mode = Literal["agent", "no-search", "search-first"]


def in_mode(settings: "AgentSettings", mode: Mode) -> "AgentSettings":
    """Return the settings of a mode.

    ``no-search`` measures the model's inventions, ``search-first`` the value of one search.
    """
    # A fallback would be measured under the other model's name.
    changes: dict[str, object] = {"fallback_model": None}
    if mode == "no-search":
        # No search of the docs or of the web.
        changes |= {"max_searches": 0, "route": "agent", "web_search": False}
    elif mode == "search-first":
        changes |= {"route": "single"}
    return settings.model_copy(update=changes)
