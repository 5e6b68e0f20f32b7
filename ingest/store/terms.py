"""Text -> the words that a keyword search can match, for rows and for queries alike.

Scripts written without blanks are cut into overlapping pairs; identifiers are taken whole and in
parts, so that ``PAY-4031``, ``pay 4031`` and ``pay4031`` find each other.
"""

import re
from dataclasses import dataclass

_STOP_WORDS = """
    a an the and or of to in is are was were be been do does did i my me we our us you it its this
    that these those for on with at by from as if then than so but not no can could should would
    will how what when where which who why there their they them have has had get got any
"""
STOP_WORDS = frozenset(_STOP_WORDS.split())
MAX_QUERY_TERMS = 64
"""A pasted log is a query too; its first words say what it is about."""

# No run of letters is begun in its middle or read twice: a word may have forty thousand of them.
_IDENTIFIER = re.compile(
    r"(?<![A-Za-z0-9])[A-Za-z0-9]++(?:[_./:-]++[A-Za-z0-9]++)+"
    r"|(?<![a-z])[a-z]++[A-Z][A-Za-z0-9]*"
    r"|[A-Z][a-z0-9]++[A-Z][A-Za-z0-9]*"
    r"|(?<![A-Z])[A-Z]{2,}+[a-z]+\w*"
)
_PART = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")
_WORD = re.compile(r"\w+")
_UNSPACED = re.compile(
    "[\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]+"
)


@dataclass(frozen=True, slots=True)
class QueryTerms:
    """What a query asks the keyword index for."""

    words: tuple[str, ...]
    """Lower-cased words without stop words, and the pairs of scripts without blanks."""
    identifiers: tuple[str, ...]
    """As written: ``PAY-4031``, ``max_retries``, ``KubePodCrashLooping``."""
    phrases: tuple[str, ...]
    """What to match, as FTS5 reads it: words, parts of identifiers, beginnings."""


def identifiers(text: str) -> list[str]:
    """The distinct identifiers of a text, in order."""
    return list(dict.fromkeys(_IDENTIFIER.findall(text)))


def identifier_parts(text: str) -> str:
    """What the row's column for identifiers holds: the parts of each, and all of it as one word."""
    found: dict[str, None] = {}
    for identifier in identifiers(text):
        found.update(dict.fromkeys(_split(identifier)))
    return " ".join(found)


def row_text(text: str) -> str:
    """The text with every run of an unspaced script replaced by its overlapping pairs."""
    return _UNSPACED.sub(lambda run: f" {' '.join(_pairs(run.group()))} ", text)


def query_terms(query: str) -> QueryTerms:
    """Read a query; whatever it holds, every phrase is valid in FTS5."""
    named = identifiers(query)
    words: dict[str, None] = {}
    prefixes: dict[str, None] = {}
    for run in _UNSPACED.findall(query):
        (words if len(run) > 1 else prefixes).update(dict.fromkeys(_pairs(run)))
    for word in _WORD.findall(_UNSPACED.sub(" ", query)):
        lowered = word.lower()
        if len(lowered) > 1 and lowered not in STOP_WORDS:
            words[lowered] = None
    terms = dict(words)
    for identifier in named:
        terms.update(dict.fromkeys(part for part in _split(identifier) if len(part) > 1))
    phrases = [f'"{term}"' for term in terms] + [f'"{prefix}"*' for prefix in prefixes]
    return QueryTerms(
        words=tuple(words)[:MAX_QUERY_TERMS],
        identifiers=tuple(named),
        phrases=tuple(phrases[:MAX_QUERY_TERMS]),
    )


def _pairs(run: str) -> list[str]:
    return [run[i : i + 2] for i in range(len(run) - 1)] or [run]


def _split(identifier: str) -> list[str]:
    parts = [part.lower() for part in _PART.findall(identifier)]
    return [*parts, "".join(parts)]
