"""Usage of a step -> tokens and dollars, by the price list that is installed with the package."""

from collections.abc import Sequence
from typing import Any

from genai_prices import calc_price, extract_usage

from agent.answer import Usage

_CHARACTERS_A_TOKEN = 3
_MOST_INPUT = 10_000_000
"""Tokens that no request can have: ten times the largest window of a model."""
_USUAL_OUTPUT = 1_000
"""Tokens of output that a request is estimated with."""


def tokens(usage: dict[str, Any]) -> Usage:
    """The usage of one response."""
    return Usage(
        input_tokens=usage.get("input_tokens") or 0,
        output_tokens=usage.get("output_tokens") or 0,
        cache_read_tokens=usage.get("cache_read_input_tokens") or 0,
        cache_write_tokens=usage.get("cache_creation_input_tokens") or 0,
    )


def is_possible(usage: Usage, max_tokens: int) -> bool:
    """Return False for a usage that no response of at most ``max_tokens`` can have."""
    read = usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens
    is_negative = min(usage.input_tokens, usage.output_tokens, read) < 0
    return not is_negative and usage.output_tokens <= max_tokens and read <= _MOST_INPUT


def add(one: Usage, other: Usage) -> Usage:
    return Usage(
        one.input_tokens + other.input_tokens,
        one.output_tokens + other.output_tokens,
        one.cache_read_tokens + other.cache_read_tokens,
        one.cache_write_tokens + other.cache_write_tokens,
    )


def price_is_known(model: str) -> bool:
    return cost_usd(model, {"input_tokens": 1, "output_tokens": 1}) is not None


def estimated_usd(
    model: str, system: str, tools: Sequence[object], messages: Sequence[object]
) -> float | None:
    """Dollars of a request before its response, or None if the price of the model is not known."""
    characters = len(system) + len(str(tools)) + len(str(messages))
    usage = {"input_tokens": characters // _CHARACTERS_A_TOKEN, "output_tokens": _USUAL_OUTPUT}
    return cost_usd(model, usage)


def cost_usd(model: str, usage: dict[str, Any]) -> float | None:
    """Dollars, or None if the price of the model is not known: a wrong sum would be worse."""
    try:
        response = {"model": model, "usage": usage}
        extracted = extract_usage(response, provider_id="anthropic")
        return float(calc_price(extracted.usage, model, provider_id="anthropic").total_price)
    except (LookupError, ValueError):
        return None
