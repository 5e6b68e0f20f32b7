"""Two ranked lists -> one: scores are scaled, added, and raised by the rest of the document.

A document with several good passages is more likely to be the right one than a document with a
single lucky hit. So each passage gains from the three best of its document, and from how well the
whole document matches the query's words. The number of passages per document is not limited: the
right passage is often the third or fourth of the right document.
"""

from collections import defaultdict
from collections.abc import Mapping

DEPTH = 200
"""Maximum number of candidates in each list; the score at this rank counts as 0."""
VECTOR_WEIGHT = 0.5
BONUS_WEIGHT = 0.5
BONUS_SHARES = (1.0, 0.5, 0.25)
DOCUMENT_DEPTH = 20
"""Maximum number of candidates in the list of whole documents."""
DOCUMENT_WEIGHT = 0.2


def fuse(by_meaning: Mapping[int, float], by_keyword: Mapping[int, float]) -> dict[int, float]:
    """Scores in two lists, by row -> one score for each row, from 0 to 1.

    It does not count how well the rest of the document matches; ``raised`` adds that.
    """
    meaning, keyword = scaled(by_meaning, DEPTH), scaled(by_keyword, DEPTH)
    return {
        row: VECTOR_WEIGHT * meaning.get(row, 0.0) + (1 - VECTOR_WEIGHT) * keyword.get(row, 0.0)
        for row in meaning.keys() | keyword.keys()
    }


def raised(
    scores: Mapping[int, float], document_of: Mapping[int, int], by_document: Mapping[int, float]
) -> list[tuple[int, float]]:
    """Rows by their own score plus the bonus of their document, best first.

    ``by_document``: how well whole documents match the query's words.
    """
    whole = scaled(by_document, DOCUMENT_DEPTH)
    of_document: defaultdict[int, list[float]] = defaultdict(list)
    for row, score in sorted(scores.items(), key=lambda item: -item[1]):
        of_document[document_of[row]].append(score)
    bonus = {
        document: BONUS_WEIGHT
        * sum(s * score for s, score in zip(BONUS_SHARES, best, strict=False))
        + DOCUMENT_WEIGHT * whole.get(document, 0.0)
        for document, best in of_document.items()
    }
    final = {row: score + bonus[document_of[row]] for row, score in scores.items()}
    return sorted(final.items(), key=lambda item: (-item[1], item[0]))


def scaled(scores: Mapping[int, float], depth: int) -> dict[int, float]:
    """Scale scores so that the last candidate has 0 and the best 1; a short list starts at 0."""
    if not scores:
        return {}
    ordered = sorted(scores.values(), reverse=True)
    top = ordered[0]
    floor = ordered[depth - 1] if len(ordered) >= depth else 0.0
    if top <= floor:
        return dict.fromkeys(scores, 1.0)
    return {row: max(0.0, (score - floor) / (top - floor)) for row, score in scores.items()}
