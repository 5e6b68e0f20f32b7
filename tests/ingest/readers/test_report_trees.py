"""The shared reports of docs that are read, cut or found in another way than they should be."""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

import pytest

from agent.answer import Answer
from agent.conversation import Conversation, Turn
from agent.loop import build_agent
from agent.settings import AgentSettings
from ingest.documents import Passage, SearchResult
from ingest.embedding.embedder import Embedder, open_embedder
from ingest.settings import IndexSettings
from tests.cases import Json, Unknown, call, faults, folded, one_of, remark, require, table
from tests.ingest.trees import Indexed, Tree, build, everything, ingest
from tests.reports import reports

_NAVIGATION = {"SUMMARY.md", "_Sidebar.md", "_Footer.md"}
_LABEL = re.compile(r"^\([^()\s]+\)=$")
_INSIDE = re.compile(r"[^<>]*>|[^<]*</?t[dh]\b|[^<]*</tr\b")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")


@pytest.fixture(scope="module")
def embedder(tmp_path_factory: pytest.TempPathFactory) -> Embedder:
    return open_embedder(IndexSettings(data_dir=tmp_path_factory.mktemp("model")).embedder_source)


@dataclass(frozen=True)
class Seen:
    """An indexed tree, and the question of its report."""

    indexed: Indexed
    question: str

    @cached_property
    def result(self) -> SearchResult:
        return self.indexed.search(self.question)

    @property
    def found(self) -> tuple[Passage, ...]:
        return self.result.passages

    @property
    def first(self) -> str:
        return everything(self.found[0]) if self.found else ""

    def answer(self) -> Answer:
        """As it is without a model."""
        agent = build_agent(self.indexed.index, AgentSettings())
        return agent.answer(Conversation((Turn("person", "oncall", self.question),)))


@pytest.mark.parametrize("case", reports("tree"))
def test_a_tree_of_docs_answers_as_its_report_says(
    case: Json, tmp_path: Path, embedder: Embedder
) -> None:
    require(call(unmet, case, tmp_path, embedder))


def unmet(
    into: Path,
    embedder: Embedder,
    folder: Path,
    tree: str,
    expect: Json,
    question: str = "",
    setup: str = "",
    mode: str = "",
) -> list[str]:
    """What does not hold; an ingest that says what it did not read may be enough."""
    one_of(mode, "", "without a model")
    built, root = build(into, [], folder / tree), "."
    if setup:
        if folder.name not in SETUPS:
            raise Unknown(f"the setup of {folder.name} is not known to the tests")
        root = SETUPS[folder.name](built)
    indexed = ingest(built, root, into / "data", embedder)
    try:
        wrong = faults(expect, CHECKS, Seen(indexed, question))
    finally:
        indexed.index.close()
    told = any("include" in warning for warning in indexed.report.warnings)
    return [] if "or_at_least" in expect and told else wrong


def link_to_the_readme(tree: Tree) -> str:
    tree.place("docs/index.md").symlink_to("../README.md")
    return "docs"


def older_versions(tree: Tree) -> str:
    page = (tree.repo / "docs/heartbeats.md").read_text(encoding="utf-8")
    for version in range(14):
        older = tree.place(f"versioned_docs/version-2.{version}/heartbeats.md")
        older.write_text(page.replace("90 seconds", "55 seconds"), encoding="utf-8")
    return "."


SETUPS: dict[str, Callable[[Tree], str]] = {
    "linked-readme": link_to_the_readme,
    "versions-fill-the-budget": older_versions,
}
"""What the words of a setup mean; each gives the docs root."""


def first_page(seen: Seen, path: str) -> Iterator[str]:
    if not seen.found or seen.found[0].path != path:
        yield f"found are {[passage.id for passage in seen.found]}"


def weak(seen: Seen, wanted: bool) -> Iterator[str]:
    if seen.result.weak is not wanted:
        yield f"{seen.result.weak}, with a confidence of {seen.result.confidence:.2f}"


def within_9600_characters(seen: Seen, texts: list[str]) -> Iterator[str]:
    found = [everything(passage) for passage in seen.found]
    yield from (text for text in texts if not any(folded(text) in each for each in found))


def ingest_(seen: Seen, _words: str) -> Iterator[str]:
    """All files are read, or a warning counts those that are not."""
    docs = seen.indexed.docs
    files = [file for file in docs.rglob("*") if file.is_file() and ".git" not in file.parts]
    unread = {file.relative_to(docs).as_posix() for file in files} - seen.indexed.pages.keys()
    if unread and not any(re.search(r"\d", each) for each in seen.indexed.report.warnings):
        yield f"without a word, {sorted(unread)} are not read"


