"""Files that pages include: read where they are shown, and never anything else."""

from pathlib import Path
from typing import Any, cast

import pytest

from ingest.config_file import DocsCollection
from ingest.documents import IndexedDocument, Passage
from ingest.errors import LargeDeletion
from ingest.index import open_index
from ingest.readers.includes.include_directives import includes_of
from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.settings import IndexSettings
from tests.ingest.pipeline.docs import Docs
from tests.ingest.repo.remotes import DocsRemote, git

QUOTAS = "Quotas\n======\n\nEach tenant has limits.\n\n.. include:: numbers.inc\n\nAsk for more.\n"
NUMBERS = "The gateway accepts 730 requests per second.\n"


@pytest.fixture
def site(tmp_path: Path) -> Docs:
    """Docs in the folder ``site`` of a repository."""
    docs = Docs(tmp_path)
    docs.settings = IndexSettings(
        docs_repo=str(docs.folder), docs_root="site", data_dir=tmp_path / "data"
    )
    return docs


def page(docs: Docs, path: str) -> IndexedDocument:
    found = docs.index.document(path)
    assert found is not None
    return found


def first(docs: Docs, query: str) -> Passage:
    return docs.search(query).passages[0]


def included(docs: Docs, path: str) -> list[tuple[int, str]]:
    """Numbered lines of a document that are indexed."""
    return [
        (number, line)
        for passage in page(docs, path).own
        for number, line in enumerate(passage.text.split("\n"), passage.lines[0])
        if line
    ]


def test_an_included_file_is_cited_by_its_own_lines_under_the_headings_of_its_page(
    docs: Docs,
) -> None:
    docs.write("quotas.rst", QUOTAS.replace("numbers.inc", "parts/numbers.inc"))
    docs.write("parts/numbers.inc", f"\n{NUMBERS}")

    report = docs.ingest()
    passage = first(docs, "how many requests does the gateway accept?")

    assert (passage.id, passage.path, passage.lines) == (
        "parts/numbers.inc-0",
        "parts/numbers.inc",
        (2, 2),
    )
    assert (passage.title, passage.heading) == ("Quotas", ("Quotas",))
    assert [(place.path, place.lines, place.id) for place in passage.places] == [
        ("quotas.rst", (6, 6), "")
    ]
    assert [p.id for p in page(docs, "quotas.rst").passages] == ["quotas.rst-0", passage.id]
    assert not report.warnings
    assert not report.skipped


