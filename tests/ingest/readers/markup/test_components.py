"""What components and templates carry is shown as written, and searched without markup."""

import pytest

from ingest.readers.loader import load
from tests.ingest.readers.test_loader import chunks_of, searched, shown

PARAMETERS = """\
---
title: Evict
---

<ParamField query="grace_seconds" type="integer" default={30} required>
  How long the pod may finish its work.
</ParamField>

<ResponseField
  name="eviction_id"
  type="string"
>
  Asks for the state later.
</ResponseField>
"""


@pytest.mark.parametrize("path", ["evict.mdx", "evict.md"])
def test_a_parameter_is_shown_on_its_very_lines_and_searched_by_name_type_and_default(
    path: str,
) -> None:
    (chunk,) = chunks_of(path, PARAMETERS)
    first, last = chunk.lines
    lines = PARAMETERS.split("\n")[first - 1 : last]
    for shown_line in filter(None, chunk.text.split("\n")):
        assert shown_line in lines
    assert '<ParamField query="grace_seconds" type="integer" default={30} required>' in lines
    assert '  name="eviction_id"' in chunk.text.split("\n")
    assert "query grace_seconds, type integer, default 30, required" in chunk.search_text
    assert "eviction_id, type string" in chunk.search_text
    for markup in ("<", ">", "="):
        assert markup not in chunk.search_text


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ('<Tabs items={["pnpm", "yarn"]} groupId="pm">', "items pnpm yarn"),
        ("<Tabs values={[{label: 'Linux', value: {os: 'linux'}}]}>", "values Linux linux"),
        ('<Tab value="load > 80" label="Busy">', "load > 80, Busy"),
        ('<FileTree.File name="relay/config.yaml" />', "relay/config.yaml"),
        ('<Card title="Start" icon="rocket" href="/start" img="start.svg" cols={2}>', "Start"),
        ("<Card\n  className='wide'\n  title='Start'\n/>", "Start"),
        ("<Hint text={<>Drain <b>first</b></>} />", "Drain first"),
        ("<Hint text={`Port ${port} opens`} onClick={() => track('x')} />", "`Port ${port} opens`"),
        ('<sl-tab-panel name="fedora">', "fedora"),
        ('<procedure title="Drain the relay">', "Drain the relay"),
        ('<Callout title="A &amp; B" {...props} style={{color: "red"}}>', "A & B"),
    ],
)
def test_the_words_of_a_tag_are_its_values_without_presentation(tag: str, words: str) -> None:
    closing = "" if tag.endswith("/>") else f"\n</{tag[1:].split()[0]}>"
    page = f"Before.\n\n{tag}\n\nText.{closing}\n"
    for path in ("a.mdx", "a.md"):
        assert searched(path, page).split("\n")[1].strip() == words
        assert shown(path, page) == f"Before.\n\n{tag}\n\nText."


@pytest.mark.parametrize(
    "tag",
    [
        "<Tabs>", '<Grid cols={2} gap="4px" lazy>', '<Tabs groupId="os">',
        "<Card\n  wide\n  cols={3}\n>",
        '<div align="center" class="wide">', '<Image src="a.png" width={300}>',
    ],
)  # fmt: skip
def test_a_tag_that_carries_no_words_is_not_shown(tag: str) -> None:
    closing = f"</{tag[1:].rstrip('>').split()[0]}>"
    assert shown("a.mdx", f"{tag}\n\nText.\n\n{closing}\n") == "Text."


def test_markdown_below_a_component_is_markdown() -> None:
    page = '<Step title="Drain">\n## Drain it\n```sh\n# no heading\n```\n- item\n</Step>\n'
    assert {chunk.heading for chunk in chunks_of("a.mdx", page)} == {(), ("Drain it",)}
    assert searched("a.mdx", page) == "Drain\nDrain it\n# no heading\nitem"


def test_a_parameter_stays_with_its_description() -> None:
    field = '<ParamField path="name_{0}">\n\nIt is {1}.\n\n</ParamField>\n\n'
    page = "".join(field.format(number, "long " * 50) for number in range(20))
    chunks = chunks_of("a.mdx", page)
    assert len(chunks) > 5
    assert all(chunk.text.startswith("<ParamField") for chunk in chunks)
    assert all(chunk.text.endswith(".") for chunk in chunks)


@pytest.mark.parametrize(
    ("tag", "words"),
    [
        ('{% include note.html content="Open port 7444." %}', "Open port 7444."),
        ("{% include alert.html type='warning'\n  text='Drain first.' %}", "warning Drain first."),
        ('{% tab title="Fedora" %}', "Fedora"),
        ('{% hint style="info" %}', ""),
        ('{% if page.level == "beta" %}', ""),
        ("{% include partials/a.html %}", ""),
        ("{% include note.html content=the-variable %}", ""),
        ('{% include note.html content="Say \\"drain\\" first." %}', 'Say "drain" first.'),
        ('{{< tab "Fedora" >}}', "Fedora"),
        ('{{% param-field name="ttl" default="thirty" %}}', "ttl thirty"),
        ('{{< figure src="/a/b.png" caption="The relay" >}}', "The relay"),
        ("{{< badge Beta >}}", "Beta"),
        ('{{< readfile file="limits.md" >}}', ""),
        (
            '{{< state version="v1.26" host="db-1.internal" url="TCP/UDP" ports="TCP/UDP" >}}',
            "v1.26 db-1.internal TCP/UDP",
        ),
        ('{{< show include="/a/b" part="x/y.conf.md" >}}', ""),
    ],
)
def test_the_words_of_a_template_are_its_parameters(tag: str, words: str) -> None:
    page = f"# Relay\n\n{tag}\n\nText.\n"
    assert shown("a.md", page) == page.strip()
    assert searched("a.md", page) == "\n".join(filter(None, ("Relay", words, "Text.")))


