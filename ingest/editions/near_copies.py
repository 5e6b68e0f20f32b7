"""Chunks of the editions of one page -> groups of the same or nearly the same text.

The editions come in order, the current one first. A chunk joins the chunk of an earlier edition
that it is most like; otherwise it begins a group. So a group has no chain of small differences:
each member is compared with the first one. Only chunks that share rare pairs of words are compared,
so the work grows with the text.
"""

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from ingest.editions.rare_pairs import Pair, RarePairs, pairs_of
from ingest.editions.text_words import words

ALIKE = 0.8
"""Minimum share of common words of two texts under the same headings."""
ALIKE_ELSEWHERE = 0.95
"""The same under other headings, where a page may have similar sections that say other things."""
COMPARED = 3
"""Maximum number of texts that a text is compared with, word by word."""


@dataclass(frozen=True, slots=True)
class EditionChunk:
    """A chunk with the values that its place among the editions depends on."""

    row: int
    edition: int
    """Number of its document."""
    heading: tuple[str, ...]
    text: str
    content: int
    """Hash of its text: equal for copies."""


@dataclass(slots=True)
class _Group:
    head: int
    heading: tuple[str, ...]
    bag: Counter[str]
    edition: int


@dataclass(slots=True)
class _Groups:
    """The groups of a page so far."""

    groups: list[_Group] = field(default_factory=list)
    numbers: RarePairs[int] = field(default_factory=RarePairs)

    def nearest(self, chunk: EditionChunk, bag: Counter[str], pairs: Sequence[Pair]) -> int:
        """Return the number of the group that the chunk belongs to; -1 for none."""
        best, closest = -1, 0.0
        for number, _count in self.numbers.sharing(pairs).most_common(COMPARED):
            group = self.groups[number]
            if group.edition == chunk.edition:
                continue
            share = common_share(group.bag, bag)
            same = group.heading == chunk.heading
            if share >= (ALIKE if same else ALIKE_ELSEWHERE) and share > closest:
                best, closest = number, share
        return best

    def add(self, chunk: EditionChunk, bag: Counter[str], pairs: Sequence[Pair]) -> None:
        self.numbers.add(len(self.groups), pairs)
        self.groups.append(_Group(chunk.row, chunk.heading, bag, chunk.edition))


def grouped(chunks: Iterable[EditionChunk]) -> dict[int, int]:
    """Row -> row of the first chunk of its group, for each chunk of a page's editions.

    The chunks come edition by edition, the current one first.
    """
    groups = _Groups()
    head_of: dict[int, int] = {}
    known: dict[int, tuple[int, int]] = {}
    for chunk in chunks:
        head, edition = known.get(chunk.content, (0, chunk.edition))
        if edition == chunk.edition:  # a page may say the same twice: it stays in two places
            bag, pairs = _described(chunk.text)
            number = groups.nearest(chunk, bag, pairs)
            if number < 0:
                groups.add(chunk, bag, pairs)
            head = groups.groups[number].head
            known.setdefault(chunk.content, (head, chunk.edition))
        head_of[chunk.row] = head
    return head_of


def common_share(one: Counter[str], other: Counter[str]) -> float:
    """Return the share, from 0 to 1, of the words of both texts that both have."""
    total = one.total() + other.total()
    return 2 * (one & other).total() / total if total else 0.0


def _described(text: str) -> tuple[Counter[str], list[Pair]]:
    in_order = list(words(text))
    return Counter(in_order), pairs_of(["", *in_order, ""])
