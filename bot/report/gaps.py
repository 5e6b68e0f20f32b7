"""Questions without an answer in the docs -> groups of similar questions, each a gap in the docs.

Questions that share most of their words are similar. If the text of a question is not stored, the
model's queries are compared instead.
"""

from collections.abc import Sequence

from bot.report import AskedQuestion, Gap
from ingest.index import query_terms

_ALIKE = 0.6
_STEM = 5


def group(questions: Sequence[AskedQuestion]) -> tuple[Gap, ...]:
    """Group similar questions, the largest group first."""
    groups: list[tuple[list[AskedQuestion], set[frozenset[str]]]] = []
    for question in sorted(questions, key=lambda q: q.at, reverse=True):
        stems = _stems(question.words)
        for members, wordings in groups:
            if any(_similar(stems, other) for other in wordings):
                members.append(question)
                wordings.add(stems)
                break
        else:
            groups.append(([question], {stems}))
    gaps = [Gap(tuple(members)) for members, _ in groups]
    return tuple(sorted(gaps, key=lambda gap: (-len(gap.questions), gap.topic)))


def _stems(words: str) -> frozenset[str]:
    """Beginnings of words, so that ``rotate the key`` and ``key rotation`` are similar."""
    return frozenset(word[:_STEM] for word in query_terms(words).words)


def _similar(one: frozenset[str], other: frozenset[str]) -> bool:
    if not one or not other:
        return not one and not other
    shared = len(one & other)
    # One shared word is too little, unless the questions consist of it.
    return shared >= _ALIKE * min(len(one), len(other)) and (shared > 1 or one == other)
