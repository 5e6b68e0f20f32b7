"""A question -> the words of it that may leave for a search engine.

Only what is allowed passes: common words in small letters, names of public software, its versions,
and names and numbers of public errors. Any other word may be a name of a person, a customer or a
machine, or a secret. A word with a capital is a name unless software is called so.

A common word passes also if it is a name (``rose``, ``mueller``) or a part of a secret.
"""

import builtins
import errno
import json
import re
import signal
import sys
from collections.abc import Iterable
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from itertools import islice

from pygments.lexers import get_all_lexers

from ingest.documents import Passage

_LONGEST_QUESTION = 300
_FEWEST_WORDS = 2
_WORD = re.compile(r"\S++")
_OPENING, _CLOSING = "([{\"'", ")]}\"'.,;:!?"
_SENTENCE_END = ".!?:"
_VERSION = re.compile(r"v?\d{1,3}(?:\.\d{1,3}){0,2}")
_ENGLISH = re.compile(r"[a-z]{2,}|[ai]")
_NAME_WITHIN = re.compile(r"(?<=[a-z,;] )[A-Z][A-Za-z]+")
_CODE = re.compile(r"```.*?(?:```|\Z)", re.DOTALL)
_FUNCTION_WORDS = 400
"""Number of the most frequent English words: with a capital, they begin a sentence and no name."""


def public_words(question: str, passages: Iterable[Passage], people: Iterable[str] = ()) -> str:
    """The words of a question that are public; empty if too few remain for a search.

    Names of people and names that the docs write with a capital are left out in any case.
    """
    names = {name.lower() for text in passages for name in _NAME_WITHIN.findall(text.text)}
    names |= {part.lower() for person in people for part in re.findall(r"\w+", person)}
    words: list[str] = []
    begins, after_software = True, False
    for match in _WORD.finditer(_CODE.sub(" ", question)):
        word = match[0].lstrip(_OPENING)
        core = word.rstrip(_CLOSING)
        is_software = core.lower() in _software()
        is_version = after_software and _VERSION.fullmatch(core) is not None
        if is_software or is_version or _is_common(core, names, begins=begins):
            words.append(core + word[len(core) :].strip("([{\"')]}"))
        begins, after_software = word[-1:] in _SENTENCE_END, is_software
    query = " ".join(words)[:_LONGEST_QUESTION]
    return query if len(re.findall(r"\w{2,}", query)) >= _FEWEST_WORDS else ""


def _is_common(word: str, names: set[str], *, begins: bool) -> bool:
    if word == "I" or word in _statuses():
        return True
    if begins and word[:1].isupper() and word[1:].islower():
        return word.lower() in _function_words()
    return word in _english() and word not in names


@cache
def _english() -> frozenset[str]:
    """The words that the embedding model's vocabulary has whole, and common names among them."""
    return frozenset(filter(_ENGLISH.fullmatch, _vocabulary()))


@cache
def _function_words() -> frozenset[str]:
    return frozenset(islice(filter(_ENGLISH.fullmatch, _vocabulary()), _FUNCTION_WORDS))


def _vocabulary() -> list[str]:
    file = files("ingest.embedding") / "models" / "tokenizer.json"
    ranks = json.loads(file.read_text(encoding="utf-8"))["model"]["vocab"]
    return sorted(ranks, key=ranks.__getitem__)


@cache
def _statuses() -> frozenset[str]:
    return frozenset(str(status.value) for status in HTTPStatus)


@cache
def _software() -> frozenset[str]:
    """Names of software and of its errors, in lower case."""
    listed = (files(__package__) / "public_names.txt").read_text(encoding="utf-8").split()
    languages = [name for name, aliases, *_ in get_all_lexers() for name in (name, *aliases)]
    errors = [name for name in vars(builtins) if name.endswith(("Error", "Exception"))]
    errors += [*errno.errorcode.values(), *(sign.name for sign in signal.Signals)]
    return frozenset(map(str.lower, (*listed, *languages, *errors, *sys.stdlib_module_names)))
