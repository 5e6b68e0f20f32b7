"""Directives, and the parts that they name, are read in time linear in the length of their file."""

from collections.abc import Callable
from functools import partial

import pytest

from ingest.readers.includes.shown_part import Part
from ingest.readers.loader import CODE, Showing, UnreadableDocument, load
from tests.growth import APART, growth

DIRECTIVES = [
    "{{#include a}}\n",
    "{{#include ",
    '--8<-- "a"\n',
    "--8<--\n",
    ".. include:: a\n   :lines: 1,1\n\n",
    "{% include a %}\n",
    "{% include ",
    "![[a]]\n",
    "![[",
    "{!a!}\n",
    "{!",
    "{{< a file=b >}}\n",
    "{{< include ",
    "```{include} a\n```\n",
    'import A from "./a.mdx"\n\n<A />\n',
    "# A\n\n{{#include a}}\n",
]
EDGES = ["// ANCHOR: a\n", "// tag::a[]\n// end::a[]\n", "tag::", "-8<- [start: ", "a\n"]
PARTS = (
    Part(names=("a", "!b")),
    Part(start_after="b", end_before="a"),
    Part(ranges=tuple((n, n + 5) for n in range(50))),
)
LONGEST = 1_200


def read(path: str, text: str, showing: Showing | None = None) -> object:
    try:
        return load(path, text.encode(), showing)
    except UnreadableDocument as unreadable:
        return unreadable


@pytest.mark.parametrize("suffix", [".md", ".mdx", ".rst"])
def test_no_directive_outgrows_its_page(suffix: str) -> None:
    for piece in DIRECTIVES:
        assert outgrown(f"a{suffix}", piece) is None, piece


def test_no_part_outgrows_its_file() -> None:
    showing = Showing(CODE, PARTS, "A")
    for piece in EDGES:
        assert outgrown("a", piece, showing) is None, piece


def outgrown(path: str, piece: str, showing: Showing | None = None) -> object:
    def work(size: int) -> Callable[[], object]:
        return partial(read, path, piece * size, showing)

    return growth(work, (6, 24, LONGEST // APART, LONGEST))
