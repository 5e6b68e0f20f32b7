"""One corpus in seven versions, made by small edits: each text once, and the current one first?

    python -m tests.bench.versions --questions FILE --corpus FOLDER --data-dir FOLDER

A paragraph in nine changes between two versions: a number in it grows, or a word is left out. The
older a version, the more pages it lacks. The questions are asked of the plain corpus, too.
"""

import argparse
import random
import re
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from ingest.documents import DEFAULT_BUDGET, Passage
from ingest.embedding.embedder import open_embedder
from ingest.evaluate.cases import Case, read_cases
from ingest.evaluate.evaluate import ASKED_FOR
from ingest.evaluate.scoring import averages, mark
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bench.measure import Sheet

VERSIONS = tuple(f"2.{minor}" for minor in range(8, 14))
"""The older ones, oldest first; the corpus itself is the seventh and current version."""
EDITED = 1 / 9
LACKING = 0.02
"""Share of the pages that each version lacks of the next one's."""
CURRENT_FIRST = 0.95

LayOut = Callable[[str | None, str], str]
"""Version (None: the current) and path in the corpus -> path in the docs."""

LAY_OUTS: dict[str, LayOut] = {
    "versioned_docs": lambda version, path: (
        f"{'docs' if version is None else f'versioned_docs/version-{version}'}/"
        + path.removeprefix("docs/")
    ),
    "v": lambda version, path: f"{'latest' if version is None else f'v{version}'}/{path}",
    "release": lambda version, path: (
        f"{'latest' if version is None else f'release-{version}'}/{path}"
    ),
    "numbers": lambda version, path: f"{'2.14' if version is None else version}/{path}",
    "archive": lambda version, path: path if version is None else f"archive/{version}/{path}",
}

_NUMBER = re.compile(r"\b[1-9]\d*\b")


@dataclass(frozen=True)
class Measured:
    """What the questions show about one lay-out."""

    twice: int
    """Questions for which a text comes twice within the budget."""
    current_first: float
    """Share of the questions for which each page begins with its current version."""
    asked_for: float
    """Share of the questions with a version for which that version of the gold page leads it."""
    quotes: float
    """Share of the gold quotes within the budget."""


def make_versions(corpus: Path, folder: Path, lay_out: LayOut, seed: int = 7) -> None:
    """Write all versions of a corpus into a folder."""
    pages = {
        page.relative_to(corpus).as_posix(): page.read_text(encoding="utf-8")
        for page in sorted(corpus.rglob("*.md"))
        if page.name != "SOURCE.md"
    }
    for version in (None, *reversed(VERSIONS)):
        if version is not None:
            choose = random.Random(f"{seed} {version}")  # the same edits at each run
            kept = sorted(path for path in pages if choose.random() >= LACKING)
            pages = {path: _edited(pages[path], choose) for path in kept}
        for path, text in pages.items():
            target = folder / lay_out(version, path)
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_text(text, encoding="utf-8")


def _edited(text: str, choose: random.Random) -> str:
    paragraphs = text.split("\n\n")
    for place, paragraph in enumerate(paragraphs):
        if choose.random() < EDITED:
            changed = _NUMBER.sub(lambda number: str(int(number.group()) + 1), paragraph, count=1)
            words = paragraph.split(" ")
            if changed == paragraph and len(words) > 8:
                del words[choose.randrange(4, len(words) - 2)]
                changed = " ".join(words)
            paragraphs[place] = changed
    return "\n\n".join(paragraphs)


def measure(index: Index, cases: Sequence[Case], lay_out: LayOut, pages: Sequence[str]) -> Measured:
    """Ask all questions, each also with an older version in it."""
    page_of = {lay_out(v, path): (path, v) for v in (None, *VERSIONS) for path in pages}
    twice = first = 0
    asked: list[bool] = []
    marks = []
    for number, case in enumerate(cases):
        passages = list(_within(index.search(case.query).passages))
        texts = {" ".join(passage.text.split()) for passage in passages}
        twice += len(texts) < len(passages)
        leading: dict[str, str | None] = {}
        for passage in passages:
            leading.setdefault(*page_of[passage.path])
        first += not any(leading.values())
        found = index.search(case.query, k=ASKED_FOR).passages
        plain = [replace(passage, path=page_of[passage.path][0]) for passage in found]
        marks.append(mark(case, plain, ms=0.0, weak=False))
        version = VERSIONS[number % len(VERSIONS)]
        in_version = index.search(f"{case.query} In version {version}?").passages
        gold = [page_of[p.path] for p in in_version if page_of[p.path][0] in case.gold_files]
        if gold and index.document(lay_out(version, gold[0][0])):
            asked.append(gold[0][1] == version)
    quotes = averages(marks)["quote@9.6k"]
    return Measured(twice, first / len(cases), sum(asked) / len(asked), quotes)


def _within(passages: Sequence[Passage]) -> Iterator[Passage]:
    used = 0
    for passage in passages:
        if used >= DEFAULT_BUDGET:
            return
        used += len(passage.text)
        yield passage


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench.versions")
    parser.add_argument("--questions", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, required=True)
    parser.add_argument("--data-dir", type=Path, required=True, help="kept for the next time")
    parser.add_argument("--lay-out", choices=sorted(LAY_OUTS), action="append")
    given = parser.parse_args()
    cases = [
        case
        for case in read_cases(given.questions, Case)
        if case.corpus == given.corpus.name and case.has_answer
    ]
    sheet = Sheet()
    pages = [page.relative_to(given.corpus).as_posix() for page in given.corpus.rglob("*.md")]
    # One index after the other in one folder: the vectors of the same texts are used again.
    settings = IndexSettings(docs_repo="docs", data_dir=given.data_dir)
    embedder = open_embedder(settings.embedder_source)
    for name in given.lay_out or sorted(LAY_OUTS):
        with tempfile.TemporaryDirectory(prefix="footnote-versions-") as docs:
            make_versions(given.corpus, Path(docs), LAY_OUTS[name])
            own = settings.model_copy(update={"docs_repo": docs})
            index = open_index(own, embedder)
            report = run_ingest(own, index, embedder, confirm_large_deletion=True)
            measured = measure(index, cases, LAY_OUTS[name], pages)
            index.close()
        sheet.head(f"{name}: {report.documents:,} documents, {report.chunks:,} chunks")
        sheet.line(
            "texts that come twice", str(measured.twice), aim="0", reached=not measured.twice
        )
        share = measured.current_first
        sheet.line("current first", f"{share:.3f}", aim=">= .95", reached=share >= CURRENT_FIRST)
        sheet.line("version asked for leads", f"{measured.asked_for:.3f}")
        sheet.line("quote@9.6k", f"{measured.quotes:.3f}")


if __name__ == "__main__":
    main()