SYNTAXES = {
    "rst": ("a.rst", "A\n=\n\n.. literalinclude:: b.ini\n   :lines: 2-3\n", (2, 3)),
    "rst, marks": (
        "a.rst",
        "A\n=\n\n.. literalinclude:: b.ini\n   :start-after: one\n   :end-before: four\n",
        (2, 3),
    ),
    "rst, lines of docutils": (
        "a.rst",
        "A\n=\n\n.. include:: b.ini\n   :start-line: 1\n   :end-line: -3\n",
        (2, 2),
    ),
    "rst, a table's file": ("a.rst", "A\n=\n\n.. csv-table:: B\n   :file: b.ini\n", (1, 5)),
    "mdBook": ("a.md", "# A\n\n{{#include b.ini:2:3}}\n", (2, 3)),
    "mdBook, one line": ("a.md", "# A\n\n{{#include b.ini:2}}\n", (2, 2)),
    "mdBook in code": ("a.md", "# A\n\n```ini\n{{#include b.ini:4:}}\n```\n", (4, 5)),
    "mdBook, anchor": ("a.md", "# A\n\n{{#rustdoc_include c.rs:pool}}\n", (2, 2)),
    "MyST": ("a.md", "# A\n\n```{literalinclude} b.ini\n:lines: 2-3\n```\n", (2, 3)),
    "MyST, YAML": (
        "a.md",
        "# A\n\n```{literalinclude} b.ini\n---\nstart-at: two\nend-at: three\n---\n```\n",
        (2, 3),
    ),
    "MyST, colons": ("a.md", "# A\n\n:::{include} b.ini\n:::\n", (1, 5)),
    "MyST in a note": (
        "a.md",
        "# A\n\n````{note}\n```{include} b.ini\n```\n````\n",
        (1, 5),
    ),
    "Hugo": ("a.md", '# A\n\n{{< readfile file="b.ini" code="true" >}}\n', (1, 5)),
    "Hugo, by place": ("a.md", '# A\n\n{{% include "b.ini" %}}\n', (1, 5)),
    "Hugo, a folder of examples": ("a.md", '# A\n\n{{% code_sample file="d.yaml" %}}\n', (1, 1)),
    "Quarto": ("a.md", "# A\n\n{{< include b.ini >}}\n", (1, 5)),
    "MDX": ("a.mdx", "import B from '!!raw-loader!./b.ini'\n\n# A\n\n<B />\n", (1, 5)),
    "MkDocs": ("a.md", '# A\n\n--8<-- "b.ini:2:3"\n', (2, 3)),
    "MkDocs, from a line": ("a.md", '# A\n\n--8<-- "b.ini:4"\n', (4, 5)),
    "MkDocs, region": ("a.md", '# A\n\n```\n--8<-- "c.rs:limit"\n```\n', (5, 5)),
    "MkDocs, several": ("a.md", "# A\n\n--8<--\nb.ini\n--8<--\n", (1, 5)),
    "markdown-include": ("a.md", "# A\n\n{! b.ini !}\n", (1, 5)),
    "include-markdown": (
        "a.md",
        '# A\n\n{%\n   include-markdown "b.ini"\n   start="one"\n   end="three"\n%}\n',
        (2, 2),
    ),
    "Jekyll": ("a.md", "# A\n\n{% include e.ini level=2 %}\n", (1, 1)),
    "Jekyll, beside the page": ("a.md", "# A\n\n{% include_relative b.ini %}\n", (1, 5)),
}
FILES = {
    "b.ini": "one = 1\ntwo = 2\nthree = 3\nfour = 4\nfive = 5\n",
    "c.rs": (
        "// ANCHOR: pool\nlet pool = 31;\n// ANCHOR_END: pool\n"
        "// --8<-- [start:limit]\nlet limit = 17;\n// --8<-- [end:limit]\n"
    ),
    "examples/d.yaml": "replicas: 7\n",
    "_includes/e.ini": "level = 3\n",
}


@pytest.mark.parametrize("name", SYNTAXES)
def test_each_syntax_shows_the_lines_that_it_names(site: Docs, name: str) -> None:
    path, text, lines = SYNTAXES[name]
    for file, content in FILES.items():
        site.write(f"site/{file}", content)
    site.write(f"site/guide/{path}", text)
    for file in ("b.ini", "c.rs"):  # the directives name files beside the page
        site.write(f"site/guide/{file}", FILES[file])

    report = site.ingest()

    [file] = {info.path for info in site.index.documents()} - {f"guide/{path}"}
    numbers = [number for number, _line in included(site, file)]
    assert (numbers[0], numbers[-1], len(numbers)) == (*lines, lines[1] - lines[0] + 1)
    assert not report.warnings


def test_a_program_that_mdbook_runs_is_code(site: Docs) -> None:
    site.write("site/guide/a.md", "# A\n\n{{#playground main.rs editable}}\n")
    site.write("site/guide/main.rs", "# fn hidden() {}\nfn main() {\n    drain();\n}\n")

    site.ingest()

    assert [number for number, _line in included(site, "guide/main.rs")] == [1, 2, 3, 4]
    assert first(site, "drain").heading == ("A",)


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n```md\n{{#include b.ini}}\n```\n",
        "# A\n\n\\{{#include b.ini}}\n",
        '# A\n\n;--8<-- "b.ini"\n',
        "# A\n\n````\n```{include} b.ini\n```\n````\n",
        "# A\n\n<!-- {{#include b.ini}} -->\n\nText.\n",
        '# A\n\n{{</* readfile file="b.ini" */>}}\n',
        "# A\n\nWrite `.. include:: b.ini` there.\n",
    ],
)
def test_an_example_of_a_directive_includes_nothing(docs: Docs, text: str) -> None:
    docs.write("a.md", text)
    docs.write("b.ini", "one = 1\n")

    docs.ingest()

    assert "b.ini" not in {info.path for info in docs.index.documents()}


