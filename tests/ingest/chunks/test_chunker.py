"""Chunks: they cover the page in order, fit the embedder, and keep related lines together."""

import hashlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunks.chunker import TARGET, chunk_document, chunk_prefix
from ingest.documents import Chunk
from ingest.readers.loader import UnreadableDocument, load

LINES = st.sampled_from(
    [
        "", "", "# One", "## Two *x*", "### Three", "a sentence of several words.", "as follows:",
        "- item", "  - sub item", "1. step", "```sh", "```", "~~~", "    indented", "| a | b |",
        "| - | - |", "> quote", "<details>", "</details>", "<!-- note", "-->", "--- ", "===",
        "{{< note >}}", ":::tip", "!!! warning", "    body", "![alt](x.png)", "<div>x</div>",
        "import x", "word " * 400, "x" * 2000, "中文。" * 300, "`" * 7, "[a](b)", "\u200b",
        "\udcff", "&amp; <b", "\tx",
    ]
)  # fmt: skip
PAGES = st.lists(LINES, max_size=60).map("\n".join)
SUFFIXES = st.sampled_from([".md", ".mdx", ".rst", ".txt", ".html"])


def fits(text: str) -> bool:
    return len(text) <= 700


def chunks_of(text: str, path: str = "page.md") -> list[Chunk]:
    return chunk_document(load(path, text.encode("utf-8", "replace")), fits)


def words(text: str) -> list[str]:
    return "".join(c if c.isalnum() else " " for c in text).split()


@given(PAGES)
def test_the_chunks_of_a_text_file_hold_all_its_words_in_order(text: str) -> None:
    try:
        chunks = chunks_of(text, "page.txt")
    except UnreadableDocument:
        return
    joined = "".join(words("".join(chunk.text for chunk in chunks)))
    stored = text.encode("utf-8", "replace").decode().replace("\u200b", "")
    assert joined == "".join(words(stored))


@given(PAGES, SUFFIXES)
def test_chunks_are_numbered_in_order_and_are_the_same_each_time(text: str, suffix: str) -> None:
    try:
        chunks = chunks_of(text, "page" + suffix)
    except UnreadableDocument:
        return
    base = chunk_prefix("page" + suffix)
    assert [chunk.id for chunk in chunks] == [f"{base}-{n}" for n in range(len(chunks))]
    assert chunks == chunks_of(text, "page" + suffix)
    starts = [chunk.lines[0] for chunk in chunks]
    assert starts == sorted(starts)
    assert all(1 <= c.lines[0] <= c.lines[1] <= text.count("\n") + 1 for c in chunks)


@given(PAGES, SUFFIXES)
def test_every_chunk_has_words_and_fits_the_embedder(text: str, suffix: str) -> None:
    try:
        chunks = chunks_of(text, "page" + suffix)
    except UnreadableDocument:
        return
    assert all(chunk.text.strip() and chunk.search_text for chunk in chunks)
    assert [chunk.id for chunk in chunks if not fits(chunk.embed_text)] == []


@given(PAGES)
def test_a_markdown_chunk_stands_on_the_lines_it_names(text: str) -> None:
    try:
        chunks = chunks_of(text)
    except UnreadableDocument:
        return
    source = text.encode("utf-8", "replace").decode().replace("\u200b", "").split("\n")
    for chunk in chunks:
        first, last = chunk.lines
        stored = "".join(words("\n".join(source[first - 1 : last])))
        for line in chunk.text.split("\n"):
            assert "".join(words(line)) in stored or line in source


@given(st.binary(max_size=300), st.sampled_from([".md", ".rst", ".html", ".ipynb", ".txt"]))
def test_any_bytes_become_chunks_or_a_reason(data: bytes, suffix: str) -> None:
    try:
        outcome = [chunk.text for chunk in chunk_document(load("page" + suffix, data), fits)]
    except UnreadableDocument as unreadable:
        outcome = [unreadable.reason]
    assert all(outcome)
    assert outcome


def test_a_short_page_is_one_chunk_with_its_exact_lines() -> None:
    (chunk,) = chunks_of("---\ntitle: Limits\n---\n\n# Limits\n\nThe limit is 400 rps.\n", "a/b.md")
    assert (chunk.id, chunk.lines, chunk.heading) == ("a/b-0", (5, 7), ("Limits",))
    assert chunk.text == "# Limits\n\nThe limit is 400 rps."
    assert chunk.embed_text == "Limits\nLimits\nThe limit is 400 rps."


