"""Questions during the very first ingest wait until the index has documents."""

import threading
import time
from collections.abc import Callable

from agent.answer import Answer
from agent.conversation import Conversation
from agent.loop import Agent
from agent.trace import Progress
from ingest.index import Index

FIRST_INGEST_SECONDS = 120.0
"""Seconds after the start during which questions wait."""


class FirstIngestWait:
    """The agent, with a wait before the first answers."""

    def __init__(self, agent: Agent, index: Index, is_ingesting: Callable[[], bool]) -> None:
        """``is_ingesting`` tells whether the ingest of the start still runs."""
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
        """Answer the newest turn. Raises Cancelled once ``cancel`` is set."""
        cancel = cancel or threading.Event()
        while (
            self._index.status().documents == 0
            and self._is_ingesting()
            and time.monotonic() < self._until
            and not cancel.is_set()
        ):
            if on_progress:
                on_progress(Progress("reading", "the docs for the first time"))
            cancel.wait(0.5)
        return self._agent.answer(
            conversation, on_progress=on_progress, on_paragraph=on_paragraph, cancel=cancel
        )
