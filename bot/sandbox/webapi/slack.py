"""All parts of this Slack as one value, which each method and endpoint receives."""

from dataclasses import asdict, dataclass, field

from bot.sandbox.events.delivery import EventDelivery
from bot.sandbox.events.event_bodies import Events
from bot.sandbox.events.triggers import Triggers
from bot.sandbox.workspace.faults import Failures
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.rules import Rules
from bot.sandbox.workspace.workspace import Workspace
from bot.slack.manifest import Manifest


@dataclass
class Slack:
    workspace: Workspace
    rules: Rules
    manifest: Manifest
    delivery: EventDelivery
    events: Events
    prompts: tuple[str, ...] = ()
    """Questions that the page offers in an empty channel."""
    base_url: str = "http://127.0.0.1:0"
    first_rules: Json = field(default_factory=dict)
    """The rules as they were at the start; a reset goes back to them."""
    failures: Failures = field(default_factory=Failures)
    triggers: Triggers = field(default_factory=Triggers)
    calls: list[Json] = field(default_factory=list)
    posted_at: dict[str, list[float]] = field(default_factory=dict)
    """Recent posts a channel, for the posting limit."""

    @property
    def scopes(self) -> frozenset[str] | None:
        if self.rules.scopes is not None:
            return frozenset(self.rules.scopes)
        return self.manifest.scopes


def open_slack(manifest: Manifest, rules: Rules, delivery: EventDelivery) -> Slack:
    workspace = Workspace()
    events = Events(workspace, manifest, delivery)
    return Slack(workspace, rules, manifest, delivery, events, first_rules=asdict(rules))
