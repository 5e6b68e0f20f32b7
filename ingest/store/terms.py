"""Text -> the words that a keyword search matches, for rows and for queries alike.

Scripts without blanks are cut into overlapping pairs of characters. Identifiers are taken whole and
in parts, so that ``PAY-4031``, ``pay 4031`` and ``pay4031`` match each other. Letters that can be
written in two ways are one letter.
"""

import re
from dataclasses import dataclass

from ingest.letters import folded, plain

_STOP_WORDS = """
    a an the and or of to in is are was were be been do does did i my me we our us you it its this
    that these those for on with at by from as if then than so but not no can could should would
    will how what when where which who why there their they them have has had get got any
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
MAX_QUERY_TERMS = 64
"""Maximum number of words of a query that are used: the first words of a log show its subject."""

# Each run of letters is read once, from its beginning: a word may have forty thousand letters.
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[_./:-]++[A-Za-z0-9]++)+"
    r"|(?<![a-z])[a-z]++[A-Z][A-Za-z0-9]*"
    r"|[A-Z][a-z0-9]++[A-Z][A-Za-z0-9]*"
    r"|(?<![A-Z])[A-Z]{2,}+[a-z]+\w*"
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_WORD = re.compile(r"[\w\u0300-\u0331]+")
"""A word as FTS5 has it: these accents are part of it, and ignored."""
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """The words of a query for the keyword index."""

    words: tuple[str, ...]
    """Folded words without stop words, and pairs of characters of scripts without blanks."""
    identifiers: tuple[str, ...]
    """As written: ``PAY-4031``, ``max_retries``, ``KubePodCrashLooping``."""
    phrases: tuple[str, ...]
    """FTS5 expressions to match: words, parts of identifiers, beginnings of words."""


def identifiers(text: str) -> list[str]:
    """Return the distinct identifiers of a text, in order."""
    return list(dict.fromkeys(_IDENTIFIER.findall(plain(text))))


def identifier_parts(text: str) -> str:
    """Return the parts of all identifiers, and each identifier as one word, for their column."""
    parts: dict[str, None] = {}
    for identifier in identifiers(text):
        parts.update(dict.fromkeys(_split(identifier)))
    return " ".join(parts)


def row_text(text: str) -> str:
    """Fold the letters, and cut scripts without blanks into overlapping pairs of characters."""
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", folded(text))


def query_terms(query: str) -> QueryTerms:
    """Read a query. Every phrase is valid in FTS5, whatever the query contains."""
    names = identifiers(query)
    words: dict[str, None] = {}
    prefixes: dict[str, None] = {}
    letters = folded(query)
    for run in _UNSPACED.findall(letters):
        (words if len(run) > 1 else prefixes).update(dict.fromkeys(_pairs(run)))
    for word in _WORD.findall(_UNSPACED.sub(" ", letters)):
        if len(word) > 1 and word not in STOP_WORDS:
            words[word] = None
    terms = dict(words)
    for identifier in names:
        terms.update(dict.fromkeys(part for part in _split(identifier) if len(part) > 1))
    phrases = [f'"{term}"' for term in terms] + [f'"{prefix}"*' for prefix in prefixes]
    return QueryTerms(
        words=tuple(words)[:MAX_QUERY_TERMS],
        identifiers=tuple(names),
        phrases=tuple(phrases[:MAX_QUERY_TERMS]),
    )


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _split(identifier: str) -> list[str]:
    parts = [part.lower() for part in _PART.findall(identifier)]
    return [*parts, "".join(parts)]
