"""A thread in Slack -> its messages, and Footnote's replies among them."""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass

from slack_sdk import WebClient

from bot.question.thread_message import ThreadMessage, read_thread_message
from bot.reading.block_text import SlackJson
from bot.slack.identity import Identity

MAX_PAGES = 50
MAX_MESSAGES = 1_000
_PAGE = 200


@dataclass(frozen=True, slots=True)
class ThreadReader:
    """Reads threads with one client."""

    client: WebClient
    me: Identity

    def read(self, channel: str, thread_ts: str) -> list[ThreadMessage]:
        """Return the root and the newest replies, oldest first. Raises what Slack fails with."""
        root: SlackJson | None = None
        newest: deque[SlackJson] = deque(maxlen=MAX_MESSAGES)
        cursor: str | None = None
        for _page in range(MAX_PAGES):
            response = self.client.conversations_replies(
                channel=channel,
                ts=thread_ts,
                limit=_PAGE,
                cursor=cursor,
                include_all_metadata=True,
            )
            for message in response.get("messages") or ():
                if root is None:
                    root = message
                elif message.get("ts") != root.get("ts"):  # some pages repeat the root
                    newest.append(message)
            following = (response.get("response_metadata") or {}).get("next_cursor")
            if not following or following == cursor:
                break
            cursor = following
        messages = [root, *newest] if root is not None else []
        return [read_thread_message(message, self.me) for message in messages]


def replies_to(
    question_ts: str, thread: Sequence[ThreadMessage], *, superseded: str | None = None
) -> list[ThreadMessage]:
    """Footnote's messages in the thread that answer a question.

    ``superseded`` is the id of an answer that does not count.
    """
    return [
        message
        for message in thread
        if message.metadata
        and message.metadata.question == question_ts
        and not (superseded and message.metadata.answer == superseded)
    ]


def is_complete(replies: Sequence[ThreadMessage]) -> bool:
    """Return True if all parts of the answer that the last reply belongs to are among these."""
    metadata = [message.metadata for message in replies if message.metadata]
    if not metadata:
        return False
    newest = metadata[-1]
    return len({m.part for m in metadata if m.answer == newest.answer}) >= newest.parts


def runbook_for(question_ts: str, thread: Sequence[ThreadMessage]) -> str | None:
    """Timestamp of the runbook that was posted for a question before a crash, or None."""
    runbooks = (m.ts for m in thread if m.metadata and m.metadata.runbook == question_ts)
    return next(runbooks, None)
