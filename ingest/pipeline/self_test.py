"""The docs' own questions, asked of an index before it answers: is the right page among the first?

``.footnote/questions.jsonl`` under the docs root, else at the top of the repo -> questions -> pages
found -> what was found and missed, and what was lost since the last run. Retrieval only: no model.
"""

import hashlib
import json
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from ingest.documents import SelfTest
from ingest.embedding.embedder import Embedder
from ingest.index.matrix import Matrix, brought_up_to_date
from ingest.index.search import query_vector, rank
from ingest.index.snapshot import Snapshot
from ingest.pipeline.target import Target
from ingest.repo.checkout import Checkout

PLACE = ".footnote/questions.jsonl"
FIRST = 5
"""So many different pages of a result are looked at."""
MOST = 1_000
"""Questions beyond that are not asked."""
META = "self_test"
_WARNED = 3


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class OwnQuestion(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, max_length=1_000)
    path: Annotated[tuple[str, ...], BeforeValidator(_several), Field(min_length=1)]
    """The page that answers, relative to the docs root; of several, one has to be found."""


@dataclass(frozen=True, slots=True)
class OwnQuestions:
    """What the docs repo asks, as far as it can be read."""

    asked: tuple[OwnQuestion, ...] = ()
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Outcome:
    """Which questions found their page."""

    fingerprint: str
    found: frozenset[str]
    missed: frozenset[str]

    @property
    def summary(self) -> SelfTest:
        return SelfTest(len(self.found), len(self.found) + len(self.missed))

    def lost_since(self, before: "Outcome") -> tuple[float, list[str]]:
        """How much the share fell among questions that both were asked, and whom it cost."""
        common = (self.found | self.missed) & (before.found | before.missed)
        fall = len(before.found & common) - len(self.found & common)
        return fall / len(common) if common else 0.0, sorted(before.found & self.missed)

    def to_meta(self) -> dict[str, str]:
        value = [self.fingerprint, sorted(self.found), sorted(self.missed)]
        return {META: json.dumps(value, ensure_ascii=False)}

    @classmethod
    def from_meta(cls, meta: Mapping[str, str]) -> "Outcome | None":
        try:
            fingerprint, found, missed = json.loads(meta[META])
            return cls(fingerprint, frozenset(found), frozenset(missed))
        except (KeyError, ValueError, TypeError):
            return None


def read_own_questions(checkout: Checkout) -> OwnQuestions:
    """The questions whose page is in the docs repo; a line that is wrong is named and left out."""
    data, place = None, PLACE
    for folder in dict.fromkeys((checkout.docs_root, "")):
        place = f"{folder}/{PLACE}" if folder else PLACE
        if (data := checkout.find(place)) is not None:
            break
    if data is None:
        return OwnQuestions()
    there = {file.path for file in checkout.files}
    asked: dict[str, OwnQuestion] = {}
    faults: list[str] = []
    for number, line in enumerate(data.decode(errors="replace").lstrip("\ufeff").splitlines(), 1):
        if not line.strip():
            continue
        try:
            question = OwnQuestion.model_validate_json(line)
        except ValidationError:
            cure = 'write {"question": "…", "path": "page.md"}'
            faults.append(f"{place}, line {number} was left out: {cure}.")
            continue
        if not there.intersection(question.path):
            paths = " or ".join(question.path)
            faults.append(f"{place}, line {number} was left out: there is no page {paths}.")
            continue
        asked[question.question] = question
    if len(asked) > MOST:
        faults.append(f"{place}: only the first {MOST:,} questions are asked.")
    if len(faults) > _WARNED:
        faults[_WARNED:] = [f"{place}: {len(faults) - _WARNED} more lines were left out."]
    fingerprint = hashlib.sha256(data).hexdigest()[:16]
    return OwnQuestions(tuple(asked.values())[:MOST], fingerprint, tuple(faults))


def ask(
    questions: OwnQuestions, target: Target, embedder: Embedder, heard: Callable[[int], None]
) -> Outcome:
    """Search the index in ``target``, whether or not it answers yet."""
    documents = target.pages.documents().values()
    snapshot = Snapshot(
        target.pages.generation(),
        brought_up_to_date(Matrix.empty(), target.pages, target.store),
        {stored.number: stored.info for stored in documents},
        target.pages.meta(),
    )
    found: set[str] = set()
    for done, question in enumerate(questions.asked):
        heard(done)
        vector = query_vector(question.question, embedder)
        hits = rank(snapshot, target.pages, question.question, vector).hits
        passages = target.pages.passages([hit.row for hit in hits])
        pages = dict.fromkeys(passages[hit.row].path for hit in hits if hit.row in passages)
        if set(list(pages)[:FIRST]).intersection(question.path):
            found.add(question.question)
    missed = {question.question for question in questions.asked} - found
    return Outcome(questions.fingerprint, frozenset(found), frozenset(missed))


def drop(before: Outcome | None, now: Outcome, largest: float) -> str | None:
    """In words what got worse by more than it may; None where nothing did."""
    if before is None:
        return None
    fall, lost = now.lost_since(before)
    if fall <= largest:
        return None
    return (
        f"The self-test fell by {fall:.0%}: {len(lost)} questions no longer find their page among"
        f" the first {FIRST}, such as {_quoted(lost)}"
    )


def _quoted(lost: Collection[str]) -> str:
    return "; ".join(f"“{' '.join(question.split())[:100]}”" for question in list(lost)[:_WARNED])
