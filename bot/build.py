"""The parts of a bot -> the bot: one composition, for ``footnote run`` and for tests alike.

This module connects and starts nothing, and does not close the parts that it gets.
"""

from collections.abc import Callable, Mapping
from concurrent.futures import Executor
from dataclasses import dataclass, field, replace
from datetime import timedelta

from slack_bolt import App

from agent.conversation import Answerer
from bot.answering.decide import Decider, QuestionHandler
from bot.answering.deliver import Delivery, FindRunbook, Render
from bot.answering.outbox import Retries
from bot.answering.queue import AnswerQueue
from bot.answering.rate_limit import RateLimit
from bot.answering.recovery import Recovery
from bot.answering.revise import Reviser
from bot.answering.short_replies import ShortReplies
from bot.answering.stop import Stopper
from bot.answering.workers import Workers
from bot.channels import Channel, Channels
from bot.journal.agent_sessions import AgentSessions
from bot.journal.claims import Journal
from bot.listeners.answer_again import AnswerAgain
from bot.listeners.bolt import BoltListener, build_app, catch_all
from bot.listeners.commands import SlackCommands
from bot.listeners.feedback import Feedback
from bot.listeners.home import Home, LastRun
from bot.listeners.messages import MessageEvents
from bot.listeners.reindex import Reindex
from bot.question.access import Access, Asker
from bot.question.event import Question
from bot.question.thread import ThreadReader
from bot.reply.in_thread import InThread
from bot.reply.status import Statuses
from bot.settings import BotSettings
from bot.slack.clients import Clients
from bot.slack.identity import Identity
from bot.slack.people import People
from ingest.index import Index
from ingest.runs.outage import Outage


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of a bot. The caller that opens a part closes it."""

    settings: BotSettings
    clients: Clients
    me: Identity
    journal: Journal
    index: Index
    agent: Answerer
    render: Render
    find_runbook: FindRunbook
    last_run: LastRun
    reindex: Callable[[], bool]
    """Asks for an ingest, and returns False if one is waiting already."""
    listening: Executor
    """Runs the listeners, which are short. Answers run on another, bounded pool."""
    channels: Channels = field(default_factory=Channels)
    owners: Mapping[str, str] = field(default_factory=dict)
    """Owner of documents -> the user group or person in Slack."""
    stale_after: timedelta = timedelta(days=2)
    """Age from which the index is called old."""
    outage: Callable[[], Outage | None] = lambda: None
    """Returns the failed ingests since the last good one, or None."""
    left_out: Callable[[], str] = lambda: ""
    """Returns a sentence about pages that the ingest left out, or an empty text."""
    retries: Retries = field(default_factory=Retries)


@dataclass(frozen=True, slots=True)
class Bot:
    """Everything between Slack's events and the agent."""

    queue: AnswerQueue
    recovery: Recovery
    reviser: Reviser
    statuses: Statuses
    listeners: tuple[BoltListener, ...]
    app: App
    channel: Callable[[str], Channel]
    """The settings of a channel."""


def build_bot(parts: Parts) -> Bot:
    """Put a bot together."""
    settings, clients, me, journal = parts.settings, parts.clients, parts.me, parts.journal
    people, threads = People(clients.read_soon), ThreadReader(clients.read_soon, me)

    def channel(channel: str) -> Channel:
        return parts.channels.of(channel, people.name)

    def in_thread(question: Question) -> InThread:
        is_private = channel(question.channel).ephemeral
        return InThread(clients.post, me, question, is_private)

    access = Access(people, me, settings, channel)
    decider = Decider(me, people, journal, access, channel)
    rate_limit = RateLimit(journal, settings.user_per_minute, settings.channel_per_minute)
    sessions = AgentSessions(journal)
    statuses = Statuses(clients.hint, sessions)
    short = ShortReplies(journal, in_thread)
    queue = _queue(parts, people, statuses, short, channel)
    stopper = Stopper(me.team_id, clients.hint, journal, queue, statuses, short, in_thread)
    handler = QuestionHandler(
        threads, decider, journal, rate_limit, queue, stopper, short, in_thread
    )
    reviser = Reviser(
        clients.post, threads, journal, decider, handler, queue, stopper, in_thread, rate_limit
    )
    home = Home(
        clients,
        journal,
        parts.index,
        parts.last_run,
        parts.stale_after,
        lambda user: access.refusal(Asker(user)),
        parts.outage,
        parts.left_out,
    )
    events = MessageEvents(me, journal, handler, reviser, stopper, access)
    interactions = (
        *AnswerAgain(clients.post, threads, journal, handler, rate_limit, channel).listeners(),
        *SlackCommands(
            clients.patient,
            me,
            people.name,
            channel,
            journal,
            handler,
            home.status_lines,
            Reindex(access.reindex_refusal, parts.reindex),
        ).listeners(),
        *_feedback(parts, channel).listeners(),
    )
    listeners = (
        *events.listeners(),
        *home.listeners(),
        *(interaction.guarded(access, me) for interaction in interactions),
        *catch_all(),
    )
    secret = settings.signing_secret
    app = build_app(
        clients.read,
        events.receive,
        listeners,
        signing_secret=secret.get_secret_value() if secret else None,
        executor=parts.listening,
    )
    recovery = Recovery(threads, journal, handler, statuses, sessions, short, in_thread)
    return Bot(queue, recovery, reviser, statuses, listeners, app, channel)


def _queue(
    parts: Parts,
    people: People,
    statuses: Statuses,
    short: ShortReplies,
    channel: Callable[[str], Channel],
) -> AnswerQueue:
    def may_stream(question: Question) -> bool:
        if (is_streamed := channel(question.channel).stream) is not None:
            return is_streamed
        stream = parts.settings.stream
        return stream == "all" or (stream == "dm" and question.is_direct)

    delivery = Delivery(
        parts.clients,
        parts.me,
        people.name,
        parts.journal,
        parts.agent,
        parts.render,
        parts.find_runbook,
        may_stream,
        channel,
        short,
    )
    workers = Workers(parts.settings.workers, parts.settings.queue)
    return AnswerQueue(parts.journal, delivery, statuses, workers, parts.retries)


def _feedback(parts: Parts, channel: Callable[[str], Channel]) -> Feedback:
    def help_group(channel_id: str) -> str | None:
        return channel(channel_id).escalation or parts.settings.help_group

    clients = replace(parts.clients, post=parts.clients.patient)
    return Feedback(clients, parts.journal, parts.index, help_group, parts.owners)
