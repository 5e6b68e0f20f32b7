"""A question during the very first ingest -> its answer, once the index has documents."""

import threading
import time
from collections.abc import Callable

from agent.answer import Answer
from agent.conversation import Answerer, Conversation
from agent.trace import Progress
from ingest.errors import IngestError
from ingest.index import Index

FIRST_INGEST_SECONDS = 120.0
"""Seconds after the start during which questions wait for the very first index."""
_LOOK_SECONDS = 0.5


class FirstIngestWait:
    """Answers questions as ``agent`` does, once the index has documents."""

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
        while (
            self._is_empty()
            and self._is_ingesting()
            and time.monotonic() < self._until
            and not cancel.is_set()
        ):
            if on_progress:
                on_progress(Progress("reading", "the docs for the first time"))
            cancel.wait(_LOOK_SECONDS)
        return self._agent.answer(
            conversation, on_progress=on_progress, on_paragraph=on_paragraph, cancel=cancel
        )

    def _is_empty(self) -> bool:
        try:
            return self._index.status().documents == 0
        except IngestError:  # the agent answers with the reason
            return False
