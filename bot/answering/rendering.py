"""Answers, and the text of alerts -> messages, with what the index knows of the pages."""

import logging
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from agent.answer import Answer
from bot.answering.deliver import Render, Runbook
from bot.blocks import render_answer, render_runbook
from bot.channels import Channel
from bot.runbooks.alert import read_alert
from bot.runbooks.find import find_runbook
from ingest.errors import IngestError
from ingest.index import Index

log = logging.getLogger(__name__)


def rendering(index: Index, stale_after: timedelta) -> Render:
    """Answers -> messages, with age and owner of the pages they cite, and the age of the index."""

    def render(answer: Answer) -> Sequence[dict[str, Any]]:
        paths = {passage.path for passage in (*answer.citations, *answer.passages)}
        documents = {d.path: d for d in index.documents() if d.path in paths} if paths else {}
        return render_answer(
            answer,
            documents=documents,
            ingested_at=index.status().ingested_at,
            now=datetime.now(UTC),
            stale_after=stale_after,
        )

    return render


def runbooks(index: Index) -> Runbook:
    """The text of an alert -> the message with its runbook, where the docs have it."""

    def runbook(text: str, channel: Channel) -> dict[str, Any] | None:
        parts = channel.collections
        seen = index if parts is None else index.within(parts)
        try:
            found = find_runbook(read_alert(text), seen)
        except IngestError as error:
            log.warning("no runbook: %s", error)
            return None
        return render_runbook(found.passages, found.found_by) if found else None

    return runbook
