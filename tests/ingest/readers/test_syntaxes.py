"""Pages as the tools of docs sites write them: what is text stays, what is not does not."""

import json

import pytest

from ingest.readers.loader import load
from tests.ingest.readers.test_loader import chunks_of, searched, shown


def headings(path: str, text: str) -> dict[str, tuple[str, ...]]:
    """Heading path by the last line of each chunk."""
    return {chunk.text.rstrip().split("\n")[-1]: chunk.heading for chunk in chunks_of(path, text)}


@pytest.mark.parametrize(
    "markup",
    [
        "{{< note >}}", "{% raw %}", "<b>x</b>", "**x**", "[a](b)", "&lt;", "<!-- c -->", "\\n",
        "{.Values}", "{{/* c */}}", "<script>x</script>",
    ],
)  # fmt: skip
def test_code_in_a_line_is_shown_and_searched_as_it_stands(markup: str) -> None:
    page = f"# Page\n\nWrite `{markup}` here, or ``{markup} ` ``.\n"
    assert f"`{markup}` here, or ``{markup} ` ``." in shown("a.md", page)
    assert f"`{markup}` here, or ``{markup} ` ``." in searched("a.md", page)


def test_the_words_of_a_shortcode_in_code_are_searched() -> None:
    page = 'Ask `{{< glossary_tooltip text="kubelet" term_id="x" >}}` first.\n'
    assert searched("a.md", page) == "Ask `kubelet` first."


@pytest.mark.parametrize(
    ("heading", "label"),
    [
        ("Restart {#restart .cls key='v'}", "Restart"),
        ("Restart { #restart }", "Restart"),
        (r"1\. Step \*one\* in C\#", "1. Step *one* in C#"),
        ("__Read this__ and _that_ in `__init__`", "Read this and that in __init__"),
        ("~~Old~~ new &amp; &notanentity;", "Old new & &notanentity;"),
        ("Ask <a@b.example> about up{job=1}", "Ask a@b.example about up{job=1}"),
    ],
)
def test_a_heading_is_what_its_reader_sees(heading: str, label: str) -> None:
    assert headings("a.md", f"# {heading}\n\ntext\n") == {"text": (label,)}


@pytest.mark.parametrize(
    "comment",
    [
        "{{/* unseen\n\nunseen */}}",
        "{{< comment >}}\nunseen\n{{< /comment >}}",
        "{% comment %} unseen {% endcomment %}",
        "<script setup>\nconst unseen = 1\n\n</script>",
        "<style>\n.unseen {}\n</style>",
        "[//]: # (unseen)",
        "[comment]: <> (unseen)",
    ],
)
def test_what_a_site_does_not_show_is_not_indexed(comment: str) -> None:
    page = f"# Page\n\nbefore\n\n{comment}\n\nafter\n\n```\n{comment}\n```\n"
    text = shown("a.md", page)
    assert text.startswith("# Page\n\nbefore")
    assert "\nafter\n" in text
    assert text.count("unseen") == comment.count("unseen")
    assert comment in text


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("{{< highlight sh >}}", "{{< /highlight >}}"),
        ("{% highlight sh linenos %}", "{% endhighlight %}"),
    ],
)
def test_a_tag_around_code_makes_it_code(opening: str, closing: str) -> None:
    page = f"# Page\n\n{opening}\n# no heading\n```\n\n<b>&lt;\n{closing}\n\n## Next\n\ntext\n"
    assert [chunk.heading for chunk in chunks_of("a.md", page)] == [("Page",), ("Page", "Next")]
    assert "# no heading\n```\n<b>&lt;" in searched("a.md", page)


@pytest.mark.parametrize("opening", ["{{< highlight sh >}}", "<script>", "{% comment %}"])
def test_what_is_never_closed_swallows_nothing(opening: str) -> None:
    assert "text" in shown("a.md", f"# Page\n\n{opening}\n\n## Next\n\ntext\n")


def test_what_an_mdx_page_exports_may_hold_blank_lines() -> None:
    module = "export const Note = () => {\n  const unseen = 1;\n\n  return unseen;\n};"
    assert shown("a.mdx", f"{module}\n\n# Page\n\ntext\n") == "# Page\n\ntext"
    assert "text" in shown("a.mdx", "export const open = `{`;\n\n# Page\n\ntext\n")