@pytest.mark.parametrize(
    ("opening", "words"),
    [
        (":::{dropdown} Why it fails", "Why it fails"),
        ('::: {.callout-note title="Mind the gap"}', "Mind the gap"),
        ("::: {.columns}", ""),
        ("::::tip Drain first", "Tip: Drain first"),
    ],
)
def test_the_title_of_a_block_between_colons_is_searched(opening: str, words: str) -> None:
    page = f"Before.\n\n{opening}\ntext\n:::\n\n{opening}\ntext\n:::\n"
    expected = "\n".join(filter(None, ("Before.", words, "text", words, "text")))
    assert searched("a.md", page) == expected


def test_tags_of_a_tool_that_are_written_small_are_wrappers_where_they_are_closed() -> None:
    page = "<tip>\n\nCareful.\n\n</tip>\n\n<host> is a name.\n"
    assert shown("a.md", page) == "Careful.\n\n<host> is a name."
    assert searched("a.md", page) == "Careful.\n<host> is a name."


TABLE = (
    "# Limits\n\n<table>\n<tr><th>Limit</th><th>Value</th></tr>\n"
    "<tr><td>Queue <a href='q.md'>length</a></td>\n<td><code>&lt;400&gt;</code></td></tr>\n"
    "</table>\n\n<dl><dt>PAY-1</dt><dd>Too low.</dd><dt>PAY-2</dt>\n<dd>Too high.</dd></dl>\n"
)


def test_a_table_in_html_is_shown_as_rows_on_the_lines_of_the_file() -> None:
    (chunk,) = chunks_of("a.md", TABLE)
    assert [line for line in chunk.text.split("\n") if line] == [
        "# Limits",
        "Limit | Value",
        "Queue <a href='q.md'>length</a> | `<400>`",
        "PAY-1: Too low.",
        "PAY-2: Too high.",
    ]
    assert chunk.lines == (1, 10)
    assert "Queue length" in chunk.search_text


def test_a_table_on_one_line_is_cut_between_rows_that_name_their_columns() -> None:
    row = "<tr><td>Plan{0}</td><td>{1}</td><td>{0}0 euro</td></tr>"
    rows = "".join(row.format(n, "For teams of any size. " * 9) for n in range(9))
    head = "<thead><tr><th>Plan</th><th>For</th><th>Price</th></tr></thead>"
    page = f"# Plans\n\nWhat they cost.\n\n<table>{head}<tbody>{rows}</tbody></table>\n\nEnd.\n"
    chunks = chunks_of("a.md", page)
    assert len(chunks) > 2
    for number in range(9):
        (holding,) = [chunk for chunk in chunks if f"Plan{number} |" in chunk.text]
        assert f"| {number}0 euro" in holding.text
        assert "Plan | For | Price" in holding.text
    assert {line for chunk in chunks[1:-1] for line in chunk.lines} == {5}
    assert chunks[-1].lines == (5, 7)


def test_markdown_inside_a_table_of_html_is_markdown() -> None:
    page = "<table><tr><td>\n\n**Bold**\n\n```\n<td>\n```\n\n</td></tr></table>\n\nafter <td>\n"
    assert [line for line in shown("a.md", page).split("\n") if line] == [
        "**Bold**", "```", "<td>", "```", "after <td>"
    ]  # fmt: skip


def test_a_page_with_a_table_in_html_includes_files_on_their_lines() -> None:
    page = (
        "<table><tr><td>Own</td></tr><tr><td>\n{{#include one.md}}\n</td></tr></table>\n\n"
        "## Below\n\n<!-- {{#include no.md}} -->\n{{#include two.md}}\n\n"
        "```\n{{#include no.md}}\n```\n"
    )
    includes = [
        (each.line, each.target, each.heading) for each in load("a.md", page.encode()).includes
    ]
    assert includes == [(2, "one.md", ()), (8, "two.md", ("Below",))]


@pytest.mark.parametrize(
    ("page", "text"),
    [
        ("Before <table><tr><td>a</td><td>b</td></tr></table> behind\n", "Before \na | b\n behind"),
        ("> <table>\n> <tr><td>a</td>\n> <td>b</td></tr>\n> </table>\n", "> a | b"),
        ("<table>\n<tr><td\n  align='right'\n>a</td>\n<td>b\nc</td></tr>\n</table>\n", "a | b c"),
        (
            "<table><tr><td>a<table><tr><td>b</td></tr>\n<tr><td>c</td></tr></table></td>\n"
            "<td>d</td></tr></table>\n",
            "a | b | c | d",
        ),
        ("<table>\n<tr><td><pre>\nb\n  c\n</pre></td></tr>\n</table>\n", "<pre>\nb\n  c\n</pre>"),
        ("<table>\n<!-- no -->\n<tr><td>a</td></tr>\n</table>\n", "a"),
        ("Write `<table>`, then `</table>`.\n", "Write `<table>`, then `</table>`."),
        ("<table>\n<tr><td>a</td></tr>\n\nNever **closed**.\n", "a\nNever **closed**."),
    ],
)
def test_a_row_in_html_is_one_line_wherever_it_stands(page: str, text: str) -> None:
    assert [line for line in shown("a.md", page).split("\n") if line.strip(" >")] == text.split(
        "\n"
    )


def test_code_in_a_cell_stays_code() -> None:
    page = (
        "<table>\n<tr><th>Old</th><th>New</th></tr>\n<tr>\n<td>\n\n```sh\na | b __c__\n\nd\n```\n\n"
        "</td>\n<td>**e**</td>\n</tr>\n</table>\n"
    )
    assert "```sh\na | b __c__\n\nd\n```" in shown("a.md", page)
    assert "a | b __c__" in searched("a.md", page)
