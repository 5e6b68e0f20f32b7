"""Checked paragraphs -> the first message of a reply, which grows while the rest is written.

A stream can only grow, lives about five minutes, and is refused in some places and on some plans.
So it is a preview: if it ends like the answer, it becomes the reply. Otherwise ``finish`` returns
False, and the whole answer replaces it (``bot/reply/in_thread.py``).
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
from bot.question.thread import ThreadReader
from bot.reading.mrkdwn import escape
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.identity import Identity, MetadataPayload, SlackMessage
from bot.slack.pace import LIMITED, is_limited

log = logging.getLogger(__name__)


class Stream:
    """The first message of one reply. It is posted when there is something to show."""

    def __init__(
        self,
        clients: Clients,
        me: Identity,
        question: Question,
        began: Callable[[str], None],
        *,
        wanted: bool,
        unfinished_ts: str | None = None,
    ) -> None:
        """``began`` is called with the timestamp when the message is posted.

        ``unfinished_ts`` is the message that a process left when it ended.
        """
        self._clients, self._me, self._question = clients, me, question
        self._began = began
        self._ts = unfinished_ts
        self._shown: list[Block] = []
        # Slack needs a recipient: an app that asks is not one.
        self._usable = wanted and unfinished_ts is None and question.user is not None
        self._lost = False
        self.stopped = False
        """True if somebody pressed Slack's Stop button on the stream."""

    @property
    def is_usable(self) -> bool:
        """True if the stream can still grow."""
        return self._usable

    @property
    def ts(self) -> str | None:
        """Timestamp of the streamed message, or None."""
        if self._ts is None and self._lost:
            self._ts = self._find()
            self._lost = False
        return self._ts

    def show(self, answer: Answer) -> bool:
        """Show the answer so far. Return False if the whole answer has to replace it later."""
        if not self._usable:
            return False
        body = settled(render_body(answer)[0])
        chunks = growth(self._shown, body)
        if chunks is None:  # the model began again
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
            # After a lost response the text is unknown. After a rate limit the next append adds it.
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

    def finish(self, message: SlackMessage, metadata: MetadataPayload) -> bool:
        """Append the rest of the message, and close. Return False if the answer must replace it.

        Raises SlackApiError if Slack asks to wait.
        """
        own = [block for block in message["blocks"] if not _is_around(block)]
        chunks = growth(self._shown, own) if self._usable else None
        if chunks is not None:
            around = [block for block in message["blocks"] if _is_around(block)]
            rest = {"chunks": chunks or None, "blocks": around or None, "metadata": metadata}
            if self._stop(may_wait=True, **rest):
                return True
        self._stop()
        return False

    def end(self, line: str) -> bool:
        """Close the message as it is, with a line under it that says why.

        Return False if nothing was posted, or the line could not be added.
        """
        if self.ts is None:
            return False
        line = escape(line)
        return self._stop(blocks=[context("footnote_end", line)]) or self._put_under(line)

    def remove(self) -> None:
        """Delete the message. A failure is only logged."""
        if self.ts is None:
            return
        try:
            self._clients.post.chat_delete(channel=self._question.channel, ts=self.ts)
        except SLACK_FAILED as error:
            log.warning(
                "half an answer stays in %s: %s", self._question.channel, slack_error(error)
            )

    def _stop(self, *, may_wait: bool = False, **rest: Any) -> bool:
        try:
            self._clients.post.chat_stopStream(
                channel=self._question.channel, ts=str(self._ts), **rest
            )
        except SLACK_FAILED as error:
            if may_wait and is_limited(error):
                raise
            log.info("stream in %s: %s", self._question.channel, slack_error(error))
            return False
        return True

    def _put_under(self, line: str) -> bool:
        """Add the line to a message that Slack has closed, by its Stop button or after minutes."""
        if not self._shown:
            return False  # the text of the message would be lost
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
        """Find the message if it was posted although Slack's response was lost."""
        question = self._question
        try:
            reader = ThreadReader(self._clients.read, self._me)
            thread = reader.read(question.channel, question.thread_ts)
        except SLACK_FAILED:
            return None
        later = (message for message in reversed(thread) if message.ts > question.ts)
        # A stream has no metadata before it is finished.
        return next((m.ts for m in later if m.writer == "footnote" and m.metadata is None), None)


def _is_around(block: Block) -> bool:
    """Return True for verdict, sources, footer and buttons, which come at the end."""
    return str(block.get("block_id", "")).startswith("footnote_")
