"""Cases and the folders of documents that answer them -> marks of the search.

Each folder is indexed once, in a separate data folder, and brought up to date at the next
evaluation. Questions are asked one after the other, as the agent's first search would ask them.
"""

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from ingest.data_folder import own_data_folder
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.errors import SettingsError
from ingest.evaluate.cases import Case
from ingest.evaluate.scoring import Mark, averages, compare, mark
from ingest.evaluate.shares import Share, share
from ingest.index import Index, open_index
from ingest.pipeline.run import IngestProgress, run_ingest
from ingest.settings import IndexSettings
from ingest.terminal import ShowProgress

COMPARABLE = ("embedder", "embedder_int8", "embedder_threads", "late_interaction")
"""Settings that change which passages are found, or how fast."""
EVAL_FOLDER = "eval"
"""Folder in the data folder with one index a corpus, kept for the next evaluation."""
NOT_DOCS = ("SOURCE.md",)
"""Files beside the documents of a corpus, such as the note on its origin."""
ASKED_FOR = 50
"""Number of passages per question, more than the largest budget holds."""


@dataclass(frozen=True, slots=True)
class Evaluation:
    """Marks of all cases with one setting of the index."""

    marks: tuple[Mark, ...]
    unanswerable_weak: tuple[bool, ...] = ()
    """For each question without an answer in the docs: true if its result was called weak."""

    def to_json(self) -> dict[str, Any]:
        return {
            "overall": _rounded(averages(self.marks)),
            "by_kind": {
                kind: _rounded(averages(marks)) for kind, marks in self.marks_by_kind().items()
            },
            "weak": {
                name: round(share.value or 0.0, 4) for name, share in self.weak_shares().items()
            },
            "questions": [mark.to_json() for mark in self.marks],
        }

    def marks_by_kind(self) -> dict[str, list[Mark]]:
        kinds = sorted({mark.kind for mark in self.marks})
        return {kind: [mark for mark in self.marks if mark.kind == kind] for kind in kinds}

    def weak_shares(self) -> dict[str, Share]:
        """Results called weak, of questions with an answer (wrongly) and without (rightly)."""
        return {
            "answerable": share(mark.weak for mark in self.marks),
            "no_answer": share(self.unanswerable_weak),
        }


def evaluate(
    grouped: Mapping[Path, Sequence[Case]],
    settings: IndexSettings,
    *,
    cache: Path,
    report: ShowProgress,
) -> Evaluation:
    """Search for each case in the index of its folder; cases of type ``no_search`` are skipped."""
    marks: list[Mark] = []
    weak: list[bool] = []
    embedder = open_embedder(settings.embedder_source)
    total = sum(map(len, grouped.values()))
    for docs, cases in sorted(grouped.items()):
        with open_corpus(docs, settings, embedder, cache=cache, report=report) as index:
            index.warm()
            for case in cases:
                report("asking", len(marks) + len(weak), total)
                if case.has_answer:
                    marks.append(_ask(index, case))
                elif case.type == "no_answer":
                    weak.append(index.search(case.query).weak)
    return Evaluation(tuple(marks), tuple(weak))


@contextmanager
def open_corpus(
    docs: Path, settings: IndexSettings, embedder: Embedder, *, cache: Path, report: ShowProgress
) -> Iterator[Index]:
    """Open the index of a folder of documents, and bring it up to date first."""
    corpus = settings.model_copy(
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
        report(f"{docs.name}: {progress.stage}", progress.done, progress.total)

    corpus.data_dir.mkdir(parents=True, exist_ok=True)
    index = open_index(corpus, embedder)
    try:
        with own_data_folder(corpus.data_dir):
            # A corpus that lost most of its documents is another corpus: no need to confirm that.
            run_ingest(corpus, index, embedder, progress=listen, confirm_large_deletion=True)
            yield index
    finally:
        index.close()


def corpus_folder(cache: Path, corpus: str, embedder: Embedder) -> Path:
    """Folder of the index of a corpus; every other embedder has a separate folder beside it."""
    plain = cache / corpus
    note = plain / "embedder.txt"
    if not note.exists():
        plain.mkdir(parents=True, exist_ok=True)
        note.write_text(embedder.fingerprint)
    if note.read_text() == embedder.fingerprint:
        return plain
    return cache / f"{corpus}.{embedder.fingerprint}"


def _ask(index: Index, case: Case) -> Mark:
    start = time.perf_counter()
    result = index.search(case.query, k=ASKED_FOR)
    ms = (time.perf_counter() - start) * 1000
    return mark(case, result.passages, ms=ms, weak=result.weak)


def _rounded(values: Mapping[str, float]) -> dict[str, float]:
    return {name: round(value, 4) for name, value in values.items()}


def changed_settings(settings: IndexSettings, assignments: Sequence[str]) -> IndexSettings:
    """Settings with the changes of ``--compare SETTING=VALUE``.

    Raises SettingsError for another setting or a wrong value.
    """
    values: dict[str, str] = {}
    for assignment in assignments:
        name, separator, value = assignment.partition("=")
        name = name.strip().lower().removeprefix("footnote_")
        if not separator or name not in COMPARABLE:
            names = ", ".join(COMPARABLE)
            raise SettingsError(f"--compare {assignment}: give SETTING=VALUE, with one of {names}.")
        values[name] = value
    try:
        return IndexSettings(**(settings.model_dump() | values))
    except ValidationError as error:
        fault = error.errors()[0]
        raise SettingsError(
            f"--compare {fault['loc'][0]}={fault['input']}: {fault['msg']}."
        ) from None


def compared_json(before: Evaluation, after: Evaluation) -> dict[str, Any]:
    return {
        "overall": after.to_json()["overall"],
        "differences": {
            change.metric: {
                "better": change.better,
                "worse": change.worse,
                "mean": round(change.mean, 4),
                "interval": [round(change.low, 4), round(change.high, 4)],
            }
            for change in compare(before.marks, after.marks)
        },
    }