def test_the_parts_that_all_pages_show_are_read_and_nothing_else(docs: Docs) -> None:
    docs.write("a.rst", "A\n=\n\n.. literalinclude:: b.ini\n   :lines: 1\n")
    docs.write("c.rst", "C\n=\n\n.. literalinclude:: b.ini\n   :lines: 3\n")
    docs.write("b.ini", "one = 1\nsecret = 2\nthree = 3\n")

    docs.ingest()

    assert [line for _number, line in included(docs, "b.ini")] == ["one = 1", "three = 3"]
    assert {place.path for place in page(docs, "b.ini").passages[0].places} == {"a.rst", "c.rst"}


def test_files_that_include_each_other_are_read_once(docs: Docs) -> None:
    docs.write("a.rst", "A\n=\n\nTop.\n\n.. include:: b.inc\n\n.. include:: a.rst\n")
    docs.write("b.inc", "Bee has 71 wings.\n\n.. include:: c.inc\n.. include:: b.inc\n")
    docs.write("c.inc", "Cee has 72 legs.\n\n.. include:: b.inc\n\n.. include:: a.rst\n")

    docs.ingest()

    assert docs.ids() >= {"b.inc-0", "c.inc-0"}
    assert [p.path for p in page(docs, "a.rst").passages] == ["a.rst", "b.inc", "c.inc"]
    assert {place.path for place in first(docs, "legs of Cee").places} >= {"a.rst", "b.inc"}


def test_a_page_that_another_includes_stays_itself(docs: Docs) -> None:
    docs.write("a.mdx", "import Limits from './_limits.mdx'\n\n# A\n\nTop.\n\n<Limits />\n")
    docs.write("_limits.mdx", "The pool has 31 slots.\n")
    docs.write("note.md", "# Note\n\n![[ledger]]\n")

    docs.ingest()
    partial = page(docs, "_limits.mdx").passages[0]

    assert (partial.title, [p.path for p in partial.places]) == ("limits", ["a.mdx"])
    assert [p.path for p in page(docs, "a.mdx").passages] == ["a.mdx", "_limits.mdx"]
    assert [p.path for p in page(docs, "ledger").passages[0].places] == ["note.md"]


def test_a_page_without_words_of_its_own_shows_its_file(site: Docs) -> None:
    site.write("README.md", "# Pager\n\nThe rotation begins on Mondays at 08:20.\n")
    site.write("site/index.md", '--8<-- "README.md"\n')

    site.ingest()

    assert first(site, "when does the rotation begin?").id == "../README-0"


def test_what_cannot_be_read_is_named_as_long_as_it_is_so(docs: Docs) -> None:
    docs.write(
        "a.rst",
        "A\n=\n\n.. include:: gone.inc\n\n.. literalinclude:: b.py\n   :pyobject: main\n\n"
        ".. literalinclude:: c.ini\n   :start-after: nowhere\n\n.. include:: ../../etc/passwd\n\n"
        ".. include:: d.inc\n",
    )
    docs.write("b.py", "def main():\n    pass\n")
    docs.write("c.ini", "one = 1\n")
    (docs.folder / "d.inc").write_bytes(b"\x89PNG\r\n\0\0\0")

    warnings = [set(docs.ingest().warnings), set(docs.ingest().warnings)]

    assert warnings[0] == warnings[1]
    assert {
        each.removeprefix("a.rst (line ").partition(", which is not read: ")[::2]
        for each in warnings[0]
    } == {
        ("4) includes gone.inc", "there is no such file."),
        ("6) includes b.py", "the option pyobject is not supported."),
        ("9) includes c.ini", "no line has 'nowhere'."),
        ("12) includes ../../etc/passwd", "outside the repository."),
        ("14) includes d.inc", "binary: the content is not text, whatever the name says."),
    }
    docs.write("a.rst", "A\n=\n\n.. include:: gone.inc\n")
    docs.write("gone.inc", NUMBERS)
    assert not docs.ingest().warnings


