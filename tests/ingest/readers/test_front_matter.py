"""Front matter of any content costs at most its own values, never the page or its neighbours."""

import re
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ingest.documents import IngestReport
from ingest.index import open_index
from ingest.pipeline.run import run_ingest
from ingest.readers.front_matter import DATE_KEYS, OWNER_KEYS, TAG_KEYS, TITLE_KEYS
from ingest.readers.loader import load
from ingest.settings import IndexSettings
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.readers.test_loader import chunks_of

keys = st.sampled_from(
    [*OWNER_KEYS, *TAG_KEYS, *DATE_KEYS, *TITLE_KEYS, "x", "<<", "=", "? a", "1"]
)
zones = st.sampled_from(["", "Z", " -5", "+14:00", "-14:00", "+99:99", "+24", " +0:0", "+00:00:30"])
days = st.sampled_from(
    ["0000-00-00", "0001-01-01", "0001-1-2", "9999-12-31", "9999-12-30", "2024-02-30", "2026-99-99"]
)
hours = st.sampled_from(["", "T00:00:00", " 23:59:59.999999", "T24:00:00", "t00:00:60.1", " 00:00"])
dates = st.builds("{}{}{}".format, days, hours, zones) | st.datetimes().map(str)
LONG = {"①": "9" * 4_301, "②": "f" * 5_000, "③": ":0" * 5_000}
"""What stands for it while examples are made: hypothesis shows them."""
numbers = st.one_of(
    st.builds(
        "{}{}".format,
        st.sampled_from(["", "-", "0x", "0b", "0o", "1e", "1_", ".", "1"]),
        st.sampled_from(["0", "1", "7f", *LONG]),
    ),
    st.sampled_from([".inf", "-.inf", ".nan", "nan", "inf", "1e999", "1:60.5", "Infinity", "NaN"]),
)
tagged = st.builds(
    "{} {}".format,
    st.sampled_from(
        [
            *("!!int", "!!float", "!!bool", "!!null", "!!binary", "!!timestamp", "!!set", "!!omap"),
            *("!!pairs", "!!merge", "!!seq", "!!map", "!!python/object/apply:os.system", "!x"),
            *("!!python/name:os.system", "!<tag:a,b:c>", "&a *a", "!", "|+9", ">"),
        ]
    ),
    st.one_of(dates, numbers, st.sampled_from(["", "x", "[a]", "{a: b}", "=="])),
)
scalars = st.one_of(
    dates,
    numbers,
    tagged,
    st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=20),
    st.sampled_from(["~", "yes", "''", '"\\ud800\\0"', "a, b", "- a", "<<", "{{ .Date }}", "%TAG"]),
)
values = st.recursive(
    scalars | scalars.map('"{}"'.format),
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map(lambda items: f"[{', '.join(items)}]"),
        st.dictionaries(inner, inner, max_size=3).map(
            lambda pairs: "{" + ", ".join(f"{key}: {value}" for key, value in pairs.items()) + "}"
        ),
    ),
    max_leaves=6,
)
FORMS = (
    ("---\n", "{}: {}\n", "---\n"),
    ("+++\n", "{} = {}\n", "+++\n"),
    ("{\n", '"{}": {},\n', "}\n"),
)


@st.composite
def pages(draw: st.DrawFn) -> str:
    """A page with a line of text under its front matter."""
    opening, field, closing = draw(st.sampled_from(FORMS))
    pairs = draw(st.lists(st.tuples(keys | scalars, values), max_size=6))
    front = "".join(field.format(key, value) for key, value in pairs)
    if opening == "{\n":
        front = front.rstrip(",\n") + "\n"
    return f"{opening}{front}{closing}\n# Pay\n\nRestart the payout worker first.\n"


def at_full_length(page: str) -> str:
    return re.sub(f"[{''.join(LONG)}]", lambda short: LONG[short[0]], page)


