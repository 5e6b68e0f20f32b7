"""Two ranked lists -> one: scores put on one scale, added, and raised by what the page offers.

A page with several good passages is more likely to be the right one than a page with a single
lucky hit, so each passage gains from the three best of its page, and from how well the page as a
whole matches the query's words. Pages are never capped: the right passage is often the third or
fourth of the right page.
"""

from collections import defaultdict
from collections.abc import Mapping

DEPTH = 200
"""So many candidates each list gives; where its scale ends: a score at this rank is nothing."""
VECTOR_WEIGHT = 0.5
BONUS_WEIGHT = 0.5
BONUS_SHARES = (1.0, 0.5, 0.25)
PAGE_DEPTH = 20
"""How many pages the list of whole pages gives."""
PAGE_WEIGHT = 0.2


def fuse(by_meaning: Mapping[int, float], by_keyword: Mapping[int, float]) -> dict[int, float]:
    """Each candidate's own score, from 0 to 1."""
    meaning, keyword = scaled(by_meaning, DEPTH), scaled(by_keyword, DEPTH)
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
