"""A question during the very first ingest -> its answer, once there is enough to search.

A small docs repo is read in seconds, so the question waits for all of it. A big one is searched as
far as it is read.
"""

import threading
import time
from collections.abc import Callable

from agent.answer import Answer
from agent.conversation import Answerer, Conversation
from agent.trace import Progress
from ingest.errors import IngestError
from ingest.index import Index

FIRST_INGEST_SECONDS = 120.0
"""Seconds after the start during which questions wait for the first document."""
WHOLE_INDEX_SECONDS = 20.0
"""Seconds that a question waits for the whole of an index that is still being made."""
_LOOK_SECONDS = 0.5


class FirstIngestWait:
    """Answers questions as ``agent`` does, once the index can be searched."""

    def __init__(self, agent: Answerer, index: Index, is_ingesting: Callable[[], bool]) -> None:
        """``is_ingesting`` returns True while the ingest that runs at the start has not ended."""
        self._agent, self._index, self._is_ingesting = agent, index, is_ingesting
        self._until = time.monotonic() + FIRST_INGEST_SECONDS

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_paragraph: Callable[[Answer], bool] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Return the answer to the newest turn, see ``Answerer``."""
        cancel = cancel or threading.Event()
        asked_at = time.monotonic()
        while not cancel.is_set() and self._is_ingesting() and self._waits_since(asked_at):
            if on_progress:
                on_progress(Progress("reading", "the docs for the first time"))
            cancel.wait(_LOOK_SECONDS)
        return self._agent.answer(
            conversation, on_progress=on_progress, on_paragraph=on_paragraph, cancel=cancel
        )

    def _waits_since(self, asked_at: float) -> bool:
        now = time.monotonic()
        try:
            status = self._index.status()
        except IngestError:  # the agent answers with the reason
            return False
        if status.documents == 0:
            return now < self._until
        return status.growth is not None and now < asked_at + WHOLE_INDEX_SECONDS
