"""AsciiDoc: its outline, what hangs together, and what a reader of the page sees."""

import pytest

from ingest.readers.loader import UnreadableDocument, load
from tests.ingest.readers.test_loader import chunks_of, searched, shown

PAGE = """\
// Module of the guide

:product: Relay Server
:grace: 40
[id="stop_{context}"]
= Stop {product}

relayd waits {grace} seconds, see <<ports,the ports>> and xref:ops/roles.adoc#evict[the roles].

* Drain it first
+
[source,sh,subs="attributes+"]
----
relayd --drain --grace {grace} <1>
// stays
include::tail.sh[]
----
<1> Seconds

[NOTE]
====
Never at *night*.
====

[[limits]]
== The limits

.Limits of a message
[cols="1,2"]
|===
|Name |Value

|Size
|31 megabytes

.2+|Age
|35 days
|or 7 days
|===

relayd:: The server.
Evictor::
Removes messages.
"""


def test_a_page_has_its_title_sections_and_the_lines_of_the_file() -> None:
    assert load("a/stop.adoc", PAGE.encode()).title == "Stop Relay Server"
    chunks = chunks_of("a/stop.adoc", PAGE)
    assert [(chunk.heading, chunk.lines) for chunk in chunks] == [
        (("Stop Relay Server",), (5, 23)),
        (("Stop Relay Server", "The limits"), (25, 43)),
    ]


def test_what_is_searched_are_the_words_that_a_reader_sees() -> None:
    assert searched("a.asciidoc", PAGE).split("\n") == [
        "Stop Relay Server",
        "relayd waits 40 seconds, see the ports and the roles.",
        "Drain it first",
        "relayd --drain --grace 40 <1>",
        "// stays",
        "<1> Seconds",
        "Note:",
        "Never at night.",
        "The limits",
        "Limits of a message",
        "|Name |Value",
        "|Size",
        "|31 megabytes",
        "|Age",
        "|35 days",
        "|or 7 days",
        "relayd: The server.",
        "Evictor:",
        "Removes messages.",
    ]


@pytest.mark.parametrize(
    ("markup", "words"),
    [
        ("https://a.example/b[the page^]", "the page"),
        ("https://a.example/b[]", "https://a.example/b"),
        ("link:b.html[window=_blank]", "b.html"),
        ("configprops:a.b.timeout[]", "a.b.timeout"),
        ("kbd:[Ctrl+C] menu:File[Save]", "Ctrl+C File > Save"),
        ("image:x.png[The flow,300,role=left]", "The flow"),
        ('image::x.png[width=30,alt="The flow"]', "The flow"),
        ("[.term]#marked# _in_ **b** H~2~O", "marked in b H2O"),
        ("`{raw}` and `+{raw}+` and \\{raw}", "`{raw}` and `{raw}` and {raw}"),
        ("words((one term)) (((hidden,term)))", "wordsone term"),
        ("WARNING: Hot +\nsurface", "Warning: Hot\nsurface"),
        ("[quote, Somebody]\n____\nWise.\n____", "Somebody:\nWise."),
        (".. second\n. [x] done", "second\ndone"),
        ("--max-retries and a_b_c and 5 * 6 * 7", "--max-retries and a_b_c and 5 * 6 * 7"),
        ("Cost of {unknown} {nbsp}x", "Cost of {unknown}  x"),
    ],
)
def test_markup_is_replaced_by_its_words(markup: str, words: str) -> None:
    assert searched("a.adoc", f"{markup}\n") == words


@pytest.mark.parametrize(
    ("page", "seen"),
    [
        ("ifdef::cloud[]\nseen\nendif::[]", True),
        (":!cloud:\nifdef::cloud[]\nseen\nendif::[]", False),
        (":cloud:\nifndef::cloud[]\nseen\nendif::cloud[]", False),
        ("ifndef::cloud[]\n:cloud:\nendif::[]\nifndef::cloud[]\nseen\nendif::[]", True),
        ('ifeval::["{a}" == "b"]\nseen\nendif::[]', True),
        ("ifdef::cloud[seen]", True),
        ("////\nseen\n////", False),
        ("// seen", False),
        (":note: seen", False),
        ("----\n// seen\n----", True),
        ("////\nseen", True),
    ],
)
def test_text_that_may_be_shown_is_read(page: str, seen: bool) -> None:
    assert ("seen" in shown("a.adoc", f"words\n\n{page}\n\nwords\n")) is seen


def test_a_value_that_two_conditions_give_differently_is_not_guessed() -> None:
    page = "ifdef::a[]\n:n: 1\nendif::[]\nifdef::b[]\n:n: 2\nendif::[]\n\nIt has {n} nodes.\n"
    assert shown("a.adoc", page) == "It has {n} nodes."


def test_the_edges_of_parts_that_other_pages_include_are_not_shown() -> None:
    page = (
        "tag::drain[]\nDrain the relay.\nend::drain[]\n\n// tag::stop[]\nStop it.\n// end::stop[]\n"
    )
    assert shown("a.adoc", page) == "Drain the relay.\n\nStop it."


def test_values_do_not_multiply() -> None:
    page = ":a: " + "x" * 300 + "\n" + ":a: {a}{a}\n" * 40 + "\nThe {a}.\n"
    assert shown("a.adoc", page) == "The {a}."


@pytest.mark.parametrize(
    ("text", "outline"),
    [
        ("= A\n\na\n\n=== B\n\nb\n\n== C\n\nc", [("A",), ("A", "B"), ("A", "C")]),
        ("Old title\n=========\n\na\n\nPart\n----\n\nb", [("Old title",), ("Old title", "Part")]),
        ("# Like Markdown\n\na", [("Like Markdown",)]),
        ("----\n== No\n----", [()]),
        ("====\n== No\n====", [()]),
        ("----\nnever closed\n\n== Yes\n\na", [(), ("Yes",)]),
    ],
)
def test_titles_make_the_outline(text: str, outline: list[tuple[str, ...]]) -> None:
    found = dict.fromkeys(chunk.heading for chunk in chunks_of("a.adoc", f"{text}\n"))
    assert list(found) == outline


def test_a_long_table_is_cut_between_rows_and_repeats_its_head() -> None:
    rows = "\n\n".join(f"|`--flag-{n}`\n|What flag {n} does to the relay" for n in range(60))
    chunks = chunks_of("a.adoc", f"[%header,cols=2*]\n|===\n|Flag\n|Effect\n\n{rows}\n|===\n")
    assert len(chunks) > 2
    for chunk in chunks:
        assert "|Flag\n|Effect" in chunk.text
        assert chunk.text.count("|`--flag-") == chunk.text.count("|What flag")


def test_a_page_of_settings_only_has_no_text() -> None:
    with pytest.raises(UnreadableDocument, match=r"^empty"):
        load("attributes.adoc", b":product: Relay\n// nothing\n:url: https://a.example\n")


def test_a_signature_is_no_page() -> None:
    with pytest.raises(UnreadableDocument, match=r"^no page: "):
        load(
            "a.tgz.asc", b"-----BEGIN PGP SIGNATURE-----\n\niQEzBAAB\n-----END PGP SIGNATURE-----\n"
        )
