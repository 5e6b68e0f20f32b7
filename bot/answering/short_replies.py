"""Short lines instead of an answer, and words for an asker whose channel accepts no reply."""

import logging
from collections.abc import Callable
from dataclasses import dataclass

from bot.journal.claims import Journal
from bot.question.event import Key, Question
from bot.reply.in_thread import InThread
from bot.reply.outgoing import NotPosted, ReplyPlace, Unposted, line_part
from bot.reply.runbook_first import PostedRunbook
from bot.reply.wording import refused
from bot.slack.clients import GONE

log = logging.getLogger(__name__)

ReplyInThread = Callable[[Question], InThread]
"""A question -> its thread, as the place of the reply."""


@dataclass(frozen=True, slots=True)
class ShortReplies:
    journal: Journal
    in_thread: ReplyInThread

    def send(
        self,
        reply: ReplyPlace,
        text: str,
        *,
        reference: str = "help",
        later: Callable[[Key], None] | None = None,
    ) -> None:
        """Send a line as the reply, and record it.

        If Slack does not accept the line now, ``later`` leaves the question to the recovery; the
        default releases its claim.
        """
        key = reply.question.key
        try:
            reply_ts = reply.send(line_part(reply.question, text, reference))
        except Unposted as error:
            log.warning("no reply yet in %s: %s", key.channel, error.code)
            (later or self.journal.release)(key)
        except NotPosted as error:
            self.tell_refused(reply.question, error.code)
        else:
            self.journal.finish(key, "answered", reason=reference, reply_ts=reply_ts)

    def tell_refused(
        self,
        question: Question,
        code: str,
        *,
        line: str = "",
        runbook: PostedRunbook | None = None,
    ) -> None:
        """Tell the asker in another place that Slack accepts no reply; ``code`` is Slack's error.

        The line also replaces the promise of a runbook that was posted ahead of the answer.
        """
        log.warning("no reply possible in %s: %s", question.channel, code)
        self.journal.finish(question.key, "failed", reason=code)
        if code in GONE:  # the question is deleted, so nobody waits
            return
        line = line or refused(question.channel, code)
        if runbook:
            runbook.end(line)
        self.in_thread(question).tell_asker(line)
