"""Files: bytes of any kind become a document with what its front matter says, or a reason."""

import json
from datetime import UTC, datetime

import pytest

from ingest.chunks.chunker import chunk_document
from ingest.documents import Chunk
from ingest.readers.loader import UnreadableDocument, load


def chunks_of(path: str, text: str | bytes) -> list[Chunk]:
    data = text if isinstance(text, bytes) else text.encode()
    return chunk_document(load(path, data), lambda text: len(text) <= 1200)


def searched(path: str, text: str | bytes) -> str:
    return "\n".join(chunk.search_text for chunk in chunks_of(path, text))


def shown(path: str, text: str | bytes) -> str:
    return "\n".join(chunk.text for chunk in chunks_of(path, text))


def test_front_matter_gives_title_owner_tags_and_date_and_is_no_text() -> None:
    page = "---\ntitle: Pay\nowner: [core, pay]\ntags: a, b\nlastmod: 2026-03-01\n---\nBody.\n"
    document = load("p.md", page.encode())
    assert (document.title, document.owner, document.tags) == ("Pay", "core, pay", ("a", "b"))
    assert document.date == datetime(2026, 3, 1, tzinfo=UTC)
    (chunk,) = chunks_of("p.md", page)
    assert (chunk.text, chunk.lines) == ("Body.", (7, 7))


def test_toml_front_matter_is_read_too() -> None:
    document = load("p.md", b'+++\ntitle = "Deploy"\ndate = 2026-01-02T03:04:05Z\n+++\nBody.\n')
    assert document.title == "Deploy"
    assert document.date == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("lines", ["title: a: b\n\tx: [", "a: 'open", "a: " + "[" * 5000, "&a *b"])
def test_front_matter_that_is_not_valid_stays_text_and_makes_no_heading(lines: str) -> None:
    chunks = chunks_of("p.md", f"---\n{lines}\n---\n# H\n\nBody.\n")
    assert lines.split("\n")[0][:20] in chunks[0].text
    assert {chunk.heading for chunk in chunks} == {(), ("H",)}


@pytest.mark.parametrize(
    ("path", "text", "title"),
    [
        ("a/pay-runbook.md", "text", "pay runbook"),
        ("oncall/README.md", "text", "oncall"),
        ("README.md", "text", "README"),
        ("a.md", "## Sub\n\n# Top `x` {#id}\n\ntext", "Top x"),
        ("a.html", "<title>From\nHTML</title><p>x", "From HTML"),
        ("a.rst", "Top\n===\n\ntext", "Top"),
    ],
)
def test_a_title_comes_from_the_page_or_from_its_name(path: str, text: str, title: str) -> None:
    assert load(path, text.encode()).title == title


@pytest.mark.parametrize(
    "data",
    [
        "Größe: 40 €".encode(),
        "Größe: 40 €".encode("utf-8-sig"),
        "Größe: 40 €".encode("utf-16"),
        b"\xfe\xff" + "Größe: 40 €".encode("utf-16-be"),
        "Größe: 40 €".encode("utf-16-le") + "plain text follows".encode("utf-16-le"),
        "Größe: 40 €".encode("cp1252"),
    ],
)
def test_encodings_of_long_lived_trees_are_read(data: bytes) -> None:
    assert "Größe: 40 €" in shown("a.md", data)


def test_a_stray_byte_costs_one_character() -> None:
    assert shown("a.md", "é before ".encode() + b"\xff" + b" after") == "é before \ufffd after"


def test_utf_8_that_breaks_off_is_marked_and_not_read_as_western() -> None:
    assert shown("a.md", b"plain text \xe2\x80") == "plain text \ufffd"


def test_a_wrong_byte_in_a_western_page_costs_one_character() -> None:
    page = "„Größe“ und Länge\n" * 20
    text = shown("a.txt", page.encode("cp1252") + b"\x81 und Breite")
    assert "„Größe“ und Länge" in text
    assert text.endswith("\ufffd und Breite")


@pytest.mark.parametrize("encoding", ["cp1252", "utf-16-le", "utf-16-be"])
@pytest.mark.parametrize(
    "text",
    [
        "Übergröße",
        "À Noël, l’équipe — d’astreinte… — est là. Où ça\xa0? « Déjà créées »",
        "¿Qué pasó? ¡Mañana habrá migración! Señor Muñoz",
        "Þú verður sjálfur að uppfæra lyklana, það þýðir öryggi",
        "Hääyöaie ja määräys täyttyvät",
        "Størrelsen på køen ændres, når årsagen er åben",
        "geht´s? 5 W/m²K, col·lecció, 25 °C, ±5 µm, 40 €, Größe×Länge",
    ],
)
def test_western_text_is_read_however_many_accents_it_has(text: str, encoding: str) -> None:
    assert shown("a.txt", text.encode(encoding)) == text