def test_a_chunk_never_reaches_into_the_next_section() -> None:
    chunks = chunks_of("# A\n\none\n\n## B\n\ntwo\n\n## C\n\nthree\n")
    assert [(c.heading, c.lines) for c in chunks] == [
        (("A",), (1, 3)),
        (("A", "B"), (5, 7)),
        (("A", "C"), (9, 11)),
    ]


def test_a_heading_without_text_goes_with_the_section_below_it() -> None:
    (chunk,) = chunks_of("# A\n\n## B\n\ntext\n")
    assert (chunk.heading, chunk.lines) == (("A", "B"), (1, 5))


def test_a_fence_stays_whole_while_it_fits() -> None:
    code = "\n".join(f"step_{n}" for n in range(40))
    chunks = chunks_of(f"# T\n\n{'words ' * 60}\n\n```sh\n{code}\n```\n\n{'words ' * 60}\n")
    assert [chunk for chunk in chunks if f"```sh\n{code}\n```" in chunk.text]


def test_parts_of_a_large_fence_open_and_close_it_again_on_true_lines() -> None:
    code = [f"run_step_{n:03d} --target host-{n:03d}.example.com" for n in range(60)]
    chunks = chunks_of("\n".join(["# T", "", "```bash", *code, "```"]))
    assert len(chunks) > 3
    assert all(chunk.text.endswith("```") and "```bash\n" in chunk.text for chunk in chunks)
    assert all("```" not in chunk.search_text for chunk in chunks)
    second = chunks[1]
    assert second.text.split("\n")[1] == code[second.lines[0] - 4]


def test_parts_of_a_large_table_repeat_its_head() -> None:
    rows = [f"| service-{n:02d} | team-{n:02d} | {n * 10} |" for n in range(80)]
    chunks = chunks_of("\n".join(["| Service | Owner | Limit |", "|---|---|---|", *rows]))
    assert len(chunks) > 3
    assert all(c.text.startswith("| Service | Owner | Limit |\n|---|---|---|\n|") for c in chunks)
    assert all("Owner" in chunk.search_text for chunk in chunks)
    assert chunks[1].text.split("\n")[2] == rows[chunks[1].lines[0] - 3]


def test_an_item_that_only_the_embedder_finds_too_long_is_cut_between_its_paragraphs() -> None:
    first, second = "before " * 50 + "all", "behind " * 50 + "all"
    text = f"1. {first}\n\n   {second}"
    assert len(text) < TARGET
    chunks = chunks_of(text)
    assert [first in chunk.text for chunk in chunks] == [True, False]
    assert [second in chunk.text for chunk in chunks] == [False, True]


@pytest.mark.parametrize("word", ["x", "QUJD+/", "deadbeef"])
@pytest.mark.parametrize("path", ["page.md", "page.txt"])
def test_a_file_encoded_as_letters_does_not_crowd_the_index(word: str, path: str) -> None:
    endless = (word * 300_000)[:300_000]
    chunks = chunks_of(f"# T\n\nBefore. {endless} After.\n\nBelow.\n", path)
    assert len(chunks) < 5
    joined = " ".join(chunk.text for chunk in chunks)
    assert all(part in joined for part in ("Before.", word * 40, "…", "After.", "Below."))


def test_a_sentence_that_introduces_a_block_stays_with_it() -> None:
    text = f"{'one ' * 100}\n\n{'two ' * 60}\n\nRun this:\n\n```\n{'three ' * 70}\n```\n"
    (chunk,) = [chunk for chunk in chunks_of(text) if "Run this:" in chunk.text]
    assert "three" in chunk.text


@pytest.mark.parametrize("label", ["Week 2: set up", "**Mitigation**", "What if it fails?"])
def test_a_line_that_heads_a_paragraph_stays_with_it(label: str) -> None:
    paragraph = "Several words in a sentence. " * 22
    _, second = chunks_of(f"{paragraph}\n\n{label}\n\n{paragraph}", "page.txt")
    assert second.text.startswith(label)


def test_a_sub_step_stays_with_its_step() -> None:
    steps = "\n".join(f"{n}. Step {n}: do it\n   - check {n}\n   - note {n}" for n in range(1, 60))
    chunks = chunks_of(f"# Steps\n\n{steps}\n")
    for n in range(1, 60):
        assert any(f"Step {n}: do it\n   - check {n}\n   - note {n}" in c.text for c in chunks)