def test_the_marks_of_a_merge_make_no_headings() -> None:
    page = "# Page\n\n<<<<<<< HEAD\nOurs.\n=======\nTheirs.\n>>>>>>> main\n\nEnd.\n"
    (chunk,) = chunks_of("a.md", page)
    assert chunk.text == page.strip()
    assert chunk.heading == ("Page",)


def test_json_front_matter_is_read_and_other_json_is_text() -> None:
    document = load("a.md", b'{\n  "title": "Pay",\n  "tags": ["x"]\n}\n\ntext\n')
    assert (document.title, document.tags) == ("Pay", ("x",))
    assert '"limit": 3' in shown("a.md", '{\n  "limit": 3\n}\n\ntext\n')


def test_headings_in_html_are_headings_of_a_markdown_page() -> None:
    page = '<h1 align="center">\n  <img alt="Logo"> Pay\n</h1>\n\nintro\n\n<h2>Run</h2>\nsteps\n'
    assert headings("a.md", page) == {"intro": ("Logo Pay",), "steps": ("Logo Pay", "Run")}
    assert load("a.md", page.encode()).title == "Logo Pay"


ROWS = "".join(f"<tr>\n<td>svc-{i}</td>\n<td>team-{i}</td>\n</tr>\n" for i in range(80))
HTML_TABLE = f"<table>\n<tr><th>Service</th><th>Owner</th></tr>\n{ROWS}</table>\n"
WIDE = (
    f"| Service{' ' * 150} | Owner{' ' * 150} |\n|{'-' * 160}|{'-' * 160}|\n"
    + "".join(f"| svc-{i} | team-{i} |\n" for i in range(80))
)  # fmt: skip


@pytest.mark.parametrize(
    ("path", "table"), [("a.md", HTML_TABLE), ("a.html", HTML_TABLE), ("a.md", WIDE)]
)
def test_every_part_of_a_large_table_names_its_columns(path: str, table: str) -> None:
    chunks = chunks_of(path, table)
    assert len(chunks) > 1
    for chunk in chunks:
        assert "Service" in chunk.text
        assert "Owner" in chunk.search_text


def test_a_row_that_only_begins_with_a_heading_names_no_columns() -> None:
    row = '<tr>\n<th scope="row">svc-{}</th>\n<td>team</td>\n</tr>\n'
    rows = "".join(map(row.format, range(80)))
    for path in ("a.md", "a.html"):
        assert shown(path, f"<table>\n{rows}</table>\n").count("svc-0") == 1


def test_html_that_is_not_displayed_is_not_indexed() -> None:
    page = (
        '<h2>Run <a class="headerlink" href="#run">¶</a></h2><p>seen</p>'
        '<p style="color:red; display: none">unseen</p><p hidden>unseen</p>'
    )
    assert headings("a.html", page) == {"seen": ("Run",)}
    assert "unseen" not in shown("a.html", page)


def test_half_a_character_in_an_escape_costs_only_itself() -> None:
    cells = [{"cell_type": "markdown", "source": "half \ud83d text"}]
    chunks = [
        *chunks_of("a.ipynb", json.dumps({"cells": cells})),
        *chunks_of("a.md", '---\ntitle: "half \\ud83d"\n---\ntext\n'),
        *chunks_of("a.html", "<p>half &#xD83D; text"),
    ]
    assert all(chunk.hash for chunk in chunks)
    assert "half ? text" in chunks[0].text


def test_a_notebook_hides_what_other_pages_hide_and_says_so() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabc\n-----END RSA PRIVATE KEY-----\n"
    cells = [
        {"cell_type": "heading", "level": 2, "source": ["Pay"]},
        {"cell_type": "code", "input": "pay\u200bments\r\n" + key},
        {"cell_type": "code", "source": None},
    ]
    data = json.dumps({"worksheets": [{"cells": cells}]}).encode()
    (chunk,) = chunks_of("a.ipynb", data)
    assert chunk.heading == ("Pay",)
    assert "payments\n-----BEGIN RSA" in chunk.text
    assert "MIIabc" not in chunk.text
    assert load("a.ipynb", data).masked_lines == (1,)
