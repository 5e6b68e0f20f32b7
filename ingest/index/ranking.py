"""Two ranked lists -> one: scores are scaled, added, and raised by the rest of the document.

A document with several good passages is more likely to be the right one than a document with a
single lucky hit. So each passage gains from the three best of its document, and from how well the
whole document matches the query's words. The number of passages per document is not limited: the
right passage is often the third or fourth of the right document.

The kind of a chunk decides last. Links say nothing themselves: they are results only where nothing
else is. Orders to other programs come behind all text for people. A change log says what was so:
its score counts in part, unless the query asks for that.
"""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ingest.documents import Kind

DEPTH = 200
"""Maximum number of texts in each list; the score of the last one counts as 0."""
VECTOR_WEIGHT = 0.5
BONUS_WEIGHT = 0.5
BONUS_SHARES = (1.0, 0.5, 0.25)
DOCUMENT_DEPTH = 20
"""Maximum number of candidates in the list of whole documents."""
DOCUMENT_WEIGHT = 0.2
CHANGE_LOG_WEIGHT = 0.5
"""Factor for the score of a change log, unless the query asks for changes."""


@dataclass(frozen=True, slots=True)
class Scores:
    """One ranked list."""

    by_number: Mapping[int, float]
    floor: float = 0.0
    """Score that counts as 0: the lowest one if the list was cut, else 0."""

    @staticmethod
    def of(scores: Mapping[int, float], *, is_cut: bool) -> "Scores":
        return Scores(scores, min(scores.values(), default=0.0) if is_cut else 0.0)


def fuse(by_meaning: Scores, by_keyword: Scores) -> dict[int, float]:
    """Scores in two lists, by row -> one score for each row, from 0 to 1.

    It does not count how well the rest of the document matches; ``raised`` adds that.
    """
    meaning, keyword = scaled(by_meaning), scaled(by_keyword)
    return {
        row: VECTOR_WEIGHT * meaning.get(row, 0.0) + (1 - VECTOR_WEIGHT) * keyword.get(row, 0.0)
        for row in meaning.keys() | keyword.keys()
    }


def raised(
    scores: Mapping[int, float], document_of: Mapping[int, int], by_document: Scores
) -> list[tuple[int, float]]:
    """Rows by their own score plus the bonus of their document, best first.

    ``by_document``: how well whole documents match the query's words.
    """
    whole = scaled(by_document)
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


def by_kind(
    ranked: Sequence[tuple[int, float]], kinds: Mapping[int, Kind], *, asks_for_changes: bool
) -> list[tuple[int, float]]:
    """Ranked rows -> the same in the order that their kinds ask for."""
    if all(kinds[row] == "page" for row, _score in ranked):
        return list(ranked)
    text = [(row, score) for row, score in ranked if kinds[row] != "navigation"]
    if not asks_for_changes:
        text = [
            (row, score * (CHANGE_LOG_WEIGHT if kinds[row] == "change log" else 1.0))
            for row, score in text
        ]
    lowest = min((score for row, score in text if kinds[row] != "orders"), default=1.0)
    text = [
        (row, score * lowest / (1.0 + score) if kinds[row] == "orders" else score)
        for row, score in text
    ]
    return sorted(text or ranked, key=lambda item: (-item[1], kinds[item[0]] == "orders", item[0]))


def scaled(scores: Scores) -> dict[int, float]:
    """Scale scores so that the floor has 0 and the best 1."""
    top = max(scores.by_number.values(), default=0.0)
    if top <= scores.floor:
        return dict.fromkeys(scores.by_number, 1.0)
    return {
        number: max(0.0, (score - scores.floor) / (top - scores.floor))
        for number, score in scores.by_number.items()
    }
