"""Tables are cut between rows; each chunk names the columns and the row of what it holds."""

import re
from collections.abc import Callable, Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.chunks.chunker import TARGET, chunk_document
from ingest.documents import Chunk
from ingest.readers.loader import load

Cells = Sequence[Sequence[str]]
INSIDE = re.compile(r"[^<>]*>|[^<]*</?t[dh]\b|[^<]*</tr\b")


def chunks_of(text: str, path: str, longest: int = 1_000) -> list[Chunk]:
    return chunk_document(load(path, text.encode()), lambda text: len(text) <= longest)


def bars(rows: Cells) -> str:
    lines = ["| " + " | ".join(row) + " |" for row in rows]
    lines.insert(1, "|" + " --- |" * len(rows[0]))
    return "\n".join(lines)


def html(rows: Cells, glue: str = "") -> str:
    def row(tag: str, cells: Sequence[str]) -> str:
        inner = (f"<{tag}><b>{cell}</b></{tag}>" for cell in cells)
        return glue.join(["<tr>", *inner, "</tr>"])

    head, *body = rows
    parts = ["<table class='a > b'><thead>", row("th", head), "</thead><tbody>"]
    parts += [row("td", cells) for cells in body]
    return glue.join([*parts, "</tbody></table>"])


def blank_lines(rows: Cells) -> str:
    return html(rows, "\n").replace("</td>", "\n\n</td>")


def grid(rows: Cells) -> str:
    widths = [max(len(row[column]) for row in rows) + 2 for column in range(len(rows[0]))]
    rule = "+" + "+".join("-" * width for width in widths) + "+"
    lines = [rule]
    for number, row in enumerate(rows):
        lines.append(
            "|" + "|".join(f" {c}".ljust(w) for c, w in zip(row, widths, strict=True)) + "|"
        )
        lines.append(rule if number else rule.replace("-", "="))
    return "\n".join(lines)


def simple(rows: Cells) -> str:
    widths = [max(len(row[column]) for row in rows) for column in range(len(rows[0]))]
    rule = "  ".join("=" * width for width in widths)
    body = [
        "  ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)).rstrip() for row in rows
    ]
    return "\n".join([rule, body[0], rule, *body[1:], rule])


def list_table(rows: Cells) -> str:
    items = ["   * - " + "\n     - ".join(row) for row in rows]
    return "\n".join([".. list-table:: Things", "   :header-rows: 1", "", *items])


def csv_table(rows: Cells) -> str:
    lines = [", ".join(f'"{cell}, here"' for cell in row) for row in rows]
    head = [".. csv-table:: Things", f"   :header: {lines[0]}", ""]
    return "\n".join([*head, *(f"   {line}" for line in lines[1:])])


FORMS: dict[str, tuple[str, Callable[[Cells], str]]] = {
    "bars": ("page.md", bars),
    "HTML in one line": ("page.md", html),
    "HTML on many lines": ("page.md", lambda rows: html(rows, "\n")),
    "HTML with empty lines": ("page.md", blank_lines),
    "HTML page": ("page.html", lambda rows: html(rows, "\n")),
    "HTML page in one line": ("page.html", html),
    "grid": ("page.rst", grid),
    "grid in Markdown": ("page.md", grid),
    "simple": ("page.rst", simple),
    "list-table": ("page.rst", list_table),
    "csv-table": ("page.rst", csv_table),
}


@pytest.mark.parametrize("form", FORMS)
@given(
    columns=st.integers(2, 5),
    sizes=st.lists(st.integers(0, 90), min_size=1, max_size=12),
    before=st.sampled_from(["", "Text above the table."]),
)
def test_what_a_chunk_holds_of_a_table_comes_with_its_column_and_its_row(
    form: str, columns: int, sizes: list[int], before: str
) -> None:
    path, write = FORMS[form]
    rows = [[f"column{c}" for c in range(columns)]]
    for r, size in enumerate(sizes):
        rows.append([f"row{r}"])
        rows[-1] += [
            f"cell{r}x{c} " + "word " * (size * (c % 3)) + "end" for c in range(1, columns)
        ]
    chunks = chunks_of(f"{before}\n\n{write(rows)}\n\nText below.\n", path)
    words = [set(re.findall(r"\w+", chunk.search_text)) for chunk in chunks]
    for r in range(len(sizes)):
        for c in range(1, columns):
            holding = [own for own in words if f"cell{r}x{c}" in own]
            assert holding
            assert all({f"row{r}", f"column{c}"} <= own for own in holding)
    assert [chunk.text for chunk in chunks if INSIDE.match(chunk.text)] == []
    assert all(len(chunk.text) < 3 * TARGET for chunk in chunks)


@pytest.mark.parametrize("form", [form for form in FORMS if "csv" not in form])
def test_the_parts_of_a_cell_come_with_its_column_and_its_row(form: str) -> None:
    path, write = FORMS[form]
    long = " ".join(f"word{n}" for n in range(240))
    rows = [["Plan", "Price", "Notes"], ["small", "free", long], ["large", "7 euro", "none"]]
    chunks = chunks_of(f"{write(rows)}\n", path)
    holding = [chunk for chunk in chunks if re.search(r"word\d", chunk.search_text)]
    assert len(holding) > 1
    assert all("small" in c.search_text and "Notes" in c.search_text for c in holding)
    found = re.findall(r"word\d+", " ".join(chunk.search_text for chunk in holding))
    assert set(found) == set(long.split())


