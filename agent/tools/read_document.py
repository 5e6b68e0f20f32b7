"""``read_document``: path or chunk id -> the document, or the part of it that fits."""

from collections.abc import Sequence
from typing import Any

from pydantic import Field

from agent.errors import ToolError
from agent.passages import edition_words
from agent.searches import Retrieval
from agent.tools.base import Arguments, Corpus, ToolResult, plain_schema
from agent.trace import Progress
from ingest.documents import DEFAULT_BUDGET, IndexedDocument, Passage

_SUGGESTED = 5
_MOST_EDITIONS = 20


class PathAndLine(Arguments):
    path: str = Field(
        description="Path of a page, such as 'runbooks/payments.md', or the id of a passage, "
        "such as 'runbooks/payments-3': a long page then opens at that passage's section."
    )
    from_line: int | None = Field(
        default=None, description="Begin at this line: to go on with a page that was cut."
    )


class ReadDocument:
    """Opens a document: for the steps around a passage, or because another document names it."""

    name = "read_document"
    arguments: type[Arguments] = PathAndLine

    def description(self, corpus: Corpus) -> str:  # noqa: ARG002  # the search says what there is
        return (
            "Read a page of the docs from beginning to end, as it is indexed now. Call it when a "
            "passage is on the right page but the steps before or after it are missing, or when a "
            "passage refers to another page. It does not use up a search. "
            f"A page over {DEFAULT_BUDGET:,} characters comes in parts; the last lines say where "
            "to go on. Every part comes as passages with ids to cite. Passages you were given "
            "before are left out. Do not call it for pages that no passage points to: search first."
        )

    def schema(self, corpus: Corpus) -> dict[str, Any]:  # noqa: ARG002  # the same for every corpus
        return plain_schema(self.arguments)

    def progress(self, arguments: PathAndLine) -> Progress:
        return Progress("reading", arguments.path[:200])

    def run(self, arguments: PathAndLine, retrieval: Retrieval) -> ToolResult:
        name = arguments.path.strip().removeprefix("/")
        page = retrieval.index.document(name)
        if page is None or not page.passages:
            raise ToolError(_unknown(name, retrieval))
        first = _first(page, name, arguments.from_line)
        part = _part(page.passages[first:])
        rest = page.passages[first + len(part) :]
        facts: dict[str, Any] = {"page": page.info.path}
        if own := [passage for passage in part if passage.path == page.info.path]:
            facts["lines"] = [own[0].lines[0], own[-1].lines[1]]
        if page.own:
            facts["page_ends_at_line"] = page.own[-1].lines[1]
        if edition := _edition(page):
            facts["edition"] = edition
        if rest:
            facts["note"] = _rest(rest, page)
        return ToolResult(tuple(part), facts)


def _edition(page: IndexedDocument) -> str:
    """Say which version and language a page is in, and where its other versions are."""
    says = edition_words(page.info)
    others = [f"{path} ({version or 'current'})" for path, version in page.editions]
    if others:
        says.append(f"other versions: {', '.join(others[:_MOST_EDITIONS])}")
    return "; ".join(says)


def _first(page: IndexedDocument, name: str, from_line: int | None) -> int:
    """The first passage to return: at the line, at the section of the passage, or at the top."""
    if from_line is not None:
        own = [i for i, p in enumerate(page.passages) if p.path == page.info.path]
        later = (i for i in own if page.passages[i].lines[1] >= from_line)
        return next(later, own[-1] if own else 0)
    ids = [passage.id for passage in page.passages]
    if name not in ids or sum(len(p.text) for p in page.passages) <= DEFAULT_BUDGET:
        return 0
    first = ids.index(name)
    heading = page.passages[first].heading
    while first and page.passages[first - 1].heading == heading:
        first -= 1
    return first


def _part(passages: Sequence[Passage]) -> Sequence[Passage]:
    size = 0
    for count, passage in enumerate(passages):
        size += len(passage.text)
        if size > DEFAULT_BUDGET and count:
            return passages[:count]
    return passages


def _rest(rest: Sequence[Passage], page: IndexedDocument) -> str:
    """Say how to go on; a file that the page shows is opened by itself."""
    own = next((passage for passage in rest if passage.path == page.info.path), None)
    going_on = f"read it with from_line {own.lines[0]}" if own else ""
    if rest[0] is own:
        return f"The page goes on: {going_on}."
    then = f"; after that, {going_on}" if own else ""
    return f"The page shows {rest[0].path} here: read that with the path {rest[0].id!r}{then}."


def _unknown(name: str, retrieval: Retrieval) -> str:
    last = name.rpartition("/")[2].removesuffix(".md").lower()
    near = [d.path for d in retrieval.index.documents() if last and last in d.path.lower()]
    hint = f" Did you mean {', '.join(near[:_SUGGESTED])}?" if near else ""
    return f"There is no page {name[:200]!r}.{hint} Use a path or id that a passage gave you."
