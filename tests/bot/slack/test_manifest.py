"""The manifests: valid for Slack, and asking for exactly what the code uses."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
import yaml
from jsonschema import Draft7Validator

from bot.sandbox.webapi.methods import METHODS
from tests.conftest import ROOT

AGENT = ROOT / "manifest.yml"
BASIC = ROOT / "docs" / "manifest-basic.yml"
BOTH = pytest.mark.parametrize("path", [AGENT, BASIC], ids=["agent", "basic"])

EVENT_SCOPES = {
    "agent_session_stopped": "assistant:write",
    "app_home_opened": None,
    "app_mention": "app_mentions:read",
    "message.channels": "channels:history",
    "message.groups": "groups:history",
    "message.im": "im:history",
    "message.mpim": "mpim:history",
}
FEATURE_SCOPES = {
    "slash_commands": "commands",
    "shortcuts": "commands",
    "agent_view": "assistant:write",
}
FAMILIES = ("channels", "groups", "im", "mpim")

SOURCES = [
    path for path in (ROOT / "bot").rglob("*.py") if "sandbox" not in path.relative_to(ROOT).parts
]


def read(path: Path) -> dict[str, Any]:
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    return data


def scopes(path: Path) -> set[str]:
    return set(read(path)["oauth_config"]["scopes"]["bot"])


def events(path: Path) -> set[str]:
    return set(read(path)["settings"]["event_subscriptions"]["bot_events"])


def methods_used() -> set[str]:
    """Web API methods called in bot/, the sandbox aside: ``chat_postMessage(`` and the like."""
    known = {name.replace(".", "_"): name for name in METHODS}
    used = set()
    for file in SOURCES:
        for called in re.findall(r"\.(\w+)\(", file.read_text(encoding="utf-8")):
            if called in known:
                used.add(known[called])
    return used


def scopes_of(name: str) -> list[set[str]]:
    """The scopes a method needs: of each set one."""
    wanted = METHODS[name].scopes
    if not wanted:
        return []
    if any(scope.startswith("*") for scope in wanted):
        return [{family + scope[1:]} for scope in wanted for family in FAMILIES]
    return [set(wanted)]


@BOTH
def test_slack_accepts_its_shape(path: Path, shared: Path) -> None:
    schema = json.loads(
        (shared / "slack-shapes" / "manifest.schema.1.0.0.json").read_text(encoding="utf-8")
    )
    assert list(Draft7Validator(schema).iter_errors(read(path))) == []


@BOTH
def test_each_event_is_known_and_its_scope_is_asked_for(path: Path) -> None:
    for event in events(path):
        scope = EVENT_SCOPES[event]
        assert scope is None or scope in scopes(path), event


@BOTH
def test_events_are_those_the_bot_listens_to(path: Path) -> None:
    """The catch-all aside: what only that hears is not worth asking for."""
    heard = set()
    for file in SOURCES:
        heard |= set(re.findall(r'Listener\("event", "(\w+)"', file.read_text(encoding="utf-8")))
    assert {event.partition(".")[0] for event in events(path)} == (
        heard if path == AGENT else heard - {"agent_session_stopped"}
    )


@BOTH
def test_shortcuts_and_commands_have_listeners(path: Path) -> None:
    features = read(path)["features"]
    code = "".join(file.read_text(encoding="utf-8") for file in SOURCES)
    for shortcut in features["shortcuts"]:
        assert f'"{shortcut["callback_id"]}"' in code
    for command in features["slash_commands"]:
        assert f'"{command["command"]}"' in code


@BOTH
def test_every_method_the_bot_calls_has_its_scope(path: Path) -> None:
    for name in methods_used():
        if name.startswith(("agents.", "assistant.")) and path == BASIC:
            continue  # the bot does without them where they are refused
        for choice in scopes_of(name):
            assert choice & scopes(path), name


@BOTH
def test_no_scope_is_asked_for_without_a_use(path: Path) -> None:
    features = {scope for key, scope in FEATURE_SCOPES.items() if key in read(path)["features"]}
    subscribed = {EVENT_SCOPES[event] for event in events(path)}
    called = {scope for name in methods_used() for choice in scopes_of(name) for scope in choice}
    assert scopes(path) <= features | subscribed | called


@BOTH
def test_colour_and_views_are_what_slack_renders(path: Path) -> None:
    """The schema lets a bad colour and both agent views through."""
    data = read(path)
    assert re.fullmatch(r"#[0-9a-f]{6}", data["display_information"]["background_color"])
    assert "assistant_view" not in data["features"]
    assert ("agent_view" in data["features"]) == (path == AGENT)


def test_every_scope_is_explained() -> None:
    explained = (ROOT / "docs" / "slack.md").read_text(encoding="utf-8")
    for scope in scopes(AGENT):
        assert f"`{scope}`" in explained, scope


def test_the_basic_variant_only_leaves_out_the_agent() -> None:
    assert scopes(AGENT) - scopes(BASIC) == {"assistant:write"}
    assert events(AGENT) - events(BASIC) <= {"agent_session_stopped"}
    agent, basic = read(AGENT), read(BASIC)
    del agent["features"]["agent_view"]
    for data in (agent, basic):
        del data["oauth_config"], data["settings"]["event_subscriptions"]
    assert agent == basic


def test_procfile_offers_one_process_for_each_way_of_listening() -> None:
    lines = (ROOT / "Procfile").read_text(encoding="utf-8").splitlines()
    commands = [line for line in lines if not line.startswith("#")]
    assert commands == ["worker: footnote run", "web: footnote run --http"]
