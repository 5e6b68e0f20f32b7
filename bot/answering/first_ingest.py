"""A question during the very first ingest -> its answer once there is something to answer from."""

import threading
import time
from collections.abc import Callable

from agent.answer import Answer
from agent.conversation import Conversation
from agent.loop import Agent
from agent.trace import Progress
from ingest.index import Index

FIRST_INGEST_SECONDS = 120.0
"""How long after the start a question waits for the very first index."""


class Patient:
    """The agent; ``under_way`` tells whether the first ingest still runs."""

    def __init__(self, agent: Agent, index: Index, under_way: Callable[[], bool]) -> None:
        self._agent, self._index, self._under_way = agent, index, under_way
        self._until = time.monotonic() + FIRST_INGEST_SECONDS

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_paragraph: Callable[[Answer], bool] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        cancel = cancel or threading.Event()
        while (
            self._index.status().documents == 0
            and self._under_way()
            and time.monotonic() < self._until
            and not cancel.is_set()
        ):
            if on_progress:
                on_progress(Progress("reading", "the docs for the first time"))
            cancel.wait(0.5)
        return self._agent.answer(
            conversation, on_progress=on_progress, on_paragraph=on_paragraph, cancel=cancel
        )