def first_passage_contains(seen: Seen, parts: list[str]) -> Iterator[str]:
    yield from (p for p in parts if not any(each in seen.first for each in p.split(" or ")))


def passage_text(seen: Seen, words: str) -> Iterator[str]:
    """The names that are in the words."""
    yield from (name for name in re.findall(r"\w+_\w+", words) if name not in seen.first)


def no_chunk_whose_text_is(seen: Seen, texts: list[str]) -> Iterator[str]:
    yield from (chunk.id for chunk in seen.indexed.all() if folded(chunk.text) in texts)


def navigation(seen: Seen, _words: str) -> Iterator[str]:
    """Not found, or behind all other pages."""
    is_navigation = [Path(passage.path).name in _NAVIGATION for passage in seen.found]
    if is_navigation != sorted(is_navigation):
        yield f"found are {[passage.id for passage in seen.found]}"


def label_belongs_to(seen: Seen, _words: str) -> Iterator[str]:
    """To the heading that follows."""
    for path, passages in seen.indexed.pages.items():
        lines = (seen.indexed.docs / path).read_text(encoding="utf-8").split("\n")
        for number in (n for n, line in enumerate(lines, 1) if _LABEL.match(line)):
            heading = next(line.lstrip("# ") for line in lines[number:] if line.startswith("#"))
            holding = [p for p in passages if p.lines[0] <= number <= p.lines[1]]
            yield from (p.id for p in holding if p.heading[-1:] != (heading,))


def no_passage_contains(seen: Seen, texts: list[str]) -> Iterator[str]:
    yield from (f"{t!r} is in {c.id}" for c in seen.indexed.all() for t in texts if t in c.text)


def some_passage_contains_together(seen: Seen, texts: list[str]) -> Iterator[str]:
    if not any(all(text in everything(c) for text in texts) for c in seen.indexed.all()):
        yield f"no chunk has {texts}"


def no_passage_begins_inside_a_tag_or_a_row(seen: Seen, _wanted: bool) -> Iterator[str]:
    yield from (chunk.id for chunk in seen.indexed.all() if _INSIDE.match(chunk.text))


def column_names_repeated(seen: Seen, names: list[str]) -> Iterator[str]:
    for chunk in seen.indexed.all():
        if re.search(r"<td|^\|", chunk.text, re.M) and not all(n in chunk.text for n in names):
            yield f"{chunk.id} has none of {names}"


def the_three_passages_of_the_answer_are_distinct(seen: Seen, _wanted: bool) -> Iterator[str]:
    """Or as many as the tree has texts, if it has fewer."""
    texts = [folded(passage.text) for passage in seen.answer().citations]
    distinct = {folded(passage.text) for passage in seen.indexed.all()}
    if len(texts) != min(3, len(distinct)) or len(set(texts)) != len(texts):
        yield f"cited are {texts}"


def a_chinese_question_leads_to(seen: Seen, path: str) -> Iterator[str]:
    lines = (seen.indexed.docs / path).read_text(encoding="utf-8").split("\n")
    question = next(line for line in lines if _CHINESE.search(line))
    found = [passage.path for passage in seen.indexed.search(question).passages]
    if found[:1] != [path]:
        yield f"found are {found}"


def no_passage_from(seen: Seen, paths: list[str]) -> Iterator[str]:
    yield from (passage.id for passage in seen.found if passage.path in paths)


def each_text_once(seen: Seen, _words: str) -> Iterator[str]:
    texts = [folded(passage.text) for passage in seen.found]
    if len(texts) != len(set(texts)):
        yield f"{len(texts)} passages have {len(set(texts))} texts"


def distinct_texts_within_9600_characters(seen: Seen, words: str) -> Iterator[str]:
    """As many as the number in the words."""
    [count] = re.findall(r"\d+", words)
    texts = {folded(passage.text) for passage in seen.found}
    if len(texts) < int(count):
        yield f"{len(texts)} texts"


def order(seen: Seen, words: str) -> Iterator[str]:
    """The page that is named comes before pages of the same name."""
    path = words.split()[0]
    same = [passage.path for passage in seen.found if passage.path.endswith(Path(path).name)]
    if same[:1] != [path]:
        yield f"found are {same}"


CHECKS = table(
    *(first_page, weak, within_9600_characters, ingest_, first_passage_contains, passage_text),
    *(no_chunk_whose_text_is, navigation, label_belongs_to, no_passage_contains, order),
    *(some_passage_contains_together, no_passage_begins_inside_a_tag_or_a_row),
    *(column_names_repeated, the_three_passages_of_the_answer_are_distinct, no_passage_from),
    *(a_chinese_question_leads_to, each_text_once, distinct_texts_within_9600_characters),
) | {"or_at_least": remark, "now": remark}
