"""A page of navigation is told from a page of text by its words outside links."""

import pytest

from ingest.readers.loader import load
from ingest.readers.prose_share import prose_share


def share(path: str, text: str) -> float:
    return prose_share(load(path, text.encode()).parsed)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("SUMMARY.md", "# Summary\n\n* [Ledger restart](ledger.md)\n  * [Limits](limits.md#a)\n"),
        ("_Sidebar.md", "- [[Home]]\n- [[Deploy the courier|Deploy]]\n- <https://a.example/b>\n"),
        ("a.md", "[Home](/) > [Docs](/docs) > [![Logo](logo.png)](/pay)\n"),
        ("a.rst", "Pages\n=====\n\n* :doc:`ledger`\n* :ref:`The limits <limits>`\n* `A <b>`_\n"),
    ],
)
def test_no_word_of_a_page_of_navigation_stands_outside_links(path: str, text: str) -> None:
    assert share(path, text) == 0


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("a.md", "Flush the spool, then read [the checklist](b.md) and count what is left.\n"),
        ("a.md", "# Ports\n\n```\n[a](b) [c](d)\n```\n"),
        ("a.rst", "Restart it, see :doc:`ledger`, with ``ledgerctl restart``.\n"),
        ("a.txt", "No markup at all [here](there).\n"),
    ],
)
def test_most_words_of_a_page_of_text_stand_outside_links(path: str, text: str) -> None:
    assert share(path, text) > 0.6