def test_both_rows_of_a_head_are_repeated() -> None:
    body = [[f"plan{n}", f"{n} cores", f"{n} GB of memory that is fast"] for n in range(60)]
    nameless = bars([["Plan", "Limits", ""], ["", "CPU", "Memory"], *body])
    bold = bars([["", "", ""], ["**Plan**", "**CPU**", "**Memory**"], *body])
    above = "| | Limits | CPU |\n" + bars([["Plan", "CPU", "Memory"], *body])
    in_html = html([["Plan", "CPU"], *[[a, b] for a, b, _ in body]]).replace(
        "</thead>", "<tr><th></th><th>Memory</th></tr></thead>"
    )
    for text, path in (
        (nameless, "page.md"),
        (bold, "page.md"),
        (above, "page.md"),
        (in_html, "page.md"),
        (in_html, "page.html"),
    ):
        chunks = chunks_of(text, path)
        assert len(chunks) > 1
        for word in ("Plan", "CPU", "Memory"):
            assert all(word in chunk.search_text for chunk in chunks)


def test_a_row_of_values_under_the_head_is_not_part_of_it() -> None:
    rows = [["Plan", "CPU"], *[[f"plan{n}", "many cores in one machine"] for n in range(60)]]
    chunks = chunks_of(bars(rows), "page.md")
    assert [chunk for chunk in chunks[1:] if re.search(r"plan0\b", chunk.text)] == []


def test_cells_are_shown_without_the_blanks_that_align_them() -> None:
    rows = [("Name", "Value"), *((f"n{n}", "a  b") for n in range(9))]
    lines = [f"| {name:<110} | {value:^110} |" for name, value in rows]
    lines.insert(1, f"| :{'-' * 109} | {'-' * 110} |")
    (chunk,) = chunks_of("\n".join(lines), "page.md")
    assert chunk.text.split("\n")[:3] == ["| Name | Value |", "| :--- | --- |", "| n0 | a  b |"]
    assert chunk.lines == (1, 11)
    (in_org,) = chunks_of("\n".join(lines).replace(" | -", " + -"), "page.org")
    assert "| n8 | a  b |" in in_org.text


def test_a_long_head_is_shortened_by_its_cells() -> None:
    names = [f"name{n} of a column with a long description of its values" for n in range(12)]
    rows = [names, *[[f"v{r}x{n}" for n in range(12)] for r in range(40)]]
    chunks = chunks_of(bars(rows), "page.md")
    for chunk in chunks[1:]:
        assert all(f"name{n} of" in chunk.text for n in range(12))
        assert len(chunk.text) < 2 * TARGET
    joined = " ".join(chunk.text for chunk in chunks)
    assert all(name in joined for name in names)
    assert all(f"v{r}x{n}" in joined for r in range(40) for n in range(12))


def test_a_head_that_the_embedder_cannot_read_leaves_room_for_rows() -> None:
    rows = [["一段很长的列名" * 8] * 4, *[[f"v{n}", "值", "值", "值"] for n in range(60)]]
    chunks = chunks_of(bars(rows), "page.md", longest=150)
    assert all(len(chunk.embed_text) <= 150 for chunk in chunks)
    joined = " ".join(chunk.text for chunk in chunks)
    assert all(f"v{n} " in joined for n in range(60))


def test_a_chunk_of_rows_stands_on_their_lines() -> None:
    rows = [["Service", "Owner"], *[[f"service{n}", f"team {n} of many teams"] for n in range(80)]]
    for write, path in (
        (bars, "page.md"),
        (lambda r: html(r, "\n"), "page.md"),
        (grid, "page.rst"),
    ):
        lines = write(rows).split("\n")
        for chunk in chunks_of("\n".join(lines), path):
            first, last = chunk.lines
            own = re.findall(r"service\d+", chunk.text)
            assert own == re.findall(r"service\d+", "\n".join(lines[first - 1 : last]))


def test_cells_keep_their_lists_and_links_whole() -> None:
    items = "".join(f"<li>Item {n} of the list</li>" for n in range(8))
    link = '<a href="a (1) page.md" title="x">a link</a>'
    body = [[f"plan{n}", f"<ul>{items}</ul>", link] for n in range(20)]
    for chunk in chunks_of(html([["Plan", "Holds", "Cover"], *body]), "page.md"):
        assert chunk.text.count("<ul>") == chunk.text.count("</ul>")
        assert chunk.text.count("<a ") == chunk.text.count("</a>")
        assert not {"<", ">", "href"} & set(re.findall(r"[<>]|\w+", chunk.search_text))


def test_two_tables_keep_their_own_heads() -> None:
    one = html([["Name", "Size"], *[[f"one{n}", "words " * 20] for n in range(20)]])
    two = html([["Key", "Value"], *[[f"two{n}", "words " * 20] for n in range(20)]])
    for chunk in chunks_of(f"{one}{two}", "page.md"):
        assert ("one" in chunk.search_text) <= ("Size" in chunk.search_text)
        assert ("two" in chunk.search_text) <= ("Value" in chunk.search_text)


def test_tags_in_prose_are_no_table() -> None:
    prose = "Write `<table>` and `<tr>` in the template. " * 60
    chunks = chunks_of(f"# T\n\n{prose}\n\nAfter.\n", "page.md")
    assert sum(chunk.text.count("template.") for chunk in chunks) == 60
