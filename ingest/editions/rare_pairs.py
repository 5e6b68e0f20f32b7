"""Texts by the pairs of neighbouring words that they have, to find those that are alike.

A pair that many texts have finds none of them. So the work grows with the texts.
"""

from collections import Counter, defaultdict
from collections.abc import Hashable, Iterable, Sequence
from itertools import pairwise
from typing import Generic, TypeVar

CROWDED = 12
"""A pair of words in more texts than this is too common to find a text by."""

Pair = tuple[str, str]
Text = TypeVar("Text", bound=Hashable)


class RarePairs(Generic[Text]):
    """The texts so far, by whatever stands for them."""

    def __init__(self) -> None:
        self._holding: defaultdict[Pair, list[Text]] = defaultdict(list)

    def add(self, text: Text, pairs: Iterable[Pair]) -> None:
        for pair in pairs:
            self._holding[pair].append(text)

    def sharing(self, pairs: Iterable[Pair]) -> Counter[Text]:
        """Return the texts that have one of these pairs, each with the number of them."""
        shared: Counter[Text] = Counter()
        for pair in pairs:
            if len(holding := self._holding.get(pair, ())) <= CROWDED:
                shared.update(holding)
        return shared


def pairs_of(in_order: Sequence[str]) -> list[Pair]:
    """Return the different pairs of words, in order: equal texts give equal results."""
    return list(dict.fromkeys(pairwise(in_order)))