def test_many_unread_files_are_counted(docs: Docs) -> None:
    docs.write("a.rst", "A\n=\n\n" + "".join(f".. include:: {n}.inc\n\n" for n in range(25)))

    warnings = docs.ingest().warnings

    assert len(warnings) == 11
    assert warnings[-1] == "15 more included files are not read."


def test_an_excluded_or_large_file_is_not_included(docs: Docs) -> None:
    docs.settings = docs.settings.model_copy(
        update={"docs_exclude": ("private/**",), "max_file_bytes": 2_000}
    )
    docs.write("a.rst", "A\n=\n\n.. include:: private/b.inc\n\n.. include:: c.inc\n")
    docs.write("private/b.inc", "The key is 99.\n")
    docs.write("c.inc", "long " * 1_000)

    report = docs.ingest()

    assert {"private/b.inc", "c.inc"}.isdisjoint(info.path for info in docs.index.documents())
    [warning] = report.warnings
    assert "c.inc, which is not read: huge" in warning


def test_each_change_of_page_or_file_is_right_after_the_next_run(docs: Docs) -> None:
    docs.write("quotas.rst", QUOTAS)
    docs.ingest()
    assert "730" not in docs.texts()

    docs.write("numbers.inc", NUMBERS)  # it appears later
    assert docs.ingest().added == 1
    assert docs.ingest().embedded == 0
    night = docs.ingest()
    assert (night.added, night.updated, night.deleted) == (0, 0, 0)

    docs.write("numbers.inc", NUMBERS.replace("730", "731"))
    docs.ingest()
    assert "731" in docs.texts()
    assert "730" not in docs.texts()

    docs.write("quotas.rst", QUOTAS.replace("Quotas\n======", "Limits\n======"))
    docs.ingest()
    assert first(docs, "731 requests of the gateway").heading == ("Limits",)

    docs.write("quotas.rst", QUOTAS)
    docs.ingest()
    assert "731" in docs.texts()
    docs.write("quotas.rst", QUOTAS.replace("numbers.inc", "numbers.inc\n   :start-line: 1"))
    docs.ingest()
    assert "731" not in docs.texts()

    docs.write("quotas.rst", QUOTAS)
    docs.ingest()
    assert "numbers.inc-0" in docs.ids()
    docs.write("quotas.rst", QUOTAS.replace(".. include:: numbers.inc", ""))
    docs.ingest()
    assert "numbers.inc-0" not in docs.ids()

    docs.write("quotas.rst", QUOTAS)
    docs.ingest()
    docs.delete("quotas.rst")
    docs.ingest()
    assert docs.ids() == {"pay-0", "ledger-0", "oncall/README-0"}


def test_included_files_are_no_pages_that_a_large_deletion_counts(docs: Docs) -> None:
    docs.write("a.rst", "A\n=\n\n" + "".join(f".. include:: {n}.inc\n\n" for n in range(20)))
    for number in range(20):
        docs.write(f"{number}.inc", f"Shard {number} is here.\n")
    docs.ingest()

    docs.write("a.rst", "A\n=\n\nNothing more.\n")
    assert docs.ingest().deleted >= 20

    for path in ("a.rst", "pay.md", "ledger.md", "oncall/README.md"):
        docs.delete(path)
    with pytest.raises(LargeDeletion, match="4 of 4 pages"):
        docs.ingest()


def test_a_file_beside_a_page_of_its_name_keeps_its_own_ids(docs: Docs) -> None:
    docs.write("a.md", "# A\n\nWords.\n\n{{#include b}}\n")
    docs.write("b.md", "# B\n\nBee.\n")
    docs.write("b", "Cee.\n")

    docs.ingest()

    assert docs.ids() >= {"a-0", "b-0", "b_-0"}
    assert docs.ingest().unchanged == 6


