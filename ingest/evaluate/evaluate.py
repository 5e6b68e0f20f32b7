"""Retrieval quality: questions against the docs that answer them -> marks.

Each folder of docs is indexed once, in a data folder of its own, and brought up to date at the next
evaluation. Questions are asked one after the other, as the agent's first search would ask them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ingest.data_folder import own_data_folder
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.evaluate.questions import Question
from ingest.evaluate.scoring import Mark, averages, mark
from ingest.index import Index, open_index
from ingest.pipeline.run import IngestProgress, run_ingest
from ingest.settings import IndexSettings
from ingest.terminal import ShowProgress

EVAL_FOLDER = "eval"
"""In the data folder: one index a corpus, kept for the next time."""
NOT_DOCS = ("SOURCE.md",)
"""Says where a corpus comes from; no page of it."""
ASKED_FOR = 50
"""Passages a question: more than the largest budget holds."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What one setting of the index made of all questions."""

    marks: tuple[Mark, ...]
    unanswerable_weak: tuple[bool, ...] = ()
    """Of each question that the docs do not answer: whether its result was called weak."""

    def to_json(self) -> dict[str, Any]:
        return {
            "overall": _rounded(averages(self.marks)),
            "by_kind": {
                kind: _rounded(averages(marks)) for kind, marks in self.marks_by_kind().items()
            },
            "weak": {name: round(share, 4) for name, share in self.weak_shares().items()},
            "questions": [mark.to_json() for mark in self.marks],
        }

    def marks_by_kind(self) -> dict[str, list[Mark]]:
        kinds = sorted({mark.kind for mark in self.marks})
        return {kind: [mark for mark in self.marks if mark.kind == kind] for kind in kinds}

    def weak_shares(self) -> dict[str, float]:
        """Share of results called weak: wrongly, and rightly."""
        answerable = [mark.weak for mark in self.marks]
        return {
            "answerable": _share(answerable),
            "no_answer": _share(self.unanswerable_weak),
        }


def evaluate(
    grouped: Mapping[str, Sequence[Question]],
    corpora: Path,
    settings: IndexSettings,
    *,
    cache: Path,
    heard: ShowProgress,
) -> Evaluation:
    """Ask every question of its own corpus."""
    marks: list[Mark] = []
    weak: list[bool] = []
    embedder = open_embedder(settings.embedder_source)
    total = sum(map(len, grouped.values()))
    for corpus, questions in sorted(grouped.items()):
        with open_corpus(corpora / corpus, settings, embedder, cache=cache, heard=heard) as index:
            index.warm()
            for question in questions:
                heard("asking", len(marks) + len(weak), total)
                if question.has_answer:
                    marks.append(_ask(index, question))
                elif question.type == "no_answer":
                    weak.append(index.search(question.query).weak)
    return Evaluation(tuple(marks), tuple(weak))


@contextmanager
def open_corpus(
    docs: Path, settings: IndexSettings, embedder: Embedder, *, cache: Path, heard: ShowProgress
) -> Iterator[Index]:
    """The index of a folder of docs, up to date."""
    own = settings.model_copy(
        update={
            "docs_repo": str(docs.resolve()),
            "docs_root": "",
            "docs_branch": None,
            "docs_include": (),
            "docs_exclude": NOT_DOCS,
            "data_dir": corpus_folder(cache, docs.name, embedder),
        }
    )

    def listen(progress: IngestProgress) -> None:
        heard(f"{docs.name}: {progress.stage}", progress.done, progress.total)

    own.data_dir.mkdir(parents=True, exist_ok=True)
    index = open_index(own, embedder)
    try:
        with own_data_folder(own.data_dir):
            # A corpus that lost most of its pages is another corpus: nobody has to confirm that.
            run_ingest(own, index, embedder, progress=listen, confirm_large_deletion=True)
            yield index
    finally:
        index.close()


def corpus_folder(cache: Path, corpus: str, embedder: Embedder) -> Path:
    """One folder a corpus; another embedder's vectors lie beside it, not in its place."""
    plain = cache / corpus
    note = plain / "embedder.txt"
    if not note.exists():
        plain.mkdir(parents=True, exist_ok=True)
        note.write_text(embedder.fingerprint)
    if note.read_text() == embedder.fingerprint:
        return plain
    return cache / f"{corpus}.{embedder.fingerprint}"


def _ask(index: Index, question: Question) -> Mark:
    begun = time.perf_counter()
    result = index.search(question.query, k=ASKED_FOR)
    ms = (time.perf_counter() - begun) * 1000
    return mark(question, result.passages, ms=ms, weak=result.weak)


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def _share(flags: Sequence[bool]) -> float:
    return sum(flags) / len(flags) if flags else 0.0
