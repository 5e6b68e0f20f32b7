"""Checked paragraphs -> the first message of a reply, growing while the rest is written.

A stream can only be added to, lives about five minutes, and is refused in some places and plans. So
it is a preview: where it ends as the answer does, it is the reply; where anything went wrong with
it, ``finish`` says so, and the whole answer takes its place (``bot.reply.in_thread``).
"""

import logging
from collections.abc import Callable
from typing import Any

from slack_sdk.errors import SlackApiError

from agent.answer import Answer
from bot.blocks import render_body
from bot.blocks.elements import Block, context
from bot.blocks.growth import growth, settled
from bot.question.event import Question
from bot.question.thread import read_thread, unmarked
from bot.reading.mrkdwn import escape
from bot.slack.clients import LIMITED, SLACK_FAILED, Clients, slack_error
from bot.slack.identity import Identity

log = logging.getLogger(__name__)


class Stream:
    """Nothing is posted before there is something to show; ``began`` is told the ts of it then."""

    def __init__(
        self,
        clients: Clients,
        me: Identity,
        question: Question,
        began: Callable[[str], None],
        *,
        wanted: bool,
        left: str | None = None,
    ) -> None:
        """``left`` is the ts of a message that grew until a process ended."""
        self._clients, self._me, self._question = clients, me, question
        self._began = began
        self._ts = left
        self._shown: list[Block] = []
        # Slack wants to know for whom: a message that a bot posted has no such person.
        self._usable = wanted and left is None and question.user is not None
        self._lost = False
        self.stopped = False
        """Somebody pressed Slack's Stop button on it."""

    @property
    def is_usable(self) -> bool:
        """Whether it shows what comes next."""
        return self._usable

    @property
    def ts(self) -> str | None:
        """Of the message; None where there is none."""
        if self._ts is None and self._lost:
            self._ts = self._find()
            self._lost = False
        return self._ts

    def show(self, answer: Answer) -> bool:
        """Bring the message up to the answer so far; False where the whole will take its place."""
        if not self._usable:
            return False
        body = settled(render_body(answer)[0])
        chunks = growth(self._shown, body)
        if chunks is None:  # the model began anew
            self._usable = False
        elif chunks and self._send(chunks):
            self._shown = body
        return self._usable and self._ts is not None

    def _send(self, chunks: list[Block]) -> bool:
        try:
            if self._ts is None:
                self._start(chunks)
            else:
                self._clients.hint.chat_appendStream(
                    channel=self._question.channel, ts=self._ts, chunks=chunks
                )
        except SLACK_FAILED as error:
            code = slack_error(error)
            log.info("no stream in %s: %s", self._question.channel, code)
            self.stopped = code == "stopped_by_user"
            refused = isinstance(error, SlackApiError)
            self._lost = self._ts is None and not refused
            # A lost response leaves open what is there; an append over the limit is made up for.
            self._usable = self._ts is not None and code in LIMITED
            return False
        return True

    def _start(self, chunks: list[Block]) -> None:
        question = self._question
        started = self._clients.hint.chat_startStream(
            channel=question.channel,
            thread_ts=question.thread_ts,
            recipient_team_id=question.team,
            recipient_user_id=question.user,
            chunks=chunks,
        )
        self._ts = str(started["ts"])
        self._began(self._ts)

    def finish(self, message: dict[str, Any], metadata: dict[str, Any]) -> bool:
        """Add what is missing of the message, and close; False: it has to be put there whole."""
        own = [block for block in message["blocks"] if not _is_around(block)]
        chunks = growth(self._shown, own) if self._usable else None
        if chunks is not None:
            around = [block for block in message["blocks"] if _is_around(block)]
            if self._stop(chunks=chunks or None, blocks=around or None, metadata=metadata):
                return True
        self._stop()
        return False

    def end(self, line: str) -> bool:
        """Close it where it stands, with a line under it that says why."""
        if self.ts is None:
            return False
        line = escape(line)
        return self._stop(blocks=[context("footnote_end", line)]) or self._put_under(line)

    def remove(self) -> None:
        """Take the message away; best effort."""
        if self.ts is None:
            return
        try:
            self._clients.post.chat_delete(channel=self._question.channel, ts=self.ts)
        except SLACK_FAILED as error:
            log.warning(
                "half an answer stays in %s: %s", self._question.channel, slack_error(error)
            )

    def _stop(self, **rest: Any) -> bool:
        try:
            self._clients.post.chat_stopStream(
                channel=self._question.channel, ts=str(self._ts), **rest
            )
        except SLACK_FAILED as error:
            log.info("stream in %s: %s", self._question.channel, slack_error(error))
            return False
        return True

    def _put_under(self, line: str) -> bool:
        """Slack had closed it: its Stop button does, and so does time."""
        if not self._shown:
            return False  # what stands there would be lost
        try:
            self._clients.post.chat_update(
                channel=self._question.channel,
                ts=str(self._ts),
                text=line,
                blocks=[*self._shown, context("footnote_end", line)],
            )
        except SLACK_FAILED as error:
            log.info("half an answer in %s: %s", self._question.channel, slack_error(error))
            return False
        return True

    def _find(self) -> str | None:
        """The message that was begun, although Slack's word of it was lost."""
        question = self._question
        try:
            thread = read_thread(self._clients.read, question.channel, question.thread_ts)
        except SLACK_FAILED:
            return None
        later = (m for m in reversed(thread) if str(m.get("ts", "")) > question.ts)
        return next((str(m["ts"]) for m in later if unmarked(m, self._me)), None)


def _is_around(block: Block) -> bool:
    """Verdict, sources, footer and buttons: they come with the end."""
    return str(block.get("block_id", "")).startswith("footnote_")
