"""Whoever is limited to collections learns of nothing outside, however the docs are written.

Each page holds words that no other one holds, in its name, its title, its headings, its text and
its version. Pages are copies, versions and translations of each other, and include each other and
what lies beside them. None of the words of a page out of scope comes back.
"""

from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.config_file import DocsCollection
from ingest.documents import IndexedDocument
from ingest.index import Index, open_index
from tests.ingest.pipeline.docs import Docs

SAME = (
    "The gateway closes a socket that stays silent for ninety seconds, so each client sends a"
    " heartbeat in time."
)
PAGES = ("guide.md", "v1.4/guide.md", "v1.5/guide.md", "i18n/de/guide.md", "notes.md", "part.inc")
COLLECTIONS = {
    name: DocsCollection(description="Part", paths=(f"{name}/**",)) for name in ("red", "blue")
}
FOLDERS = (*COLLECTIONS, "none")

pages = st.lists(
    st.tuples(
        st.sampled_from(FOLDERS),
        st.sampled_from(PAGES),
        st.lists(st.tuples(st.sampled_from(FOLDERS), st.sampled_from(PAGES)), max_size=3),
        st.booleans(),
    ),
    min_size=5,
    max_size=12,
    unique_by=lambda page: page[:2],
)


def secret(folder: str, page: str, kind: str) -> str:
    return f"{kind}{folder}{PAGES.index(page)}x"


def write(docs: Docs, drawn: list[tuple[str, str, list[tuple[str, str]], bool]]) -> None:
    for folder, page, included, is_copy in drawn:
        word = {kind: secret(folder, page, kind) for kind in ("title", "under", "text", "version")}
        own = "" if is_copy else f"It says {word['text']}."
        lines = [f"# A {word['title']}", f"Since {word['text']}.", f"## An {word['under']}"]
        text = [f"{SAME} {own}"] if page.endswith(".inc") else [*lines, f"{SAME} {own}"]
        for where, file in included:
            up = "../" * (page.count("/") + 1)
            text.append(f"{{{{#include {up}{where}/{file}}}}}")
        docs.write(f"{folder}/{page}", "\n\n".join(text))


def seen(index: Index) -> Iterator[object]:
    """All that an asker can be told."""
    yield index.collections()
    listed = index.documents()
    yield listed
    yield index.infos([f"{folder}/{page}" for folder in FOLDERS for page in PAGES])
    for query in ("heartbeat of a client", "guide v1.4", "version 1.5 of the guide", "Wer sendet"):
        found = index.search(query, k=50)
        yield found
        yield index.passages([p.id for p in found.passages])
    for folder in FOLDERS:
        for page in PAGES:
            for name in (f"{folder}/{page}", f"{folder}/{page}-0", f"{folder}/{page[:-3]}-0"):
                yield index.document(name)
                yield index.passages([name])


def readable(scope: str, written: dict[str, list[tuple[str, str]]]) -> set[str]:
    """Documents of a collection, by the rule: its own, and the files that these show."""
    paths = {path for path in written if path.startswith(f"{scope}/")}
    while True:
        shown = {f"{where}/{file}" for path in paths for where, file in written[path]}
        files = {path for path in shown if path.endswith(".inc") and path in written}
        if files <= paths:
            return paths
        paths |= files


@settings(max_examples=6)
@given(pages)
def test_nothing_of_a_document_out_of_scope_comes_back(
    drawn: list[tuple[str, str, list[tuple[str, str]], bool]],
) -> None:
    with TemporaryDirectory() as folder:
        docs = Docs(Path(folder))
        write(docs, drawn)
        docs.ingest()
        index = open_index(docs.settings, docs.embedder, COLLECTIONS)
        written = {f"{where}/{page}": text for where, page, text, _copy in drawn}
        everything = {info.path for info in index.documents()}
        for scope in COLLECTIONS:
            within = index.within([scope])
            paths = {info.path for info in within.documents()}
            assert paths == readable(scope, written) & everything
            said = "\n".join(map(repr, seen(within)))
            for where, page, _included, _copy in drawn:
                path = f"{where}/{page}"
                if path in paths:
                    continue
                for kind in ("title", "under", "text"):
                    assert secret(where, page, kind) not in said, (scope, path, kind)
                # The words of a page that is in scope may name it.
                named = any((where, page) in written[shown] for shown in written if shown in paths)
                assert named or f"{path}'" not in said, (scope, path)
        index.close()
        docs.index.close()


def test_an_included_file_has_no_title_or_heading_of_a_page_out_of_scope(tmp_path: Path) -> None:
    docs = Docs(tmp_path)
    docs.write("blue/plan.md", "# Plan of spring\n\n## Kim leaves\n\n{{#include ../red/a.inc}}\n")
    docs.write("red/a.inc", "The rota is weekly.\n\n{{#include b.inc}}\n")
    docs.write("red/b.inc", "The rota begins on Monday.\n")
    docs.ingest()
    index = open_index(docs.settings, docs.embedder, COLLECTIONS)
    whole = [p for p in index.search("rota").passages if p.path.startswith("red/")]
    assert {p.heading for p in whole} == {("Plan of spring", "Kim leaves")}
    within = index.within(["red"])
    documents = [within.document(f"red/{name}.inc") for name in "ab"]
    assert all(isinstance(document, IndexedDocument) for document in documents)
    said = repr([within.search("rota"), within.documents(), within.infos(["red/b.inc"]), documents])
    assert "The rota is weekly" in said
    assert "The rota begins" in said
    for word in ("spring", "Kim", "blue", "plan"):
        assert word not in said
    index.close()
    docs.index.close()
