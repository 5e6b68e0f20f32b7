"""The self-test: the docs' own questions, asked of an index before it goes live.

``.footnote/questions.jsonl``, under the docs root or at the top of the repo -> questions -> hits
and misses -> questions lost since the last run. A question is a hit if its document is among the
first results. No language model is used.
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
from ingest.index.snapshot import snapshot_of
from ingest.pipeline.target import Target
from ingest.repo.checkout import Checkout

FILE = ".footnote/questions.jsonl"
FIRST = 5
"""A question is a hit if its document is among this many first documents of the result."""
MOST = 1_000
"""Maximum number of questions that are asked."""
META = "self_test"
_MOST_LINES = 10 * MOST
"""Maximum number of lines that are read: each line may be a fault."""
_WARNED = 3
"""Maximum number of faulty lines that are reported, and of questions that a warning names."""


def _several(value: object) -> object:
    return (value,) if isinstance(value, str) else value


class SelfTestQuestion(BaseModel):
    """One line of the file."""

    model_config = ConfigDict(frozen=True)

    question: str = Field(min_length=1, max_length=1_000)
    path: Annotated[tuple[str, ...], BeforeValidator(_several), Field(min_length=1)]
    """Documents that answer the question, relative to the docs root; one of them is enough."""


@dataclass(frozen=True, slots=True)
class SelfTestQuestions:
    """The valid questions of the docs repo, and warnings about the other lines."""

    questions: tuple[SelfTestQuestion, ...] = ()
    fingerprint: str = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class SelfTestOutcome:
    """Questions that found their document, and questions that did not."""

    fingerprint: str
    """Fingerprint of the question file."""
    hits: frozenset[str]
    misses: frozenset[str]

    @property
    def summary(self) -> SelfTest:
        return SelfTest(len(self.hits), len(self.hits) + len(self.misses))

    def lost_since(self, before: "SelfTestOutcome") -> tuple[float, list[str]]:
        """Return the drop in the share of hits, over common questions, and the lost questions."""
        common = (self.hits | self.misses) & (before.hits | before.misses)
        fall = len(before.hits & common) - len(self.hits & common)
        return fall / len(common) if common else 0.0, sorted(before.hits & self.misses)

    def to_meta(self) -> dict[str, str]:
        value = [self.fingerprint, sorted(self.hits), sorted(self.misses)]
        return {META: json.dumps(value, ensure_ascii=False)}

    @classmethod
    def from_meta(cls, meta: Mapping[str, str]) -> "SelfTestOutcome | None":
        try:
            fingerprint, hits, misses = json.loads(meta[META])
            return cls(fingerprint, frozenset(hits), frozenset(misses))
        except (KeyError, ValueError, TypeError):
            return None


def read_self_test(checkout: Checkout) -> SelfTestQuestions:
    """Read the questions whose document is in the docs repo; warn about all other lines."""
    data, path = None, FILE
    for folder in dict.fromkeys((checkout.docs_root, "")):
        path = f"{folder}/{FILE}" if folder else FILE
        if (data := checkout.find(path)) is not None:
            break
    if data is None:
        return SelfTestQuestions()
    documents = {file.path for file in checkout.files}
    questions: dict[str, SelfTestQuestion] = {}
    faults: list[str] = []
    lines = data.decode(errors="replace").lstrip("\ufeff").splitlines()
    for number, line in enumerate(lines[:_MOST_LINES], 1):
        if not line.strip():
            continue
        try:
            question = SelfTestQuestion.model_validate_json(line)
        except ValidationError:
            cure = 'write {"question": "…", "path": "page.md"}'
            faults.append(f"{path}, line {number} was left out: {cure}.")
            continue
        if not documents.intersection(question.path):
            paths = " or ".join(question.path)
            faults.append(f"{path}, line {number} was left out: there is no page {paths}.")
            continue
        questions[question.question] = question
    if len(questions) > MOST or len(lines) > _MOST_LINES:
        faults.append(f"{path}: only the first {MOST:,} questions are asked.")
    if len(faults) > _WARNED:
        faults[_WARNED:] = [f"{path}: {len(faults) - _WARNED} more lines were left out."]
    fingerprint = hashlib.sha256(data).hexdigest()[:16]
    return SelfTestQuestions(tuple(questions.values())[:MOST], fingerprint, tuple(faults))


def ask(
    questions: SelfTestQuestions,
    target: Target,
    embedder: Embedder,
    progress: Callable[[int], None],
) -> SelfTestOutcome:
    """Search the index in ``target``, whether or not it is live."""
    tables = target.tables
    matrix = brought_up_to_date(Matrix.empty(target.folder.path), tables, target.store)
    snapshot = snapshot_of(tables, tables.generation(), matrix, tables.meta())
    hits: set[str] = set()
    for done, question in enumerate(questions.questions):
        progress(done)
        vector = query_vector(question.question, embedder)
        rows = [hit.row for hit in rank(snapshot, target.tables, question.question, vector).hits]
        passages = target.tables.passages(rows)
        paths = dict.fromkeys(passages[row].path for row in rows if row in passages)
        if set(list(paths)[:FIRST]).intersection(question.path):
            hits.add(question.question)
    misses = {question.question for question in questions.questions} - hits
    return SelfTestOutcome(questions.fingerprint, frozenset(hits), frozenset(misses))


def drop(before: SelfTestOutcome | None, now: SelfTestOutcome, largest: float) -> str | None:
    """Describe a drop of more than ``largest``, a share from 0 to 1; None for a smaller one."""
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
