"""Rules of each model id, as the API documents them: the fake server's own table.

It is kept apart from ``agent/model/profiles.py`` on purpose: the one checks the other.
"""

from dataclasses import dataclass


@dataclass(frozen=True)
class ModelRules:
    """The rules of one model id."""

    name: str
    max_tokens: int = 128_000
    max_input: int = 1_000_000
    thinking: frozenset[str] = frozenset({"adaptive"})
    disable_up_to: str | None = None
    """Thinking may be disabled only up to this effort."""
    effort: bool = True
    forced_tool: bool = True
    system_notes: bool = True
    """Messages with the role ``system`` in the middle of the conversation."""
    bound_thinking: bool = False
    """A thinking block's signature holds only with the exact prefix it was made for."""
    prefill: bool = False
    cache_minimum: int = 512
    """Tokens below which a prefix is silently not cached."""
    citations: bool = True
    structured: bool = True
    web_search: bool = True
    lifecycle: str = "active"
    retires: str | None = None


_ADAPTIVE = frozenset({"adaptive"})

MODELS = {
    rules.name: rules
    for rules in (
        ModelRules("claude-opus-5-5", forced_tool=False, bound_thinking=True),
        ModelRules(
            "claude-sonnet-5-5",
            thinking=_ADAPTIVE | {"between_tools"},
            forced_tool=False,
            bound_thinking=True,
        ),
        ModelRules("claude-haiku-5-5", bound_thinking=True),
        ModelRules("claude-fable-5-2", forced_tool=False, bound_thinking=True),
        ModelRules("claude-fable-5-1", forced_tool=False, bound_thinking=True),
        ModelRules("claude-fable-5"),
        ModelRules("claude-opus-5", thinking=_ADAPTIVE | {"disabled"}, disable_up_to="high"),
        ModelRules("claude-opus-4-8", thinking=_ADAPTIVE | {"disabled"}, cache_minimum=1_024),
        ModelRules(
            "claude-sonnet-5",
            thinking=_ADAPTIVE | {"disabled"},
            system_notes=False,
            cache_minimum=1_024,
        ),
        ModelRules(
            "claude-haiku-4-5",
            max_tokens=64_000,
            max_input=200_000,
            thinking=frozenset({"enabled", "disabled"}),
            effort=False,
            system_notes=False,
            prefill=True,
            cache_minimum=4_096,
        ),
    )
}
