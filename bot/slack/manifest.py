"""Scopes, events and shortcuts of the Slack app, read from its manifest."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from ingest.shipped import MANIFEST


@dataclass(frozen=True)
class Manifest:
    """Scopes and subscriptions; None means all of them."""

    scopes: frozenset[str] | None = None
    events: frozenset[str] | None = None
    agent: bool = True
    shortcuts: tuple[tuple[str, str], ...] = ()
    """Message shortcuts: callback_id and name."""

    def subscribes(self, event: str) -> bool:
        return self.events is None or event in self.events


def read_manifest(path: Path = MANIFEST) -> Manifest:
    """Read the manifest from which the app is created, or another one."""
    data: dict[str, Any] = yaml.safe_load(path.read_text(encoding="utf-8"))
    settings = data.get("settings", {})
    features = data.get("features", {})
    return Manifest(
        scopes=frozenset(data["oauth_config"]["scopes"]["bot"]),
        events=frozenset(settings.get("event_subscriptions", {}).get("bot_events", [])),
        agent="agent_view" in features,
        shortcuts=tuple(
            (shortcut["callback_id"], shortcut["name"])
            for shortcut in features.get("shortcuts", [])
            if shortcut["type"] == "message"
        ),
    )
