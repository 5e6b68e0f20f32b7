"""The parameters of each model, and those that gateways do not get."""

import pytest

from agent.model.profiles import COMPAT, PROFILES, UNKNOWN, profile_for
from agent.settings import AgentSettings
from tests.fakes.model_rules import MODELS

GATEWAY = "http://gateway.example:4000"


@pytest.mark.parametrize("model", sorted(MODELS))
def test_profiles_agree_with_what_the_api_documents(model: str) -> None:
    profile, rules = PROFILES[model], MODELS[model]

    assert profile.effort == rules.effort
    assert profile.system_notes == rules.system_notes
    assert (profile.context, profile.max_output) == (rules.max_input, rules.max_tokens)
    assert not profile.thinking or "adaptive" in rules.thinking


def test_an_unknown_id_gets_what_every_model_takes() -> None:
    assert profile_for("claude-next-9", AgentSettings()) == UNKNOWN
    assert not UNKNOWN.thinking
    assert not UNKNOWN.effort
    assert not UNKNOWN.system_notes


def test_an_unknown_id_on_a_gateway_is_spoken_to_plainly() -> None:
    assert profile_for("qwen3", AgentSettings(base_url=GATEWAY)) == COMPAT
    assert profile_for("claude-opus-5-5", AgentSettings(profile="compat")) == COMPAT


@pytest.mark.parametrize(
    ("base_url", "citations", "native"),
    [
        (None, "auto", True),
        ("https://api.anthropic.com", "auto", True),
        (GATEWAY, "auto", False),
        ("https://anthropic.com.evil.example", "auto", False),
        (GATEWAY, "native", True),
        (None, "brackets", False),
    ],
)
def test_native_citations_go_to_anthropic_and_where_they_are_asked_for(
    base_url: str | None, citations: str, native: bool
) -> None:
    settings = AgentSettings.model_validate({"base_url": base_url, "citations": citations})

    assert profile_for("claude-opus-5-5", settings).native_citations is native
