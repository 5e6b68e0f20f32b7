"""Pages that only older versions have, and pages that only the current one has -> the same pages.

A page that has another path in the current version shows itself by its text. Only pages that share
rare pairs of words are compared, so the work grows with the number of pages.
"""

from collections import Counter
from collections.abc import Collection

from ingest.editions.edition import TextOf
from ingest.editions.near_copies import common_share
from ingest.editions.rare_pairs import RarePairs, pairs_of
from ingest.editions.text_words import words

RENAMED = 0.75
"""Minimum share of common words of two texts that can be one page under two paths."""


def renamed(gone: Collection[str], new: Collection[str], text_of: TextOf) -> dict[str, str]:
    """Return the new path by the old one. Each path is in at most one pair: the most alike."""
    if not gone or not new:
        return {}
    bags: dict[str, Counter[str]] = {}
    paths = RarePairs[str]()
    for path in sorted(new):
        in_order = list(words(text_of(path)))
        bags[path] = Counter(in_order)
        paths.add(path, pairs_of(in_order))
    found: list[tuple[float, str, str]] = []
    for path in sorted(gone):
        in_order = list(words(text_of(path)))
        if shared := paths.sharing(pairs_of(in_order)):
            [(likeliest, _count)] = shared.most_common(1)
            found.append((common_share(bags[likeliest], Counter(in_order)), path, likeliest))
    pairs: dict[str, str] = {}
    for share, path, likeliest in sorted(found, key=lambda each: (-each[0], each)):
        if share >= RENAMED and likeliest not in pairs.values():
            pairs[path] = likeliest
    return pairs