def test_a_link_to_a_file_of_the_repository_is_followed(site: Docs, tmp_path: Path) -> None:
    (tmp_path / "secret.md").write_text("# Secret\n\nThe vault code is 4711.\n")
    site.write("README", "# Pager\n\nThe rotation begins on Mondays at 08:20.\n")
    site.write("site/other.md", "# Other\n\nNothing.\n")
    (site.folder / "site/index.md").symlink_to("../README")
    (site.folder / "site/alias.md").symlink_to("other.md")
    (site.folder / "site/out.md").symlink_to("../../secret.md")
    (site.folder / "site/absolute.md").symlink_to(tmp_path / "secret.md")
    (site.folder / "site/loop.md").symlink_to("loop.md")
    (site.folder / "site/folder.md").symlink_to("..")

    report = site.ingest()

    passage = first(site, "when does the rotation begin?")
    assert (passage.id, passage.lines) == ("../README-0", (1, 3))
    assert [place.path for place in passage.places] == ["index.md"]
    assert [place.path for place in page(site, "other").passages[0].places] == ["alias.md"]
    assert {info.path for info in site.index.documents()} == {"other.md", "../README"}
    assert {s.path for s in report.skipped} == {"out.md", "absolute.md", "loop.md", "folder.md"}
    assert site.ingest().unchanged == 2


def test_a_remote_is_asked_once_for_all_included_files(
    remote: DocsRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"../parts/{n}.inc" for n in range(12)]
    remote.write("docs/all.rst", "All\n===\n\n" + "".join(f".. include:: {n}\n\n" for n in names))
    for number in range(12):
        remote.write(f"parts/{number}.inc", f"Shard {number} holds {number * 37} rows.\n")
    (remote.work / "docs/start.md").symlink_to("../HELLO.md")
    remote.write("HELLO.md", "# Hello\n\nBegin with the pager.\n")
    remote.write("CODEOWNERS", "/parts/ @platform\n")
    remote.commit("parts", date="2024-05-02T10:00:00Z")
    trace = tmp_path / "trace"
    monkeypatch.setenv("GIT_TRACE", str(trace))
    docs = Docs(tmp_path)
    docs.settings = IndexSettings(
        docs_repo=remote.url, docs_root="docs", data_dir=tmp_path / "data"
    )

    report = docs.ingest()

    assert not report.warnings
    assert first(docs, "259 rows").id == "../parts/7.inc-0"
    assert page(docs, "../parts/7.inc").info.owner == "@platform"
    assert first(docs, "Begin with the pager").path == "../HELLO.md"
    fetches = trace.read_text().count("git fetch") if trace.is_file() else 0
    assert fetches < 10
    assert docs.ingest().unchanged == report.chunks


def test_a_local_file_that_git_ignores_is_not_included(site: Docs) -> None:
    site.write("site/a.rst", "A\n=\n\n.. literalinclude:: ../.env\n")
    site.write(".env", "LEVEL=3\n")
    site.write(".gitignore", ".env\n")
    git(site.folder, "init", "--quiet")

    report = site.ingest()

    assert [info.path for info in site.index.documents()] == ["a.rst"]
    assert "git ignores it" in report.warnings[0]


@pytest.mark.parametrize("path", [".env", ".ssh/id.inc", "parts/.keys/all.inc"])
@pytest.mark.parametrize("place", ["no git", "beside git", "committed"])
def test_a_hidden_file_is_included_only_if_a_commit_has_it(
    docs: Docs, path: str, place: str
) -> None:
    docs.write("home.rst", f"Home\n====\n\n.. include:: /{path}\n")
    if place != "no git":
        git(docs.folder, "init", "--quiet")
    if place == "committed":
        docs.write(path, "The hidden word is walrus.\n")
    if place != "no git":
        git(docs.folder, "add", "--all")
        git(docs.folder, "commit", "--quiet", "--message", "docs")
    docs.write(path, "The hidden word is walrus.\n")

    report = docs.ingest()

    is_read = [p.path for p in docs.search("walrus").passages if "walrus" in p.text] == [path]
    assert is_read == (place == "committed")
    assert any("dot name" in warning for warning in report.warnings) != is_read


