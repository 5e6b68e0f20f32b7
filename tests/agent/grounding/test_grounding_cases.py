"""The shared grounding cases: question, chunks and a model's answer -> a verdict on each span."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from agent.grounding import ground_json
from agent.grounding.matching import occurs
from tests.cases import Json, call, each, family, faults, one_of, opened, require, table

MARK = "(⚠ "

_NAMED_PLACE = re.compile(r"it is in (\S+)")


@dataclass(frozen=True)
class Grounded:
    """The result for an answer."""

    text: str
    verdict: str
    citations: list[str]
    removed: list[str]
    unsupported: list[dict[str, str]]

    def marks(self, span: str) -> list[str]:
        """The reasons of the marks on this span, on a part of it, or on a longer span around it."""
        return [
            found["reason"]
            for found in self.unsupported
            if occurs(span, found["span"]) or occurs(found["span"], span)
        ]


@pytest.mark.parametrize("line", family("grounding"))
def test_an_answer_is_judged_as_its_case_says(
    line: Json, record_property: Callable[[str, object], None]
) -> None:
    case = opened(line)
    grounded = call(ground, case.input)
    for span in case.expect["spans"]:
        if span["verdict"] == "not_detectable" and not grounded.marks(span["text"]):
            record_property("known limit", case.id)
    require(faults(case.expect, CHECKS, grounded))


def ground(
    question: str,
    chunks: list[Json],
    answer: str,
    thread_ids: list[Json] | None = None,
    context: str = "",
) -> Grounded:
    sources = {
        name: [call(_source, source) for source in given]
        for name, given in (("passages", chunks), ("thread_ids", thread_ids or []))
    }
    request: dict[str, Any] = {"question": question, "answer": answer, "context": context}
    return Grounded(**ground_json({**request, **sources}))


def _source(id: str, text: str) -> Json:
    return {"id": id, "text": text}


def citations(seen: Grounded, id: str, verdict: str) -> Iterator[str]:
    one_of(verdict, "keep", "remove", "mismatch")
    gone = id in seen.removed and f"[{id}]" not in seen.text
    holds = {
        "keep": id in seen.citations,
        "remove": gone,
        "mismatch": gone or bool(seen.unsupported),
    }
    if not holds[verdict]:
        yield f"{id} should be: {verdict}"


def spans(seen: Grounded, text: str, verdict: str, reason: str = "") -> Iterator[str]:
    marks = seen.marks(text)
    match one_of(verdict, "ok", "flag", "either", "not_detectable"):
        case "ok" if marks:
            yield f"{text!r} is marked: {marks}"
        case "flag" if not marks:
            yield f"{text!r} is not marked"
        case "flag" if place := _NAMED_PLACE.search(reason):
            if not any(place[1] in mark for mark in marks):
                yield f"{text!r} is marked without the place that has it: {marks}"


def marks_total(seen: Grounded, total: int) -> Iterator[str]:
    if not len(seen.unsupported) == seen.text.count(MARK) == total:
        yield f"marked: {seen.unsupported}"


def uncited(seen: Grounded, wanted: bool) -> Iterator[str]:
    if (seen.verdict == "uncited") is not wanted:
        yield f"the verdict is {seen.verdict}"


def cites_allowed(seen: Grounded, ids: list[str]) -> Iterator[str]:
    yield from (id for id in seen.citations if id not in ids)


CHECKS = table(each(citations), each(spans), marks_total, uncited, cites_allowed)