@given(pages())
def test_a_page_is_read_whatever_its_front_matter_holds(page: str) -> None:
    page = at_full_length(page)
    document = load("a.md", page.encode())
    assert "Restart the payout worker first." in document.parsed.lines
    assert document.title.encode()
    assert len(document.title) <= len(page)
    if document.date:  # it can be shown in any zone
        assert document.date.astimezone().tzinfo


def ingest(folder: Path, texts: list[str]) -> IngestReport:
    (folder / "docs").mkdir()
    for number, text in enumerate(texts):
        (folder / "docs" / f"{number}.md").write_bytes(text.encode())
    given = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    embedder = HashingEmbedder()
    return run_ingest(given, open_index(given, embedder), embedder)


@settings(max_examples=15)
@given(st.lists(pages(), min_size=1, max_size=20))
def test_pages_with_any_front_matter_are_all_indexed(texts: list[str]) -> None:
    with tempfile.TemporaryDirectory() as folder:
        report = ingest(Path(folder), [at_full_length(text) for text in texts])
    assert (report.documents, report.skipped) == (len(texts), ())


@pytest.mark.parametrize(
    ("front", "key"),
    [
        ('---\ndate: "0001-01-01T00:00:00+14:00"\n---', "date"),
        ("---\nupdated: 9999-12-31T23:00:00-05:00\n---", "updated"),
        ("---\nlastmod: 2024-02-30\n---", "lastmod"),
        ("+++\ndate = 0001-01-01T00:00:00+14:00\n+++", "date"),
    ],
)
def test_a_date_that_no_calendar_has_costs_the_date_and_is_warned_of(
    tmp_path: Path, front: str, key: str
) -> None:
    title = "title: Pay\n" if front.startswith("---") else 'title = "Pay"\n'
    fence = front[:4]
    page = front.replace(fence, f"{fence}{title}", 1) + "\nBody.\n"
    document = load("a.md", page.encode())
    assert (document.title, document.date) == ("Pay", None)
    report = ingest(tmp_path, [page, "# Other\n\nText.\n"])
    assert report.documents == 2
    [warning] = report.warnings
    assert warning.startswith("0.md is indexed without the date")
    assert f"({key}: " in warning


@pytest.mark.parametrize(
    "text", ["0x" + "f" * 5_000, "9" * 5_000, "1" + ":0" * 40_000, "1.10", "007", "1_000", "1e3"]
)
def test_a_value_is_taken_as_it_is_written(text: str) -> None:
    document = load("a.md", f"---\ntitle: {text}\nowner: [{text}]\n---\nBody.\n".encode())
    assert (document.title, document.owner) == (text, text)


@pytest.mark.parametrize("text", ["~", "null", "yes", "", "!!binary aGk=", "!x y", "{a: b}", "[a]"])
def test_what_is_no_text_is_no_title(text: str) -> None:
    assert load("a.md", f"---\ntitle: {text}\n---\n# Head\n\nBody.\n".encode()).title == "Head"


def test_a_number_too_large_for_any_name_is_none() -> None:
    page = f"+++\ntitle = 0x{'f' * 5_000}\ntags = [0x{'f' * 5_000}, 7]\n+++\n# Head\n\nBody.\n"
    document = load("a.md", page.encode())
    assert (document.title, document.tags) == ("Head", ("7",))


def test_merged_fields_count_where_a_page_has_none_of_its_own() -> None:
    page = (
        "---\na: &a {owner: core, title: A}\nb: &b {<<: *a, title: B}\n<<: [*b, *a]\n"
        "date: 2001-12-14t21:59:43.10-05:00\n---\nBody.\n"
    )
    document = load("a.md", page.encode())
    assert (document.owner, document.title) == ("core", "B")
    assert document.date == datetime(2001, 12, 15, 2, 59, 43, 100_000, tzinfo=UTC)


