"""What says nothing is no passage: comments of note tools, labels, inclusions, edges of a page."""

import pytest

from ingest.readers.loader import UnreadableDocument, load
from tests.ingest.readers.test_loader import chunks_of, searched, shown


def test_comments_of_note_tools_are_not_shown_and_marks_of_blocks_are_no_words() -> None:
    page = (
        "Confirm twice. %% the vendor's contract %% Then wait.\n\n%%\nDraft: 9999\n\n- old\n%%\n\n"
        "%%one%%\n\n%% opened here\nand closed there %%\n\nThree attempts. ^attempts\n"
    )
    assert (
        " ".join(shown("a.md", page).split())
        == "Confirm twice. Then wait. Three attempts. ^attempts"
    )
    assert searched("a.md", page).endswith("Three attempts.")


@pytest.mark.parametrize(
    "text",
    [
        "Run `date +%%s` and `for %%i in (*)`.",
        "for %%f in (*.txt) do echo %%f",
        "Replace %%HOST%% by the host.",
        "It grew by 100%% and then by 50%% again.",
        "```mermaid\n%%{init: {}}%%\n%% a comment\ngraph TD\n%%\n```",
        "%% never closed\n\nmore text",
        "    %% indented code %%",
    ],
)
def test_other_signs_of_percent_stay(text: str) -> None:
    page = f"# Page\n\n{text}\n\nend\n"
    assert shown("a.md", page) == page.strip()


@pytest.mark.parametrize(
    ("path", "page"),
    [
        ("a.md", "# Ledger\n\nabove\n\n(ledger-list)=\n## List\n\nbelow\n"),
        ("a.md", "# Ledger\n\nabove\n\n(one)=\n\n(two)=\nList\n----\n\nbelow\n"),
        ("a.md", '# Ledger\n\nabove\n\n<a id="list"></a>\n## List\n\nbelow\n'),
        ("a.md", "# Ledger\n\nabove\n\n{#list}\n## List\n\nbelow\n"),
        ("a.rst", "Ledger\n======\n\nabove\n\n.. _list:\n.. _other:\n\nList\n----\n\nbelow\n"),
    ],
)
def test_a_label_belongs_to_the_heading_below_it(path: str, page: str) -> None:
    above, below = chunks_of(path, page)
    assert above.text.endswith("above")
    first_label = page[: page.index("above")].count("\n") + 3
    assert (below.lines[0], below.heading) == (first_label, ("Ledger", "List"))
    assert below.search_text == "List\nbelow"


@pytest.mark.parametrize(
    ("path", "line"),
    [
        ("a.md", "{{#include ../src/relay.rs:5:9}}"),
        ("a.md", '--8<-- "limits.md"'),
        ("a.md", "{!limits.md!}"),
        ("a.md", "![[Limits of the relay]]"),
        ("a.md", "{% include limits.md %}"),
        ("a.rst", ".. include:: limits.rst"),
        ("a.rst", ".. literalinclude:: relay.py\n   :lines: 5-9"),
    ],
)
def test_a_line_that_includes_another_file_has_no_words(path: str, line: str) -> None:
    page = load(path, f"{line}\n".encode())
    assert page.includes
    assert not page.has_text
    assert chunks_of(path, f"{line}\n") == []
    assert searched(path, f"Text.\n\n{line}\n") == "Text."


@pytest.mark.parametrize(
    "page",
    [
        "sphinx==8.1\nmyst-parser==4.0\n",
        "# This file is made by pip-compile\n-r base.txt\nattrs>=23.1 ; python_version < '3.12'\n"
        "    # via jsonschema\nuvicorn[standard]~=0.30\nurllib3==2.2 \\\n    --hash=sha256:00ff\n",
    ],
)
def test_a_list_of_packages_is_no_page(page: str) -> None:
    with pytest.raises(UnreadableDocument, match="empty: a list of packages"):
        load("requirements.txt", page.encode())


@pytest.mark.parametrize(
    "page",
    [
        "limit = 400\nretries = 3\n",
        "ledgerctl stop --drain\n",
        "a==b\n# why a and b have to be the same here\n# and what to do if they are not\n",
        "Ask the owner if lag > 5.\n",
    ],
)
def test_other_short_text_is_a_page(page: str) -> None:
    assert shown("notes.txt", page) == page.strip()


@pytest.mark.parametrize(
    "page",
    [
        "[Home](/) > [Docs](/docs) > Relay\n\n{}\n",
        "{}\n\n[← Before](a.md) | [After →](b.md)\n",
        "{}\n\n---\n\nPowered by [a generator](https://generator.example)\n",
        "Copyright 2024 The Relay Authors\n\nLicensed under the Apache License, as is.\n\n{}\n",
        "---\ntitle: Relay\n---\n\n[[Home]] » [[Docs]] » Relay\n\n{}\n",
    ],
)
def test_the_edges_of_a_page_are_no_text(page: str) -> None:
    text = "# Relay\n\nIt needs port 7444.\n\n## Drain\n\nDrain it first."
    assert shown("a.md", page.format(text)).removesuffix("\n\n---") == text.replace(
        "\n\n## D", "\n## D"
    )


@pytest.mark.parametrize(
    "page",
    [
        "[Home](/) > [Docs](/docs) > Relay",
        "# A\n\nSee [the limits](limits.md)",
        "# A\n\nText.\n\n---\n\nThe limits are on [their own page](https://limits.example).",
        "# A\n\nText.\n\n- [Before](a.md) >\n- [After](b.md) >",
        "Copyright (c) 2020 The Relay Authors\n\nPermission is granted.",
        "# A\n\nLag > [the limit](a.md) is an incident.",
        "Our licence costs 2020 euro.\n\n# A\n\nText.",
    ],
)
def test_a_line_that_may_be_text_stays(page: str) -> None:
    joined = "\n\n".join(chunk.text for chunk in chunks_of("a.md", page))
    assert joined == page
