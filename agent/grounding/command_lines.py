"""Compare a command in an answer with the commands of a chunk: equal, filled in, or cut short.

Letter case counts. White space, line continuation and prompts do not. Flags can be in another order
if each keeps its value and the other words keep their order. A placeholder of the docs can be
renamed, or filled with a word of the question, the thread or the chunk.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise

from agent.grounding.statements import code_spans

_MARKED = (
    r"<[^<>\s]+>|\$\{\w+\}|\{\{\s*(?:\$\w+\.|\.)?\w[\w-]*\s*\}\}|\$\([\w_]+\)|\$[A-Z_][A-Z0-9_]*|\{[A-Za-z_][\w-]*\}"
    r"|(?<![\w-])(?:your|my)-[\w-]+|(?<![\w-])(?:YOUR|MY)_\w+|\b[xX]{3,}\b|…"
)
_GENERIC = (
    "NAME|POD|NAMESPACE|NS|HOST|HOSTNAME|USER|ID|PORT|URL|PATH|FILE|CLUSTER|NODE|REGION|ZONE|SERVICE"
    "|VERSION|TAG|TOKEN|KEY|DATE|ENV|DB|DATABASE|BRANCH|COMMIT|REVISION|IMAGE|CONTEXT|DEPLOYMENT"
    "|REPLICAS|COUNT|NUMBER|N"
)
_SNAKE = r"[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+"
PLACEHOLDER = re.compile(
    rf"{_MARKED}|(?<![\w./-])(?:{_GENERIC}|(?:[A-Z0-9]+_)+(?:{_GENERIC}))(?![\w./=-])"
)
"""A word that is a placeholder anywhere."""


def is_placeholder(word: str) -> bool:
    """Return True if a word of an answer is a placeholder; there, "my-nginx" is a name."""
    return PLACEHOLDER.fullmatch(word) is not None and not word.startswith("my-")


_ARGUMENT = re.compile(rf"{PLACEHOLDER.pattern}|(?<![\w./-]){_SNAKE}(?![\w./=-]|:$)")
"""In a documented command every SNAKE_NAME can be a placeholder; elsewhere it is a name."""
_DECLARES = ("export", "unset", "set", "env", "declare", "setx", "=")

_TOOLS = (
    "kubectl|helm|terraform|tofu|git|docker|podman|psql|systemctl|journalctl|curl|wget|ssh|scp|rsync|aws"
    "|gcloud|az|ansible|ansible-playbook|oc|argocd|vault|npm|pip|chmod|chown|rm|dd|mkfs|kill|pkill|killall"
    "|sudo|redis-cli|mysql|pg_dump|pg_restore|etcdctl|istioctl|flux|kustomize|consul|nomad"
)
_RISKY = (
    "delete|destroy|drop|apply|scale|drain|cordon|restart|stop|push|reset|rm|prune|uninstall|rollback"
    "|patch|exec|remove|terminate|reboot|rollout|import|taint|force-unlock|-[a-zA-Z-]+"
)
_PROSE_WORD = (
    r"(?!(?:to|and|or|for|in|on|at|the|then|than|with|from|if|is|are|was|when|again|until|before|after|as"
    r"|by|it|its|a|an|of|that|this|which|will|can|should|must|sure|command|commands|first|once)\b)"
)
PROSE_COMMAND = re.compile(
    r"(?<![\w./-])(?=[A-Za-z])(?:(?P<verb>(?:[Rr]un|[Ee]xecute|[Tt]ype|[Ii]ssue|[Tt]ry)(?:ning)?:?\s+))?"
    rf"(?P<command>(?<![\w./-])(?:(?P<sql>(?:DROP|TRUNCATE|ALTER|DELETE FROM|INSERT INTO)(?=\s+\w))"
    rf"|(?:{_TOOLS}|make)(?=\s+(?P<risky>(?:{_RISKY})(?![\w-]))?))"
    rf"(?:[ ]+{_PROSE_WORD}[\w.:=@<>${{}}/-]*[\w}}>/]){{1,5}})"
)
"""A command without code marks; a word such as "git" alone is not a command."""
_IS_TOOL = re.compile(rf"(?:{_TOOLS}|make|[A-Z]{{4,}})")


def is_command(text: str) -> bool:
    """Return True for a command that does something: a tool, option or path and other words."""
    words = text.split()
    return len(words) > 1 and (
        _IS_TOOL.fullmatch(words[0]) is not None
        or any(not re.fullmatch(r"[\w',:.-]+", word) or word.startswith("-") for word in words)
    )


_BRACED = re.compile(r"<([^<>\n]{1,40})>|\{\{([^{}\n]{1,40})\}\}")


_WORD = re.compile(r"(?:(?<![^\s=])(?:\"[^\"\n]*\"|'[^'\n]*')|\S)+")


def command_words(text: str) -> list[str]:
    """Split a command into words; blanks inside a placeholder or quotes do not split."""
    joined = _BRACED.sub(_without_blanks, text)
    return _WORD.findall(joined) if '"' in joined or "'" in joined else joined.split()


def _without_blanks(match: re.Match[str]) -> str:
    if match.group(1) is not None:
        inner = match.group(1).strip()
        # "<pod name>" is a placeholder, "a < b > c" is not.
        return f"<{re.sub(r'[ ]+', '_', inner)}>" if inner == match.group(1) else match.group()
    return "{{" + re.sub(r"\s+", "_", match.group(2).strip()) + "}}"


class Template:
    """The words of a chunk, which can contain placeholders."""

    def __init__(self, text: str) -> None:
        self._words: list[tuple[str, str]] = []
        self._open: list[re.Pattern[str] | None] = []
        if _ARGUMENT.search(text) or _BRACED.search(text):
            self._read(text)
        self._index()

    @classmethod
    def of_commands(cls, commands: Iterable[Sequence[str]]) -> "Template":
        """A template in which nothing reaches from one command into the next."""
        template = cls("")
        for words in commands:
            template._add(words, _ARGUMENT if len(words) > 1 else PLACEHOLDER)
            template._add(("\n",), PLACEHOLDER)
        template._index()
        return template

    def _read(self, text: str) -> None:
        at = 0
        for start, end in code_spans(text):
            self._add(command_words(text[at:start]), PLACEHOLDER, "`'\"().,;:")
            words = command_words(text[start:end].strip("`"))
            self._add(words, _ARGUMENT if len(words) > 1 else PLACEHOLDER)
            at = end
        self._add(command_words(text[at:]), PLACEHOLDER, "`'\"().,;:")

    def _index(self) -> None:
        self._starts: dict[str, list[int]] = {}
        self._any = any(self._open)
        # A command does not begin with a placeholder.
        self._opens = [
            at
            for at, pattern in enumerate(self._open)
            if pattern and not pattern.fullmatch(self._words[at][0].strip("`.,;"))
        ]
        for at, pair in enumerate(self._words if self._any else ()):
            for word in set(pair):
                self._starts.setdefault(word, []).append(at)

    def _add(self, words: Sequence[str], pattern: re.Pattern[str], around: str = "`;") -> None:
        before = "="
        some = pattern.search(" ".join(words)) is not None
        for word in words:
            documented = PLACEHOLDER if before in _DECLARES else pattern
            self._words.append((word, word.strip(around)))
            self._open.append(documented if some and documented.search(word) else None)
            before = word

    def filled_with(self, command: Sequence[str], is_known: Callable[[str], bool]) -> bool:
        """Return True if the chunk contains ``asked`` with other words for its placeholders."""
        if not self._any or not command:
            return False
        last = len(self._words) - len(command)
        return any(
            start <= last
            and all(
                self._fits(word, start + number, is_known) for number, word in enumerate(command)
            )
            for start in (*self._starts.get(command[0], ()), *self._opens)
        )

    def _fits(self, word: str, at: int, is_known: Callable[[str], bool]) -> bool:
        raw, stripped = self._words[at]
        word = word.rstrip(";")
        if word in (raw, stripped):
            return True
        pattern = self._open[at]
        values = _fillings(word, pattern.split(raw.strip("`.,;"))) if pattern else None
        return values is not None and all(is_placeholder(one) or is_known(one) for one in values)


def _fillings(word: str, parts: Sequence[str]) -> list[str] | None:
    """The texts between ``parts`` in ``word``; None if a part is missing or a text is empty."""
    first, *between = parts
    if not between or not word.startswith(first):
        return [] if word == first else None
    *between, last = between
    values, at = [], len(first)
    for part in between:
        place = word.find(part, at + 1)
        if place == -1:
            return None
        values.append(word[at:place])
        at = place + len(part)
    end = len(word) - len(last)
    return [*values, word[at:end]] if at < end and word.endswith(last) else None


def same_in_other_order(command: Sequence[str], documented: Sequence[str]) -> bool:
    """Return True if two commands differ only in the order of flags, each with its value."""
    first, second = _parted(command), _parted(documented)
    if sorted(first) != sorted(second):
        return False
    shared = _flag_pairs(first) & _flag_pairs(second)
    return _collapsed(first, shared) == _collapsed(second, shared)


def _parted(words: Sequence[str]) -> list[str]:
    """Split ``--flag=value`` into two words."""
    parts: list[str] = []
    for word in words:
        parts += word.split("=", 1) if word.startswith("--") else [word]
    return parts


def _flag_pairs(words: Sequence[str]) -> set[tuple[str, str]]:
    pairs = pairwise(words)
    return {(a, b) for a, b in pairs if a.startswith("-") and not b.startswith("-")}


def _collapsed(words: Sequence[str], pairs: set[tuple[str, str]]) -> tuple[list[str], list[str]]:
    """The words without flags, in order; and the flags with their values, sorted."""
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


def parted(words: Sequence[str]) -> str:
    """Write a command with ``--flag value`` for ``--flag=value``, and a blank around each word."""
    return f" {' '.join(_parted(words))} "


def names_command(command: Sequence[str], documented: Sequence[str]) -> bool:
    """Return True if a short form names the command.

    ``kubectl rollout undo`` names ``kubectl -n shop rollout undo deploy/cart``.
    """
    if (
        not _is_name(command)
        or command[0] == "sudo"
        or any(_NARROWS.match(word) for word in documented)
    ):
        return False
    others, _ = _collapsed(documented, _flag_pairs(documented))
    return len(command) > 1 and others[: len(command)] == list(command)


def _is_name(words: Sequence[str]) -> bool:
    return len(words) <= 3 and all(re.fullmatch(r"[a-z][a-z0-9_-]*", word) for word in words)


def left_out(command: Sequence[str], commands: Sequence[Sequence[str]]) -> str:
    """The words that every documented form of the command has before or after it, or nothing."""
    command = [*command[:-1], command[-1].rstrip(";")]
    missing = ""
    for documented in commands:
        for start in range(len(documented) - len(command) + 1):
            if list(documented[start : start + len(command)]) != command:
                continue
            before, rest = documented[:start], documented[start + len(command) :]
            lost = _lost(before, rest)
            if not lost:
                return ""
            missing = missing or lost
    return missing if missing and _is_runnable(command, missing) else ""


def _lost(before: Sequence[str], rest: Sequence[str]) -> str:
    if before and all(_ASSIGNMENT.fullmatch(word) for word in before):
        return " ".join(before)
    if rest and (rest[0].startswith("-") or _GOES_ON.fullmatch(rest[0])):
        return rest[0]
    return ""


_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=\S*")
_GOES_ON = re.compile(r"(?i:where|limit)|[A-Za-z_]\w*=\S*")
_NARROWS = re.compile(
    r"--?(?:dry-run|check|preview|plan|diff|what-?if|no-|target|limit|confirm|interactive|i\b|backup"
    r"|skip|ignore|validate|filter|selector|l\b|where)",
    re.IGNORECASE,
)
"""Options that limit a command: without them it does more than the documented one."""
_SAFETY = re.compile(rf"{_NARROWS.pattern}|--?(?:context|namespace|n\b|wait)", re.IGNORECASE)


def _is_runnable(words: Sequence[str], missing: str) -> bool:
    """Return True for a command to run, False for the mere name of one (``kubectl rollout``)."""
    if not missing.startswith("-"):
        return True
    return not _is_name(words) or bool((_SAFETY if len(words) > 2 else _NARROWS).match(missing))


_CHAIN = re.compile(r"&&|\|\||;")


def chained(text: str) -> list[str]:
    """Split a line into the commands that run one after the other; a pipe is one command."""
    return [part for part in map(str.strip, _CHAIN.split(text)) if part]
