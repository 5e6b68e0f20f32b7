"""The shared cases of small docs trees: what is found, under which heading, on which lines."""

import re
from collections.abc import Iterator
from os.path import relpath
from pathlib import Path

import pytest

from ingest.chunks.chunker import chunk_prefix
from ingest.documents import Passage
from ingest.readers.front_matter import CLOSINGS
from tests.cases import (
    Case,
    Json,
    call,
    each,
    family,
    faults,
    folded,
    no_exception,
    one_of,
    opened,
    remark,
    require,
    table,
)
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.trees import Indexed, build, everything, ingest

MOST_CHARACTERS = 12_000
"""No chunk is longer, whatever is in a page."""


@pytest.mark.parametrize("line", family("docs"))
def test_a_docs_tree_becomes_what_its_case_says(line: Json, tmp_path: Path) -> None:
    case = opened(line)
    seen = call(indexed, case.input, case, tmp_path)
    try:
        ids = ids_unique(seen, True)
        sizes = (*no_empty_chunk(seen, True), *max_chunk_chars(seen, MOST_CHARACTERS))
        require([*ids, *sizes, *faults(case.expect, CHECKS, seen)])
    finally:
        seen.index.close()


def indexed(
    case: Case,
    folder: Path,
    docs_root: str,
    tree: str | None = None,
    setup: list[Json] | None = None,
) -> Indexed:
    built = build(folder, setup or [], case.folder / tree if tree else None)
    return ingest(built, docs_root, folder / "data", HashingEmbedder())


def ids(seen: Indexed, bases: dict[str, str]) -> Iterator[str]:
    for path, base in bases.items():
        own = [chunk.id for chunk in seen.pages.get(path, ())]
        if not own or own != [f"{base}-{n}" for n in range(len(own))] or chunk_prefix(path) != base:
            yield f"{path} has {own}"


def exact_ids(seen: Indexed, ids: list[str]) -> Iterator[str]:
    have = {chunk.id for chunk in seen.all()}
    yield from (f"no id {id}" for id in ids if id not in have)


def ids_unique(seen: Indexed, _wanted: bool) -> Iterator[str]:
    ids = [chunk.id for chunk in seen.all()]
    yield from sorted({f"{id} occurs twice" for id in ids if ids.count(id) > 1})


def find(seen: Indexed, path: str, text: str) -> Iterator[str]:
    if not seen.holding(path, text):
        yield f"not in {path}: {text!r}"


def absent(seen: Indexed, texts: list[str]) -> Iterator[str]:
    for text in texts:
        for chunk in seen.all():
            if text in "\n".join((*chunk.heading, chunk.text)):
                yield f"{text!r} is in {chunk.id}"


def absent_should(seen: Indexed, texts: list[str]) -> Iterator[str]:
    return absent(seen, texts)


def heading_path(seen: Indexed, path: str, text: str, headings: list[str]) -> Iterator[str]:
    paths = {chunk.heading for chunk in seen.holding(path, text)}
    if paths != {tuple(headings)}:
        yield f"{text!r} is under {paths}"


def heading_compare(_seen: Indexed, how: str) -> Iterator[str]:
    """Headings are kept as a reader sees them: there is no markup to leave out of account."""
    one_of(how, "markup_ignored")
    return iter(())


def no_heading(seen: Indexed, texts: list[str]) -> Iterator[str]:
    for text in texts:
        for chunk in seen.all():
            if any(text in heading for heading in chunk.heading):
                yield f"{text!r} is a heading of {chunk.id}"


def lines(seen: Indexed, path: str, text: str, first: int, last: int) -> Iterator[str]:
    chunks = seen.holding(path, text)
    if not any(chunk.lines[0] <= first and last <= chunk.lines[1] for chunk in chunks):
        yield f"{text!r} is on lines {[chunk.lines for chunk in chunks]}"


def together(seen: Indexed, path: str, texts: list[str]) -> Iterator[str]:
    chunks = [everything(chunk) for chunk in seen.pages.get(path, ())]
    if not any(all(folded(text) in chunk for text in texts) for chunk in chunks):
        yield f"not in one chunk: {texts}"


def together_should(seen: Indexed, path: str, texts: list[str]) -> Iterator[str]:
    return together(seen, path, texts)


def skipped(seen: Indexed, path: str, reason: str) -> Iterator[str]:
    reasons = {skipped.path: skipped.reason for skipped in seen.report.skipped}
    if not reasons.get(path, "").startswith(reason):
        yield f"{path} is not skipped as {reason}: {reasons}"


def either(seen: Indexed, choices: list[Json]) -> Iterator[str]:
    found = [faults(choice, CHECKS, seen) for choice in choices]
    if all(found):
        yield f"none holds: {found}"


def search(seen: Indexed, query: str, path: str) -> Iterator[str]:
    found = [passage.path for passage in seen.search(query, k=3).passages]
    if path not in found:
        yield f"{query!r} finds {found}"


def nonsense_query_not_first(seen: Indexed, query: str) -> Iterator[str]:
    for passage in seen.search(query, k=1).passages:
        if _is_front_matter(passage, (seen.docs / passage.path).read_text(encoding="utf-8")):
            yield f"{passage.id} leads with its front matter"


def max_chunk_chars(seen: Indexed, most: int) -> Iterator[str]:
    for chunk in seen.all():
        if len(chunk.text) > most:
            yield f"{chunk.id} has {len(chunk.text)} characters"


def no_empty_chunk(seen: Indexed, _wanted: bool) -> Iterator[str]:
    yield from (f"{chunk.id} is empty" for chunk in seen.all() if not chunk.text.strip())


def no_sentence_lost(seen: Indexed, _wanted: bool) -> Iterator[str]:
    for path in seen.tree.generated:
        file = seen.tree.repo / path
        chunks = [everything(chunk) for chunk in seen.pages.get(relpath(file, seen.docs), ())]
        for sentence in re.split(r"(?<=[.!?])\s+|\n+", file.read_text(encoding="utf-8")):
            if not any(folded(sentence.lstrip("# ")) in chunk for chunk in chunks):
                yield f"{path} lost {sentence!r}"


def metadata_should(
    seen: Indexed,
    path: str,
    title: str | None = None,
    owner: str | None = None,
    tags: list[str] | None = None,
    date: str | None = None,
) -> Iterator[str]:
    info = seen.infos.get(path)
    if info is None:
        yield f"no page {path}"
        return
    known = {
        "title": info.title,
        "owner": info.owner,
        "tags": list(info.tags),
        "date": info.updated_at.date().isoformat() if info.updated_at else None,
    }
    wanted = {"title": title, "owner": owner, "tags": tags, "date": date}
    for name, value in wanted.items():
        if value is not None and known[name] != value:
            yield f"{name} of {path} is {known[name]!r}, not {value!r}"


def _is_front_matter(passage: Passage, text: str) -> bool:
    """Whether the passage ends before the front matter of its file does."""
    file = text.split("\n")
    closings = CLOSINGS.get(file[0].rstrip(), ())
    end = next((n for n, line in enumerate(file[1:], 2) if line.rstrip() in closings), 0)
    return passage.lines[1] <= end


CHECKS = table(
    *(each(check) for check in (find, heading_path, lines, together, together_should, skipped)),
    *(each(check) for check in (search, metadata_should)),
    *(ids, exact_ids, ids_unique, absent, absent_should, heading_compare, no_heading, either),
    *(nonsense_query_not_first, max_chunk_chars, no_empty_chunk, no_sentence_lost, no_exception),
) | {"may_be_slow": remark}
