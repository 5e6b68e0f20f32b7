"""An answer and its passages, for tests of what is made of them."""

from dataclasses import replace
from typing import Any

from agent.answer import Answer, Verdict
from agent.grounding import read_segments
from ingest.documents import Passage

DRAIN = Passage(
    id="oncall/queues-1",
    path="oncall/queues.md",
    title="Queues",
    heading=("Queues", "Drain a queue"),
    lines=(12, 30),
    text="Drain with `qctl drain --all`. Board: https://graphs.acme.test/q?id=7",
    hash="0",
    url="https://git.acme.test/docs/blob/4f5e6d7/oncall/queues.md#L12-L30",
)
FOLDER = replace(DRAIN, id="limits.txt-0", path="limits.txt", title="Limits", heading=(), url=None)


def answer(text: str, verdict: Verdict = "answered", **more: Any) -> Answer:
    passages = more.pop("passages", (DRAIN, FOLDER))
    texts = "\n".join(passage.text for passage in passages)
    segments = read_segments(text, [passage.id for passage in passages], texts)
    return Answer("a1b2", "?", verdict, segments, passages=passages, revision="4f5e6d7a8b", **more)
