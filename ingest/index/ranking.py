"""Two ranked lists -> one: scores put on one scale, added, and raised by what the page offers.

A page with several good passages is more likely to be the right one than a page with a single
lucky hit, so each passage gains from the three best of its page, and from how well the page as a
whole matches the query's words. Pages are never capped: the right passage is often the third or
fourth of the right page.

The first passages come from the steep end of both lists. If the answer is not among them, more of
the same is unlikely to hold it, so what follows is ranked on a scale that reaches further down.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence

DEPTH = 50
"""Where the scale of the first passages ends: a score at this rank counts as nothing."""
FURTHER = 200
"""Where the scale of all that follow ends; so many candidates each list gives."""
LEAD = 8
"""How many passages are the first ones."""
VECTOR_WEIGHT = 0.5
BONUS_WEIGHT = 0.5
BONUS_SHARES = (1.0, 0.5, 0.25)
PAGE_DEPTH = 20
"""How many pages the list of whole pages gives."""
PAGE_WEIGHT = 0.2


def fuse(
    by_meaning: Mapping[int, float], by_keyword: Mapping[int, float], depth: int = DEPTH
) -> dict[int, float]:
    """Each candidate's own score, from 0 to 1; 0 beyond ``depth`` in both lists."""
    meaning, keyword = scaled(by_meaning, depth), scaled(by_keyword, depth)
    return {
        row: VECTOR_WEIGHT * meaning.get(row, 0.0) + (1 - VECTOR_WEIGHT) * keyword.get(row, 0.0)
        for row in meaning.keys() | keyword.keys()
    }


def raised(
    scores: Mapping[int, float], page_of: Mapping[int, int], by_page: Mapping[int, float]
) -> list[tuple[int, float]]:
    """Rows by their own score and what their page offers, best first.

    ``by_page``: how well whole pages match the query's words.
    """
    pages = scaled(by_page, PAGE_DEPTH)
    of_page: defaultdict[int, list[float]] = defaultdict(list)
    for row, score in sorted(scores.items(), key=lambda item: -item[1]):
        of_page[page_of[row]].append(score)
    bonus = {
        page: BONUS_WEIGHT * sum(s * score for s, score in zip(BONUS_SHARES, best, strict=False))
        + PAGE_WEIGHT * pages.get(page, 0.0)
        for page, best in of_page.items()
    }
    final = {row: score + bonus[page_of[row]] for row, score in scores.items()}
    return sorted(final.items(), key=lambda item: (-item[1], item[0]))


def continued(
    first: Sequence[tuple[int, float]], further: Sequence[tuple[int, float]]
) -> list[tuple[int, float]]:
    """The lead of ``first``, then ``further`` in its order; scores never rise on the way."""
    lead = list(first[:LEAD])
    taken = {row for row, _score in lead}
    ceiling = lead[-1][1] if lead else 0.0
    rest = [(row, min(score, ceiling)) for row, score in further if row not in taken]
    return lead + rest


def scaled(scores: Mapping[int, float], depth: int) -> dict[int, float]:
    """Between the last candidate, 0, and the best, 1; a short list is measured from zero."""
    if not scores:
        return {}
    ordered = sorted(scores.values(), reverse=True)
    top = ordered[0]
    floor = ordered[depth - 1] if len(ordered) >= depth else 0.0
    if top <= floor:
        return dict.fromkeys(scores, 1.0)
    return {row: max(0.0, (score - floor) / (top - floor)) for row, score in scores.items()}