@pytest.mark.parametrize("path", ["page.md", "page.adoc"])
def test_a_list_that_the_embedder_cannot_read_whole_is_cut_between_its_items(path: str) -> None:
    items = "".join(f"** Step {n}:{' remove logs' * 6}\n" for n in range(8))
    text = f"* The disk is full.\n{items}".rstrip()
    text = text.replace("** ", "  * ") if path == "page.md" else text
    assert len(text) < TARGET
    chunks = chunk_document(load(path, text.encode()), lambda text: len(text) <= 500)
    assert len(chunks) > 1
    assert [line for chunk in chunks for line in chunk.text.split("\n")] == text.splitlines()


def test_code_inside_a_list_is_searched_as_it_stands() -> None:
    (chunk,) = chunks_of("1. First:\n\n   ```sh\n   # list <all> *.log\n   ```\n\n2. *Second*\n")
    assert "# list <all> *.log" in chunk.search_text
    assert "```" not in chunk.search_text
    assert "2. Second" in chunk.search_text


def test_a_long_heading_is_shortened_where_it_would_crowd_out_the_text() -> None:
    heading = " ".join(f"word{n:03d}" for n in range(250))
    chunks = chunks_of(f"# {heading}\n\nText below.\n")
    assert any("Text below." in chunk.search_text for chunk in chunks)
    assert all(len(chunk.heading[0]) <= 160 for chunk in chunks)


@pytest.mark.parametrize(
    ("path", "prefix"),
    [
        ("oncall/README.md", "oncall/README"),
        ("limits.txt", "limits.txt"),
        ("guide.md/intro.md", "guide.md/intro"),
        ("page.mdx", "page.mdx"),
    ],
)
def test_ids_begin_with_the_path_without_its_md(path: str, prefix: str) -> None:
    assert chunk_prefix(path) == prefix


def code(number: int) -> str:
    """A line of forty hexadecimal digits."""
    return hashlib.sha256(str(number).encode()).hexdigest()[:40]


DUMPS = {
    "paragraphs": lambda n: f"{code(n)}\n\n",
    "list items": lambda n: f"- {code(n)}\n",
    "table rows": lambda n: f"| {code(n)} | {code(-n)} |\n" if n else "| a | b |\n| - | - |\n",
    "headings": lambda n: f"## {code(n)}\n\n",
    "headings with a word": lambda n: f"## {code(n)}\n\n{code(-n)[:9]} words\n\n",
    "lines": lambda n: f"{code(n)}\n",
}


@pytest.mark.parametrize("kind", DUMPS)
@pytest.mark.parametrize("suffix", [".md", ".txt"])
def test_a_dump_has_as_many_chunks_as_its_size_asks_for(kind: str, suffix: str) -> None:
    def reads_all(text: str) -> bool:
        """A digit is a token, as it nearly is for the embedding model."""
        return len(text) < 300

    page = "# Dump\n\n" + "".join(map(DUMPS[kind], range(5_000)))
    chunks = chunk_document(load(f"dump{suffix}", page.encode()), reads_all)
    assert len(chunks) <= 1.3 * len(page) / TARGET
    assert [c.id for c in chunks] == [
        f"dump{suffix.removesuffix('.md')}-{n}" for n in range(len(chunks))
    ]
    searched = "".join(chunk.search_text for chunk in chunks)
    assert all(code(number) in searched for number in range(1, 5_000))
    if suffix == ".md":
        assert {chunk.heading[0] for chunk in chunks} == {"Dump"}


def test_a_large_page_of_words_is_divided_until_the_embedder_reads_all_of_it() -> None:
    sections = (
        f"## Part {n}\n\n{'先重启支付服务，然后通知值班人员。' * 9}\n\n" for n in range(600)
    )
    page = "# Page\n\n" + "".join(sections)
    chunks = chunk_document(load("page.md", page.encode()), lambda text: len(text) < 150)
    assert all(len(chunk.embed_text) < 150 for chunk in chunks)


def test_a_long_glossary_is_not_a_dump() -> None:
    terms = (f"## Term {n}\n\n{'What this term means. ' * 21}\n\n" for n in range(600))
    chunks = chunks_of("# Glossary\n\n" + "".join(terms))
    assert [chunk.heading[-1] for chunk in chunks][-1] == "Term 599"
    assert len(chunks) == 600


def test_a_reference_of_many_short_sections_keeps_them_apart() -> None:
    entries = (
        f"## Option x{n}\n\nLimits the payouts of one account, in euros.\n\n" for n in range(900)
    )
    chunks = chunks_of("# Options\n\n" + "".join(entries))
    assert [chunk.heading[-1] for chunk in chunks] == [f"Option x{n}" for n in range(900)]
