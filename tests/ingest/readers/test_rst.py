"""reStructuredText: its outline, its code, and what nobody sees of it."""

import pytest

from tests.ingest.readers.test_loader import chunks_of, searched, shown


def outline(text: str) -> list[tuple[str, ...]]:
    return list(dict.fromkeys(chunk.heading for chunk in chunks_of("a.rst", text)))


def test_the_kinds_of_rules_tell_the_depth_of_titles() -> None:
    titles = ("####\nBook\n####", "Part\n====", "Step\n----", "Other\n=====")
    page = "\n\nwords\n\n".join((*titles, ""))
    assert outline(page) == [
        ("Book",),
        ("Book", "Part"),
        ("Book", "Part", "Step"),
        ("Book", "Other"),
    ]


@pytest.mark.parametrize(
    ("text", "label"),
    [
        ("A title\n====", "A title"),
        ("AB\n==", "AB"),
        (".. _label:\n\nTitle\n=====", "Title"),
        (".. note:: x\nTitle\n=====", "Title"),
        ("1. Intro\n--------", "1. Intro"),
        ("The ``--force`` :ref:`flag <f>` \\*\n================", "The --force flag *"),
        ("運用\n====", "運用"),
    ],
)
def test_a_title_stands_on_a_rule(text: str, label: str) -> None:
    assert outline(f"{text}\n\nwords\n")[-1] == (label,)


@pytest.mark.parametrize(
    "text",
    [
        "A long title\n===",
        "a paragraph\nof two lines\n============",
        "- an item\n---------",
        "=====  =====\nName   Port\n=====  =====\napi    1\n=====  =====",
        "Run::\n\n   Title\n   =====",
        "words\n\n----\n\nmore words",
    ],
)
def test_what_only_looks_like_a_title_is_none(text: str) -> None:
    assert outline(f"words\n\n{text}\n\nwords\n") == [()]


def test_what_is_indented_below_two_colons_or_a_code_directive_is_code() -> None:
    page = (
        "Title\n=====\n\nRun::\n\n   pay *now* ::\n\n   .. a comment of another page\n\n"
        "- item::\n\n    **raw**\n\n  and *after*\n\n"
        ".. tabs::\n\n   .. code-block:: sh\n\n      echo **x**\n\n   tail\n"
    )
    text = searched("a.rst", page)
    for kept in ("pay *now* ::", ".. a comment of another page", "**raw**", "and after", "**x**"):
        assert kept in text


def test_comments_and_what_is_noted_of_a_page_are_not_shown() -> None:
    page = (
        ":orphan:\n:tags: unseen\n\nTitle\n=====\n\n.. unseen\n   unseen: too\n\n..\n   unseen\n\n"
        "..\n\n   a quotation\n\n.. _target: https://example.com\n.. [1] a footnote\n"
        ".. |s| replace:: a replacement\n.. py:function:: pay(x)\n"
    )
    text = shown("a.rst", page)
    assert "unseen" not in text
    for kept in ("a quotation", "example.com", "a footnote", "a replacement", "pay(x)"):
        assert kept in text


@pytest.mark.parametrize(
    "text",
    [
        "".join(f"Part {n}\n=======\n\nwords {n}\n\n" for n in range(3_000)) + "end",
        "".join(" " * n + "words\n" for n in range(700)) + "\nend",
        "`a " * 20_000 + "end",
        "__ x\n\n" * 6_000 + "end",
    ],
    ids=["parts", "nested", "quotes", "targets"],
)
def test_a_page_of_any_size_and_depth_is_read_to_its_end(text: str) -> None:
    assert chunks_of("a.rst", text)[-1].text.endswith("end")
