"""Text -> its language, among those that are possible; names of folders -> languages.

The model of ``py3langid`` is loaded when a docs repo has translations, and not before.
"""

import re
from collections.abc import Collection
from functools import lru_cache
from threading import Lock

from langcodes import Language, tag_is_valid
from py3langid.langid import MODEL_FILE, LanguageIdentifier

from ingest.editions.text_words import without_code

_TAG = re.compile(r"[A-Za-z]{2}(?:[-_][A-Za-z]{2,4}){0,2}")
SURE = 0.8
"""Probability from which a question counts as written in another language than the original."""
_LONGEST = 2_000
_LIKELIEST = 3
_lock = Lock()


@lru_cache(maxsize=4096)
def language_of(part: str) -> str | None:
    """Return the language that a part of a path can name: ``zh`` for ``zh``, ``zh-CN`` and ``cn``.

    A valid tag names its language. Repositories write countries, too: then it is the one that most
    people speak there.
    """
    if not _TAG.fullmatch(part):
        return None
    if tag_is_valid(part):
        return Language.get(part).language
    country = Language.make(territory=part.upper())
    return country.maximize().language if country.is_valid() else None


def shown_tag(part: str) -> str:
    """Return the tag that names the language of a part of a path: ``zh`` for ``cn``."""
    tag = part.lower().replace("_", "-")
    return tag if tag_is_valid(part) else language_of(part) or tag


def identified(text: str, among: Collection[str] = ()) -> tuple[str, float]:
    """Return the language of a text (one of ``among``, if any are known), and its probability."""
    with _lock:
        identifier = _identifier()
        identifier.set_languages(frozenset(among) & _known() or None)
        language, probability = identifier.classify(without_code(text)[:_LONGEST])
    return str(language), float(probability)


def is_written_in(text: str, language: str) -> bool:
    """Return True if a text can be in this language, rather than in English.

    A short text is often taken for a small language that is close to the right one.
    """
    with _lock:
        identifier = _identifier()
        identifier.set_languages(None)
        ranked = [name for name, _p in identifier.rank(without_code(text)[:_LONGEST])]
    likeliest = ranked[:_LIKELIEST]
    return language in likeliest and "en" not in ranked[: ranked.index(language)]


def asked_language(question: str, original: str, translations: Collection[str]) -> str | None:
    """Return the translation that serves a question best; None for the original.

    Identifiers and code say nothing, so the original serves a question that has nothing else.
    """
    language, probability = identified(question, {original, *translations})
    return language if language != original and probability >= SURE else None


@lru_cache(maxsize=1)
def _identifier() -> LanguageIdentifier:
    return LanguageIdentifier.from_model_file(MODEL_FILE, norm_probs=True)


@lru_cache(maxsize=1)
def _known() -> frozenset[str]:
    return frozenset(_identifier().labels)
