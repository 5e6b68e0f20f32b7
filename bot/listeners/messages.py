"""Messages, edits, deletions and Slack's Stop button: noted first, then handed to ``answering``.

Every event of the product enters through ``MessageEvents.receive``.
"""

import threading
import time
from collections.abc import Callable

from cachetools import TTLCache
from slack_bolt import BoltContext, BoltRequest

from bot.answering.decide import QuestionHandler
from bot.answering.revise import Reviser
from bot.answering.stop import Stopper
from bot.journal.claims import Journal
from bot.listeners.bolt import BoltListener
from bot.question.access import Access, Asker
from bot.question.event import Deleted, Edited, Event, Question, read_event
from bot.question.policy import NOT_PART
from bot.reading.block_text import SlackJson, string
from bot.slack.identity import Identity

_EVENT = "footnote_event"
"""Key of the event in Bolt's context."""
_SECONDS = 600.0
_MOST_THREADS = 20_000


class MessageEvents:
    """Notes events, and hands each to the decision, the revision or the stop.

    Most replies in a busy channel are in threads without Footnote. Such a thread is not read again
    for a while, to save Slack's rate limit, unless Footnote is mentioned there, in this process or
    in another.
    """

    def __init__(
        self,
        me: Identity,
        journal: Journal,
        handler: QuestionHandler,
        reviser: Reviser,
        stopper: Stopper,
        access: Access,
    ) -> None:
        self._me, self._journal = me, journal
        self._handler, self._reviser, self._stopper = handler, reviser, stopper
        self._access = access
        self._lock = threading.Lock()
        self._threads_of_others: TTLCache[tuple[str, str], bool] = TTLCache(
            _MOST_THREADS, _SECONDS, timer=time.monotonic
        )

    def listeners(self) -> list[BoltListener]:
        return [
            BoltListener("event", "app_mention", self._handle),
            BoltListener("event", "message", self._handle),
            BoltListener("event", "agent_session_stopped", self._stop),
        ]

    def receive(
        self, req: BoltRequest, context: BoltContext, body: SlackJson, next: Callable[[], None]
    ) -> None:
        """Read and note an event before Slack gets its acknowledgement."""
        if "event" in body:
            retries = (req.headers.get("x-slack-retry-num") or ["0"])[0]
            context[_EVENT] = self._note(read_event(body, self._me, retried=retries != "0"))
        next()

    def _note(self, event: Event | None) -> Event | None:
        if isinstance(event, Edited):
            self._journal.edited(event.question.key)
        if not isinstance(event, Question):
            return event
        if self._is_elsewhere(event) and not self._journal.in_thread(
            event.team, event.channel, event.thread_ts
        ):
            return None
        self._journal.note(event)
        return event

    def _is_elsewhere(self, question: Question) -> bool:
        """Return True for a reply in a known thread of others; a mention forgets the thread."""
        thread = (question.channel, question.thread_ts)
        with self._lock:
            if question.is_called:
                self._threads_of_others.pop(thread, None)
                return False
            return thread in self._threads_of_others

    def _handle(self, context: BoltContext) -> None:
        match context.get(_EVENT):
            case Question() as question:
                decision = self._handler.handle(question)
                if decision and decision.reason == NOT_PART:
                    with self._lock:
                        self._threads_of_others[question.channel, question.thread_ts] = True
            case Edited(question):
                self._reviser.revise(question)
            case Deleted() as deleted:
                self._stopper.forget(deleted)

    def _stop(self, event: SlackJson) -> None:
        """Handle a press of Slack's own Stop button by somebody who may use Footnote."""
        channel, thread_ts = string(event.get("channel")), string(event.get("thread_ts"))
        user = string(event.get("user"))
        # Slack's documents do not promise the presser's id.
        refusal = self._access.refusal(Asker(user, channel), when_off=True) if user else None
        if refusal is None:
            self._stopper.stop_thread(channel, thread_ts)
        else:
            self._stopper.refuse(user, channel, thread_ts, refusal)
