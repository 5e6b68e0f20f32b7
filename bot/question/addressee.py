"""Words of a message -> whether they call somebody by name. Pure.

``oncall, can you?``, ``hey oncall``, ``oncall can you``, ``what now, oncall?``, ``ask @oncall``.
"""

import re
from collections.abc import Iterable

_NAME = r"@?([\w.-]+)"
_GREETING = r"(?:(?:hey|hi|hello|ok|okay|thanks|and|so|but)[ ,]+)*"
_AT_THE_START = (
    re.compile(rf"\A{_GREETING}{_NAME} ?[,:–-](?=\s)"),
    re.compile(rf"\A(?:hey|hi|hello) {_NAME}\b"),
    re.compile(
        rf"\A{_GREETING}{_NAME} (?:can|could|would|will|did|do|are|have|please|pls) ?(?:you)?\b"
    ),
)
_ANYWHERE = (
    # Within a word, only its first hyphens may begin a name.
    re.compile(rf"(?:[,–]|(?<![\w.-])[\w.]*+-++) ?{_NAME}\s*+(?:[,?!.…]|$)"),
    re.compile(r"@([\w.-]+)"),
)
_TYPED_MENTION = re.compile(rf"{_GREETING}@([\w.-]+)(?=[\s,:]|$)")


def calls_one_of(words: str, names: Iterable[str]) -> bool:
    """Return True if the words call one of these names, or a part of one."""
    low = words.lower()
    called = {match[1] for call in _AT_THE_START if (match := call.match(low))}
    called |= {match[1] for call in _ANYWHERE for match in call.finditer(low)}
    return not _parts(names).isdisjoint(name.strip(".-") for name in called)


def calls_another(words: str, names: Iterable[str]) -> bool:
    """Return True if the words begin with a typed ``@name`` that is none of these names.

    Slack sends real mentions in another form.
    """
    called = _TYPED_MENTION.match(words.lower())
    return called is not None and called[1] not in _parts(names)


def _parts(names: Iterable[str]) -> set[str]:
    return {part for name in names for part in name.lower().split()}