@pytest.mark.parametrize(
    "page", ["{}", "Run `kubectl get pods`, see {}.\n", "# {0}\n\n- {0}\n" * 9]
)
@pytest.mark.parametrize(
    ("text", "encodings"),
    [
        ("Сначала проверьте службу", ["cp1251", "koi8-r", "iso8859-5", "mac-cyrillic"]),
        ("проверьте", ["cp1251", "koi8-r"]),
        ("Ελέγξτε πρώτα την υπηρεσία", ["cp1253", "iso8859-7"]),
        ("בדקו תחילה שהשירות פועל", ["cp1255"]),
        ("تحقق أولا من أن الخدمة تعمل", ["cp1256"]),
        ("Usługa działa, hasło było złe", ["cp1250", "iso8859-2"]),
        ("サービスを確認し、再起動します", ["shift-jis", "euc-jp"]),
        ("首先检查服务是否正在运行", ["gb18030"]),
        ("首先檢查服務是否正在運行", ["big5"]),
        ("먼저 서비스를 확인하십시오", ["euc-kr"]),
    ],
)
def test_another_encoding_is_refused_and_not_garbled(
    page: str, text: str, encodings: list[str]
) -> None:
    for encoding in encodings:
        with pytest.raises(UnreadableDocument, match="encoding: "):
            load("a.txt", page.format(text).encode(encoding))


def test_a_page_of_two_encodings_is_refused() -> None:
    page = "Größe prüfen. ".encode() + "Fünf Schlüssel, für später geändert. ".encode("cp1252")
    with pytest.raises(UnreadableDocument, match="encoding: "):
        load("a.txt", page)


def test_line_ends_of_every_kind_count_as_one_line() -> None:
    (chunk,) = chunks_of("a.md", "# A\r\n\r\none\rtwo\nthree")
    assert (chunk.text, chunk.lines) == ("# A\n\none\ntwo\nthree", (1, 5))


@pytest.mark.parametrize(
    ("path", "data", "reason"),
    [
        ("a.md", b"", "empty"),
        ("a.md", b" \n\t\n", "empty"),
        ("a.md", "\u00a0\u200b\n".encode(), "empty"),
        ("a.md", b"---\ntitle: x\n---\n", "empty"),
        ("a.md", b"<!-- nothing but a comment -->\n", "empty"),
        ("a.md", b"-" * 10_000, "empty"),
        ("a.md", b"\x89PNG\r\n\x1a\n....", "binary"),
        ("a.md", b"text\0more\0\1\2", "binary"),
        ("a.md", b"\0\1\2", "binary"),
        ("a.md", b"\0\1\0\2", "binary"),
        ("a.md", bytes(range(1, 256)) * 3, "binary"),
        ("a.md", "設定の手順書".encode("shift-jis") * 9, "encoding"),
        ("a.md", b"version https://git-lfs.github.com/spec/v1\noid sha256:1\n", "lfs"),
        ("a.png", b"x", "unsupported"),
        ("Makefile", b"x", "unsupported"),
        ("a.ipynb", b"{", "malformed"),
        ("a.ipynb", b'{"cells": 3}', "malformed"),
        ("a.ipynb", b"[" * 100_000, "malformed"),
    ],
)
def test_what_cannot_be_read_says_why(path: str, data: bytes, reason: str) -> None:
    with pytest.raises(UnreadableDocument) as caught:
        load(path, data)
    assert caught.value.reason.startswith(reason + ":")


def test_credentials_are_masked_on_their_lines_and_counted() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\nMIIdef\n-----END RSA PRIVATE KEY-----"
    page = f"# A\n\n```\n{key}\n```\n\ntoken ghp_{'a1' * 20} and AKIA{'A' * 16}\npassword = x\n"
    text = shown("a.md", page)
    assert "MIIabc" not in text
    assert "token [masked] and [masked]\npassword = x" in text
    assert load("a.md", page.encode()).masked_lines == (4, 10, 10)
    assert chunks_of("a.md", page)[0].lines == (1, 11)


def test_invisible_characters_are_gone_and_visible_joiners_stay() -> None:
    assert (
        shown("a.md", "pay\u200bments\u202e \U000e0041\ufeffnow \u2060👩‍🚀") == "payments now 👩‍🚀"
    )


def test_comments_are_not_shown_except_in_code() -> None:
    page = (
        "# A\n\nseen <!-- one -->\n<!--\n## Hidden\n-->\n\n`<!-- kept -->`\n\n"
        "```\n<!-- too -->\n```\n"
    )
    text = shown("a.md", page)
    assert "one" not in text
    assert "Hidden" not in text
    assert "`<!-- kept -->`" in text
    assert "<!-- too -->" in text


def test_a_comment_that_never_closes_hides_nothing() -> None:
    assert "still here" in searched("a.md", "# A\n\ntext <!-- open\n\nstill here\n")


