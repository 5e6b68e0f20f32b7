"""Questions without an answer in the docs -> those alike together, each group a gap in the docs.

They are told apart by their words, which are the model's queries where people's own are not kept:
those that share most of them are one.
"""

from collections.abc import Sequence

from bot.report import Asked, Gap
from ingest.index import query_terms

_ALIKE = 0.6
_STEM = 5


def group(asked: Sequence[Asked]) -> tuple[Gap, ...]:
    """Questions alike together, the most asked first."""
    groups: list[tuple[list[Asked], set[frozenset[str]]]] = []
    for one in sorted(asked, key=lambda a: a.at, reverse=True):
        stems = _stems(one.words)
        for members, known in groups:
            if any(_alike(stems, other) for other in known):
                members.append(one)
                known.add(stems)
                break
        else:
            groups.append(([one], {stems}))
    gaps = [Gap(tuple(members)) for members, _ in groups]
    return tuple(sorted(gaps, key=lambda gap: (-len(gap.asked), gap.topic)))


def _stems(words: str) -> frozenset[str]:
    """Beginnings of words: enough to tell ``rotate the key`` and ``key rotation`` alike."""
    return frozenset(word[:_STEM] for word in query_terms(words).words)


def _alike(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return not one and not other
    shared = len(one & other)
    # One word in common says little, unless it is all that was asked for.
    return shared >= _ALIKE * min(len(one), len(other)) and (shared > 1 or one == other)