def test_an_edited_included_file_has_no_link_to_the_commit(site: Docs) -> None:
    site.write("site/a.rst", "A\n=\n\n.. literalinclude:: ../b.ini\n")
    site.write("b.ini", "one = 1\n")
    git(site.folder, "init", "--quiet")
    git(site.folder, "add", ".")
    git(site.folder, "commit", "--quiet", "-m", "docs")
    assert not site.ingest().revision.endswith("+local")

    site.write("b.ini", "one = 2\n")

    assert site.ingest().revision.endswith("+local")


def test_collections_hold_what_their_pages_show_and_no_more(docs: Docs) -> None:
    docs.write(
        "open/a.rst",
        "A\n=\n\n.. include:: /parts/all.inc\n\n.. include:: /parts/two.inc\n   :end-line: 1\n",
    )
    docs.write(
        "closed/b.rst", "B\n=\n\n.. include:: /parts/two.inc\n\n.. include:: /parts/own.inc\n"
    )
    docs.write("parts/all.inc", "The open number is 11.\n")
    docs.write("parts/two.inc", "The first number is 12.\nThe hidden number is 13.\n")
    docs.write("parts/own.inc", "The closed number is 14.\n")
    docs.ingest()
    collections = {
        "open": DocsCollection(description="Part", paths=("open/**",)),
        "closed": DocsCollection(description="Part", paths=("closed/**",)),
    }
    index = open_index(docs.settings, docs.embedder, collections)
    scoped = index.within(["open"])

    paths = {passage.path for passage in scoped.search("number").passages}

    assert paths == {"open/a.rst", "parts/all.inc"} == {i.path for i in scoped.documents()}
    assert scoped.document("parts/own.inc") is None
    whole = scoped.document("open/a.rst")
    assert whole is not None
    assert [p.path for p in whole.passages] == ["open/a.rst", "parts/all.inc"]
    assert not scoped.passages(["parts/two.inc-0"])
    assert {i.path for i in index.within(["closed"]).documents()} == {
        "closed/b.rst",
        "parts/two.inc",
        "parts/own.inc",
    }
    assert [(c.name, c.documents) for c in index.collections()] == [("open", 2), ("closed", 3)]
    assert not any(p.places for p in scoped.search("number").passages if p.path == "open/a.rst")
    index.close()


def test_asciidoc_names_regions_lines_and_attributes() -> None:
    text = (
        ":dir: shared\n\ninclude::{dir}/quota.adoc[tags=a;!b]\n----\n"
        "include::example$pool.yaml[lines=2..4;7..-1]\n----\n\\include::no.adoc[]\n"
        "////\ninclude::comment.adoc[]\n////\ninclude::{unset}/z.adoc[opts=optional]"
    )
    lines = tuple(text.split("\n"))
    code = FileBlock("code", 3, 6)
    parsed = ParsedFile(cast("Any", "asciidoc"), lines, (code,))

    assert [
        (i.line, i.target, i.part.names, i.part.ranges, i.is_literal, i.is_certain)
        for i in includes_of(lines, parsed)
    ] == [
        (3, "shared/quota.adoc", ("a", "!b"), (), False, True),
        (5, "example$pool.yaml", (), ((1, 4), (6, None)), True, True),
        (11, "{unset}/z.adoc", (), (), False, False),
    ]


def test_files_that_multiply_are_read_once_each(docs: Docs) -> None:
    names = [f"{n}.inc" for n in range(40)]
    everything = "".join(f".. include:: {name}\n\n" for name in names)
    docs.write("a.rst", f"A\n=\n\n{everything}")
    for number, name in enumerate(names):
        docs.write(name, f"Bomb {number} ticks.\n\n{everything}")

    docs.ingest()

    whole = [passage.path for passage in page(docs, "a.rst").passages]
    assert sorted(whole) == sorted(["a.rst", *whole[1:]])
    assert len(set(whole)) == 41
    assert docs.ingest().unchanged == len(docs.ids())


def test_an_included_file_of_definitions_alone_is_no_fault(docs: Docs) -> None:
    docs.write("a.rst", "A\n=\n\nWords.\n\n.. include:: b.inc\n")
    docs.write("b.inc", ".. _github: https://github.com/acme\n\n.. A remark.\n")

    assert not docs.ingest().warnings