def test_mdx_loses_modules_and_wrappers_but_no_text() -> None:
    page = (
        "import Tabs from '@theme/Tabs';\nexport const x = {\n  a: 1,\n};\n\n# Install\n\n"
        '<Tabs>\n  <TabItem value="mac" label="macOS">\n\n    Run `brew`.\n\n'
        "    ```sh\n    # not a heading\n    ```\n\n  </TabItem>\n</Tabs>\n\n{/* hidden */}\n"
        "import statements are explained below.\n"
    )
    text = shown("a.mdx", page)
    for gone in ("@theme", "export", "<Tabs", "</Tab", "hidden"):
        assert gone not in text
    for kept in ("macOS", "Run `brew`.", "import statements are explained below."):
        assert kept in text
    assert {chunk.heading for chunk in chunks_of("a.mdx", page)} == {("Install",)}


def test_a_placeholder_in_angle_brackets_is_text_unless_the_page_closes_it() -> None:
    page = "# Roll back\n\n<Service> is the name in `services.yaml`.\n\n<Note>Ask first.</Note>\n"
    text = shown("roll-back.md", page)
    assert "<Service> is the name" in text
    assert "Ask first." in text
    assert "<Note>" not in text


def test_tabs_and_admonitions_of_mkdocs_are_ordinary_markdown_inside() -> None:
    page = '=== "Linux"\n\n    ```sh\n    # comment\n    ```\n\n!!! warning "Mind"\n    Slow.\n'
    assert searched("a.md", page) == "Linux\n# comment\nWarning: Mind\nSlow."


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("![A diagram](x.png)", "A diagram"),
        ('<img src="x.png" alt="A diagram">', "A diagram"),
        ("See [the\nlimits](limits.md).", "See the\nlimits."),
        ("See [[Limits|the limits]].", "See the limits."),
        ("Use {{< glossary_tooltip text=\"a pod\" term_id=\"pod\" >}}.", "Use a pod."),
        ("> [!CAUTION]\n> Hot.", "Caution:\nHot."),
        ("a **bold** *word* &amp; `<code>`", "a bold word & `<code>`"),
        ("run with <pod-name>", "run with <pod-name>"),
        ("snake_case_name and __init__", "snake_case_name and __init__"),
    ],
)  # fmt: skip
def test_markup_is_searched_as_it_is_read(markup: str, words: str) -> None:
    assert searched("a.md", markup) == words


def test_rst_keeps_directives_and_drops_comments() -> None:
    page = (
        "=====\nTitle\n=====\n\n.. comment: not seen\n   nor this\n\n.. warning::\n   Hot.\n\n"
        "Part\n----\n\nRun::\n\n    # no heading\n\n.. tabs::\n\n   Unknown *kept*.\n\n"
        ".. raw:: html\n\n   <b>x</b>\n\n.. include:: /etc/passwd\n\nSee :ref:`other <o>`.\n"
    )
    chunks = chunks_of("a.rst", page)
    text = shown("a.rst", page)
    assert "not seen" not in text
    assert "nor this" not in text
    assert "root:" not in text
    assert "Warning:" in chunks[0].search_text
    assert "See other." in searched("a.rst", page)
    assert [(c.heading, c.lines) for c in chunks] == [
        (("Title",), (1, 9)),
        (("Title", "Part"), (11, 28)),
    ]


def test_html_gives_its_visible_text_under_its_headings() -> None:
    page = (
        "<html><head><title>T</title></head><body><nav>menu</nav>\n<h1>Top</h1>\n<p>One\n&amp; two"
        "<h2>Sub</h2><ul><li>a <code>x &lt; y</code><li>b</ul>\n<table><tr><th>K<th>V</tr>\n"
        "<tr><td>k<td>v</tr></table><pre>  keep\n  this</pre><script>no()</script></body></html>"
    )
    top, sub = chunks_of("a.html", page)
    assert (top.heading, top.lines, top.text) == (("Top",), (2, 4), "Top\n\nOne & two")
    assert sub.heading == ("Top", "Sub")
    assert sub.text == "Sub\n\n- a `x < y`\n- b\nK | V\nk | v\n  keep\n  this"


def test_html_that_never_closes_its_tags_is_read_all_the_same() -> None:
    assert "word 2999" in searched("a.html", "".join(f"<p>word {n}" for n in range(3000)))


def test_a_notebook_is_its_markdown_and_code_on_the_lines_of_the_file() -> None:
    cells = [
        {"cell_type": "markdown", "source": ["# Capacity\n", "\n", "Nine days."]},
        {"cell_type": "code", "source": "# fit\nfit()", "outputs": [{"text": "secret output"}]},
        {"cell_type": "raw", "source": "raw"},
    ]
    data = json.dumps({"cells": cells, "metadata": {"language_info": {"name": "python"}}}, indent=1)
    (chunk,) = chunks_of("a.ipynb", data)
    assert chunk.text == "# Capacity\n\nNine days.\n\n```python\n# fit\nfit()\n```"
    lines = data.split("\n")
    assert "# Capacity" in lines[chunk.lines[0] - 1]
    assert "fit()" in lines[chunk.lines[1] - 1]