@pytest.mark.parametrize("joint", ["<<: [{}]", "x: [{}]", "tags: [{}]"])
def test_aliases_of_aliases_do_not_multiply(joint: str) -> None:
    lines = ["a0: &a0 {owner: core}"]
    for level in range(1, 40):
        names = ", ".join([f"*a{level - 1}"] * 9)
        lines.append(f"a{level}: &a{level} {{{joint.format(names)}}}")
    page = "\n".join(["---", *lines, "<<: *a39", "---", "Body."])
    assert load("a.md", page.encode()).owner == ("core" if joint[0] == "<" else None)


def test_a_long_text_named_many_times_is_kept_once() -> None:
    page = f"---\na: &a {'x' * 50_000}\ntags: [{'*a, ' * 30_000}]\n---\nBody.\n"
    assert load("a.md", page.encode()).tags == ("x" * 50_000,)


def test_front_matter_longer_than_any_stays_text() -> None:
    page = f"+++\na{'.a' * 100_000} = 1\n+++\nBody.\n"
    document = load("a.md", page.encode())
    assert document.parsed.lines[1].startswith("a.a.a")


@pytest.mark.parametrize(
    ("path", "front", "shown"),
    [
        ("a.md", "---\ntitle: Locks\ndescription: It ends after 25 minutes.\n---", (3, 3)),
        ("a.mdx", "---\nsummary: >\n  It ends\n  after 25 minutes.\n# who\nowner: a\n---", (2, 4)),
        ("a.md", '+++\ntitle = "Locks"\nexcerpt = "It ends after 25 minutes."\n+++', (3, 3)),
        ("a.md", '{\n"title": "Locks",\n"lead": "It ends after 25 minutes."\n}', (3, 3)),
        ("a.html", "---\nabstract: 'It ends after 25 minutes.'\n---", (2, 2)),
    ],
)
@pytest.mark.parametrize("body", ["# Locks\n\nTake one.", "Take one.\n\n# Locks\n\nWrite."])
def test_a_description_is_shown_on_its_lines_at_the_head_of_the_first_section(
    path: str, front: str, shown: tuple[int, int], body: str
) -> None:
    page = f"{front}\n\n{body}\n"
    first = chunks_of(path, page)[0]
    start, end = shown
    lines = page.split("\n")[start - 1 : end]
    assert first.text.split("\n")[: len(lines)] == lines
    assert first.lines[0] == start
    assert "Take one." in first.text
    assert "after 25 minutes." in first.search_text
    for hidden in ("title", "owner", "---", "+++"):
        assert hidden not in first.text


def test_other_names_of_a_page_are_searched() -> None:
    page = (
        "---\naliases:\n  - /docs/old-lease\n  - Lease\n\nkeywords: [mutex]\n"
        "redirect_from: /lease.html\ntitle: Locks\n---\n# Locks\n\nTake one.\n"
    )
    (chunk,) = chunks_of("a.md", page)
    for name in ("/docs/old-lease", "Lease", "mutex", "/lease.html"):
        assert name in chunk.search_text
    assert (chunk.lines, chunk.heading) == ((2, 12), ("Locks",))


def test_very_many_names_of_a_page_do_not_fill_its_first_passage() -> None:
    names = "".join(f"  - /old/page-{number}\n" for number in range(200))
    (chunk,) = chunks_of("a.md", f"---\naliases:\n{names}keywords: lock\n---\nTake one.\n")
    assert chunk.text == "Take one."


@pytest.mark.parametrize("front", ["description:", "description: {a: b}", "description: ''"])
def test_a_description_without_words_is_not_shown(front: str) -> None:
    (chunk,) = chunks_of("a.md", f"---\n{front}\n---\nTake one.\n")
    assert chunk.text == "Take one."


def test_a_description_hides_no_credential() -> None:
    page = f"---\ndescription: use ghp_{'a1' * 20} to push\n---\nTake one.\n"
    assert chunks_of("a.md", page)[0].text.startswith("description: use [masked] to push")
    assert load("a.md", page.encode()).masked_lines == (2,)


def test_version_and_language_of_a_page_are_known() -> None:
    document = load("a.md", b"---\nversion: 1.10\nlang: pt-BR\n---\nText.\n")
    assert (document.version, document.language) == ("1.10", "pt-BR")
