"""An answer that is ready, until Slack has accepted it or it is called off."""

import functools
import logging
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from agent.answer import Answer
from bot.answering.short_replies import ShortReplies
from bot.blocks.elements import section
from bot.journal.claims import Journal
from bot.journal.database import JournalError
from bot.question.event import Key
from bot.reply.again_button import again_block
from bot.reply.outgoing import NotPosted, Outgoing, Part, ReplyPlace, Unposted, line_part
from bot.reply.runbook_first import PostedRunbook
from bot.reply.status import Status
from bot.reply.stream import Stream
from bot.reply.wording import INTERRUPTED, NOT_TAKEN, STOPPED, WAITING_FOR_SLACK, never_taken
from bot.slack.pace import LIMITED

log = logging.getLogger(__name__)


@dataclass(slots=True)
class UnsentAnswer:
    journal: Journal
    short: ShortReplies
    reply: ReplyPlace
    answer: Answer
    outgoing: Outgoing
    stream: Stream
    runbook: PostedRunbook | None
    """The runbook that was posted ahead of the answer; the answer replaces it."""
    state: Literal["waiting", "accepted", "refused"] = "waiting"
    code: str = ""
    """Slack's last error."""

    def post(self, status: Status) -> None:
        """Send the parts that Slack has not accepted yet."""
        key, answer_id = self.reply.question.key, self.answer.id
        try:
            reply_ts = self.outgoing.post()
        except Unposted as error:
            is_expected = self.code or error.code in LIMITED
            level = logging.DEBUG if is_expected else logging.WARNING  # one warning per answer
            log.log(level, "answer %s waits for Slack: %s", answer_id, error.code)
            self.code = error.code
            record(lambda: self.journal.unposted(key, self.code), answer_id)
            status.show(WAITING_FOR_SLACK)
            return
        except NotPosted as error:
            self.state = "refused"
            self.short.tell_refused(self.reply.question, error.code, runbook=self.runbook)
            return
        self.state = "accepted"
        if self.code and self.code not in LIMITED:
            log.warning("answer %s: Slack has accepted it at last", answer_id)
        finish = functools.partial(self.journal.finish, key, "answered")
        record(lambda: finish(reply_ts=reply_ts, answer_id=answer_id), answer_id)
        record(lambda: self.journal.place(answer_id, reply_ts), answer_id)

    def apologise(self, status: Status) -> None:
        """Replace the answer, which may be out of date, by a line that offers to try again."""
        question, runbook, reply = self.reply.question, self.runbook, self.reply
        is_repeatable = question.origin == "message"
        again = [again_block(question, "Try again")] if is_repeatable else []
        # The line replaces a half-posted answer, but not a runbook.
        accepted, send = self.outgoing.posted, self.outgoing.send

        def send_line(part: Part, is_uncertain: bool) -> str:
            ts = (reply.send if runbook else send)(part, is_uncertain)
            # Delete only now: while Slack does not accept the line, it may refuse deletions, too.
            reply.take_back(each for each in accepted if each != ts)
            if runbook:
                runbook.end(NOT_TAKEN)
            return ts

        part = line_part(question, NOT_TAKEN, self.answer.id, [section(NOT_TAKEN), *again])
        self.outgoing = Outgoing(deque([part]), send_line)
        self.post(status)

    def give_up(self) -> None:
        """Tell the asker that Slack has accepted neither the answer nor the line."""
        self.state = "refused"
        question = self.reply.question
        line = never_taken(question.channel)
        self.short.tell_refused(question, self.code, line=line, runbook=self.runbook)

    def call_off(self) -> None:
        """Delete the accepted parts: nobody wants the answer any more."""
        self.state = "refused"
        self.reply.take_back(self.outgoing.posted)
        end_preview(self.journal, self.reply.question.key, self.stream, self.runbook)


def end_preview(
    journal: Journal, key: Key, stream: Stream | None, runbook: PostedRunbook | None
) -> None:
    """Remove or close the messages that were shown ahead of an answer that will not come."""
    noted = journal.message(key)
    state = noted.state if noted else None
    for preview in (stream, runbook):
        if preview and state in ("deleted", "ignored"):
            preview.remove()
        elif preview and state == "stopped":
            preview.end(STOPPED)
    if stream and state == "noted":
        stream.end(INTERRUPTED)


def record(write: Callable[[], None], answer_id: str) -> None:
    """Write to the journal. If the database cannot be reached, the answer is sent nevertheless.

    Even then the reply's metadata prevents a second post.
    """
    try:
        write()
    except JournalError as error:
        log.warning("answer %s is not in the journal: %s", answer_id, error)
