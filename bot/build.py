"""The parts of a bot -> the bot: one composition, for ``footnote run`` and for tests alike.

Nothing is connected or started here, and nothing that is handed in is closed.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field
from datetime import timedelta

from slack_bolt import App

from bot.answering.decide import Answering
from bot.answering.deliver import Answers, Render, Runbook
from bot.answering.outbox import Retries
from bot.answering.recovery import Recovery
from bot.channels import Channels
from bot.journal.claims import Journal
from bot.listeners.bolt import Interaction, Listener, build_app, catch_all
from bot.listeners.commands import Commands
from bot.listeners.edits import Edits
from bot.listeners.feedback import Feedback
from bot.listeners.home import Home, LastRun
from bot.listeners.messages import event_listeners
from bot.question.access import Visit
from bot.settings import BotSettings
from bot.slack.clients import Clients
from bot.slack.identity import Identity
from ingest.index import Index


@dataclass(frozen=True, slots=True)
class Parts:
    """What a bot is made of; whoever opens a part closes it."""

    settings: BotSettings
    clients: Clients
    me: Identity
    journal: Journal
    index: Index
    agent: Answers
    render: Render
    runbook: Runbook
    last_run: LastRun
    reindex: Callable[[], object]
    """Asks for an ingest."""
    listening: Executor
    """Runs the listeners: what they do is short, answers have a bounded pool of their own."""
    channels: Channels = field(default_factory=Channels)
    owners: Mapping[str, str] = field(default_factory=dict)
    """Owner of pages -> the user group or person that stands for it in Slack."""
    stale_after: timedelta = timedelta(days=2)
    """The age from which on the index is said to be old."""
    retries: Retries = field(default_factory=Retries)


@dataclass(frozen=True, slots=True)
class Bot:
    """Everything between Slack's events and the agent."""

    answering: Answering
    recovery: Recovery
    listeners: tuple[Listener | Interaction, ...]
    app: App


def build_bot(parts: Parts) -> Bot:
    """Put a bot together."""
    answering = _answering(parts)
    listeners = _listeners(parts, answering)
    secret = parts.settings.signing_secret
    app = build_app(
        parts.clients.read,
        answering,
        listeners,
        signing_secret=secret.get_secret_value() if secret else None,
        executor=parts.listening,
    )
    return Bot(answering, Recovery(answering), listeners, app)


def _answering(parts: Parts) -> Answering:
    return Answering(
        parts.clients,
        parts.me,
        parts.agent,
        parts.render,
        parts.journal,
        parts.settings,
        parts.runbook,
        parts.channels,
        parts.retries,
    )


def _listeners(parts: Parts, answering: Answering) -> tuple[Listener | Interaction, ...]:
    edits, home = Edits(answering), _home(parts, answering)
    return (
        *event_listeners(answering, edits.revise),
        *edits.listeners(),
        *home.listeners(),
        *Commands(answering, home.status_lines, parts.reindex).listeners(),
        *_feedback(parts, answering).listeners(),
        *catch_all(),
    )


def _home(parts: Parts, answering: Answering) -> Home:
    def refusal(user: str) -> str | None:
        return answering.access.refusal(Visit(user))

    return Home(
        parts.clients, parts.journal, parts.index, parts.last_run, parts.stale_after, refusal
    )


def _feedback(parts: Parts, answering: Answering) -> Feedback:
    def help_group(channel: str) -> str | None:
        return answering.channel(channel).escalation or parts.settings.help_group

    return Feedback(parts.clients, parts.journal, parts.index, help_group, parts.owners)
