"""Two ranked lists -> one: scores put on one scale, added, and raised by what the page offers.

A page with several good passages is more likely to be the right one than a page with a single
lucky hit, so each passage gains from the three best of its page. Pages are never capped: the right
passage is often the third or fourth of the right page.
"""

from collections import defaultdict
from collections.abc import Mapping

DEPTH = 50
"""How many candidates each list gives."""
VECTOR_WEIGHT = 0.5
BONUS_WEIGHT = 0.5
BONUS_SHARES = (1.0, 0.5, 0.25)


def fuse(
    by_meaning: Mapping[int, float], by_keyword: Mapping[int, float], page_of: Mapping[int, int]
) -> list[tuple[int, float]]:
    """Rows with their fused scores, best first."""
    meaning, keyword = _scaled(by_meaning), _scaled(by_keyword)
    fused = {
        row: VECTOR_WEIGHT * meaning.get(row, 0.0) + (1 - VECTOR_WEIGHT) * keyword.get(row, 0.0)
        for row in meaning.keys() | keyword.keys()
    }
    of_page: defaultdict[int, list[float]] = defaultdict(list)
    for row, score in sorted(fused.items(), key=lambda item: -item[1]):
        of_page[page_of[row]].append(score)
    bonus = {
        page: sum(share * score for share, score in zip(BONUS_SHARES, scores, strict=False))
        for page, scores in of_page.items()
    }
    final = {row: score + BONUS_WEIGHT * bonus[page_of[row]] for row, score in fused.items()}
    return sorted(final.items(), key=lambda item: (-item[1], item[0]))


def _scaled(scores: Mapping[int, float]) -> dict[int, float]:
    """Between the last candidate, 0, and the best, 1; a short list is measured from zero."""
    if not scores:
        return {}
    ordered = sorted(scores.values(), reverse=True)
    top = ordered[0]
    floor = ordered[DEPTH - 1] if len(ordered) >= DEPTH else 0.0
    if top <= floor:
        return dict.fromkeys(scores, 1.0)
    return {row: max(0.0, (score - floor) / (top - floor)) for row, score in scores.items()}
