"""A command in an answer against the commands of a source: the same, filled in, or cut short.

Letter case counts. White space, line continuation and prompts do not; flags may stand in another
order as long as each keeps its value and the other words keep theirs. A placeholder of the docs
may be filled with a word that the question, the thread or the source itself gave, or be renamed.
"""

import re
from collections.abc import Callable, Sequence
from itertools import pairwise

PLACEHOLDER = re.compile(
    r"<[^<>\s]+>|\$\{\w+\}|\{\{[^{}]*\}\}|\$\([\w_]+\)|\$[A-Z_][A-Z0-9_]*|\{\w[\w-]*\}"
    r"|(?<![\w./-])(?:[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
    r"|NAME|POD|NAMESPACE|NS|HOST|HOSTNAME|USER|ID|PORT|URL|PATH|FILE|CLUSTER|NODE|REGION|ZONE|SERVICE"
    r"|VERSION|TAG|TOKEN|KEY|DATE|ENV|DB|DATABASE|BRANCH|COMMIT|REVISION|IMAGE|CONTEXT|DEPLOYMENT"
    r"|REPLICAS|COUNT|NUMBER|N)(?![\w./-])"
    r"|(?<![\w-])(?:your|my)-[\w-]+|\b[xX]{3,}\b|…"
)
_BRACED = re.compile(r"<([^<>\n]{1,40})>|\{\{([^{}\n]{1,40})\}\}")
_SEPARATORS = ("|", "||", "&&", ";", "&", ">", ">>", "<", "#", "2>", "2>&1", "`")


def command_words(text: str) -> list[str]:
    """The words of a command; blanks inside a placeholder do not part it."""
    joined = _BRACED.sub(_without_blanks, text)
    return joined.split()


def _without_blanks(match: re.Match[str]) -> str:
    if match.group(1) is not None:
        inner = match.group(1).strip()
        # "a < b > c" is no placeholder; "<pod name>" is.
        return f"<{re.sub(r'[ ]+', '_', inner)}>" if inner == match.group(1) else match.group()
    return "{{" + re.sub(r"\s+", "_", match.group(2).strip()) + "}}"


class Template:
    """The words of a source in which placeholders may stand."""

    def __init__(self, text: str) -> None:
        words = command_words(text)
        self._words = [(word, word.strip("`'\"().,;:")) for word in words]
        self._open = [PLACEHOLDER.search(word) is not None for word in words]
        self._any = any(self._open)

    def filled_with(self, asked: Sequence[str], given: Callable[[str], bool]) -> bool:
        """Whether ``asked`` stands here with its placeholders filled or renamed."""
        if not self._any or not asked:
            return False
        for start in range(len(self._words) - len(asked) + 1):
            if self._fits(asked[0], start, given) and all(
                self._fits(word, start + number, given) for number, word in enumerate(asked)
            ):
                return True
        return False

    def _fits(self, word: str, at: int, given: Callable[[str], bool]) -> bool:
        raw, stripped = self._words[at]
        if word in (raw, stripped):
            return True
        return self._open[at] and _fill(word, raw.strip("`.,;"), given)


def _fill(word: str, known: str, given: Callable[[str], bool]) -> bool:
    parts = PLACEHOLDER.split(known)
    if len(parts) > 5:
        return False
    match = re.fullmatch("(.+?)".join(map(re.escape, parts)), word)
    return match is not None and all(
        PLACEHOLDER.fullmatch(value) is not None or given(value) for value in match.groups()
    )


def same_in_other_order(asked: Sequence[str], known: Sequence[str]) -> bool:
    """Whether only flags, each with its value, have moved."""
    if not asked or asked[0] != known[0]:
        return False
    first, second = _parted(asked), _parted(known)
    if sorted(first) != sorted(second):
        return False
    shared = _flag_pairs(first) & _flag_pairs(second)
    return _collapsed(first, shared) == _collapsed(second, shared)


def _parted(words: Sequence[str]) -> list[str]:
    """``--flag=value`` as two words."""
    parts: list[str] = []
    for word in words:
        parts += word.split("=", 1) if word.startswith("--") else [word]
    return parts


def _flag_pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    pairs = pairwise(words)
    return {(a, b) for a, b in pairs if a.startswith("-") and not b.startswith("-")}


def _collapsed(words: Sequence[str], pairs: set[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """Words that keep their order, and flags with their values, sorted."""
    others: list[str] = []
    flags: list[str] = []
    index = 0
    while index < len(words):
        following = words[index + 1] if index + 1 < len(words) else ""
        if (words[index], following) in pairs:
            flags.append(f"{words[index]} {following}")
            index += 2
        else:
            (flags if words[index].startswith("-") else others).append(words[index])
            index += 1
    return others, sorted(flags)


def left_out(asked: Sequence[str], commands: Sequence[Sequence[str]]) -> str:
    """The flag with which every documented form of the command goes on; empty: it is complete."""
    missing = ""
    for known in commands:
        for start in range(len(known) - len(asked) + 1):
            if list(known[start : start + len(asked)]) != list(asked):
                continue
            rest = known[start + len(asked) :]
            if not rest or rest[0] in _SEPARATORS or not rest[0].startswith("-"):
                return ""
            missing = missing or rest[0]
    return missing if missing and _is_runnable(asked, missing) else ""


_SAFETY = re.compile(
    r"--?(?:dry-run|check|preview|plan|diff|what-?if|no-|target|context|limit|namespace|n\b|confirm"
    r"|interactive|i\b|backup|skip|ignore|validate|wait|filter|selector|l\b|where)",
    re.IGNORECASE,
)


def _is_runnable(words: Sequence[str], missing: str) -> bool:
    """Whether it reads as a command to run rather than as the name of one (``kubectl rollout``)."""
    named_only = len(words) <= 3 and all(re.fullmatch(r"[a-z][a-z0-9_-]*", w) for w in words)
    return len(words) > 1 and (not named_only or (bool(_SAFETY.match(missing)) and len(words) > 2))
