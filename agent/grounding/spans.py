"""Text of an answer -> the spans that a cited chunk must contain: code, addresses, flags, paths,
codes, values, quoted strings, commands.

Numbers of steps ("Step 3", "1.") and words that everybody knows are left out: false alarms teach
people to ignore the marks.
"""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from agent.grounding.cited_text import MARK
from agent.grounding.command_lines import PROSE_COMMAND
from agent.grounding.matching import HYPHENS
from agent.grounding.patterns import LINK, QUOTE, TOKENS, WELL_KNOWN, clean_url
from agent.grounding.quantities import ORDINAL, Value, read_values
from agent.grounding.statements import Span, without
from agent.grounding.values import nouns

SpanKind = Literal[
    "code",
    "command",
    "url",
    "literal",
    "name",
    "hash",
    "value",
    "place",
    "zone",
    "weekday",
    "quote",
]


@dataclass(frozen=True, slots=True)
class CheckedSpan:
    """A span of the answer that needs support; a mark goes at ``end``."""

    kind: SpanKind
    start: int
    end: int
    text: str
    value: Value | None = None
    counts_things: bool = False
    things: tuple[str, ...] = ()
    """The nouns after a number in words."""
    denied: bool = False
    """True if the span needs no support.

    The answer denies it, calls it unneeded or undocumented, or repeats the question.
    """


_DENIED_BEFORE = re.compile(
    r"(?:\b(?:not?|never|nothing (?:about|on)|without|nor|instead of|rather than|keine?|nicht|ohne"
    r"|sans|pas)|n't)\s+"
    r"(?:(?:run|use|add|set|call|need|require|mention|name|document|cover|list|contain|include|say"
    r"|state|know|describe|find|see|show)\w*\s+)?"
    r"(?:(?:the|an?|any|anything|mention|information|about|on|of|by|in|to|as|at)\s+)*[`\"“'(]*$",
    re.IGNORECASE,
)
_ASKED_BEFORE = re.compile(
    r"\byour\s$|(?:\b(?:you|alert|message|thread)"
    r" (?:ask|mention|sa[iy]|saw|show|describe|report|quote)\w*"
    r"|(?:^|[.:;!?]\s|\n)(?:for|with|since|given)\b)[^.,:;!?\n]{0,40}$",
    re.IGNORECASE,
)
_DENIED_AFTER = re.compile(
    r"[`\"”')]*\s+(?:[a-z]+\s+)?(?:is|are|does|do)(?:\s+not|n't)\s+(?:be\s+)?(?:need|requir|necess|docum"
    r"|mention|support|cover|list|appear|in the|named|exist)",
)
_MARKER_BEFORE = re.compile(
    r"(?:steps?|options?|points?|items?|methods?|parts?|sections?|phases?|approach|way|case|level|tier"
    r"|figure|table|chapter|no\.|nr\.|#)\s?$",
    re.IGNORECASE,
)
_THINGS = re.compile(
    r"\s(?!(?:is|are|was|were|and|or|by|in|at|of|per|the|an?|to|if|for|with|then|than|on|as|from|when"
    r"|but|which|that|it|can|may|must|will|has|have|had|so|not|no|until|after|before|because|means"
    r"|while|via|into|out|up|off|do|does)\b|(?:se[cgk]|min|hor|heu|stu|jo[ur]|tag|d[ií]a)[a-z]*\b)"
    r"([a-z][a-z-]*)"
)
_HTML_CODE = re.compile(r"<(code|kbd|pre)>([^<>\n]{1,300})</\1>")
_MAY_HAVE_VALUES = re.compile(
    r"\d|\b[Ii]n [A-Z]|\ban? (?:hour|day|week|month)\b"
    r"|(?i:\b(?:t(?:wo|hree|en|we|hi)|f(?:our|ive|if|or)|s(?:ix|ev)|eigh|nine|elev|one|half|quarter))"
)


def find_spans(
    text: str,
    span: Span,
    citations: Span,
    code: Sequence[Span],
    *,
    comment: bool = False,
) -> Iterator[CheckedSpan]:
    """Find the spans of one statement; ``code`` holds the code spans of its paragraph, in order."""
    start, end = span
    inside = code[bisect_left(code, (start,)) : bisect_left(code, (end,))]
    for first, last in inside:
        content = _code_content(text[first:last])
        if content:
            yield _with_denial(text, span, CheckedSpan("code", first, last, content))
    prose = _masked(text, span, [citations, *inside]).translate(HYPHENS)
    holes = []
    for match in _HTML_CODE.finditer(prose) if "<" in prose else ():
        yield CheckedSpan(
            "code", start + match.start(), start + match.end(), match.group(2).strip()
        )
        holes.append(match.span())
    prose = _blanked(prose, holes)
    for checked in _in_prose(text, prose, start, comment=comment):
        yield _with_denial(text, span, checked)


def _with_denial(text: str, span: Span, checked: CheckedSpan) -> CheckedSpan:
    before = text[max(span[0], checked.start - 60) : checked.start].replace("*", "")
    after = text[checked.end : min(span[1], checked.end + 60)].replace("*", "")
    is_asked = checked.value is not None and _ASKED_BEFORE.search(before)
    if is_asked or _DENIED_BEFORE.search(before) or _DENIED_AFTER.match(after):
        return replace(checked, denied=True)
    return checked


def _code_content(marked: str) -> str:
    ticks = len(marked) - len(marked.lstrip("`"))
    content = marked[ticks:-ticks].replace("\n", " ")
    return content.strip()


def _masked(text: str, span: Span, holes: Sequence[Span]) -> str:
    """The statement's text with blanks in place of everything but prose, at the same offsets."""
    start, end = span
    holes = [(first - start, last - start) for first, last in sorted(holes)]
    return _blanked(text[start:end], holes).replace("*", " ")


def _in_prose(text: str, prose: str, offset: int, *, comment: bool) -> Iterator[CheckedSpan]:
    holes = []
    for match in LINK.finditer(prose):
        url = match.group("url").strip().strip("<>")
        address = url.removeprefix("mailto:")
        if url:
            kind: SpanKind = "url" if address == url else "literal"
            yield CheckedSpan(kind, offset + match.start(), offset + match.end(), address)
        holes.append(match.span("url"))
    prose, holes = _blanked(prose, holes), []
    for match in QUOTE.finditer(prose):
        content = text[offset + match.start() + 1 : offset + match.end() - 1].replace(MARK, "")
        content = re.sub(r"\[([^\[\]]*)\]\([^()]*\)|[`*]", r"\1", content).strip()
        if re.search(r"\w", content):
            yield CheckedSpan("quote", offset + match.start(), offset + match.end(), content)
        holes.append(match.span())
    prose, holes = _blanked(prose, holes), []
    yield from _commands(prose, offset, comment=comment)
    for match in TOKENS.finditer(prose):
        checked = _token(match, offset)
        if match.lastgroup not in ("zone", "weekday"):
            holes.append(match.span())
        if checked is not None:
            yield checked
    prose = _blanked(prose, holes)
    for value in read_values(prose) if _MAY_HAVE_VALUES.search(prose) else ():
        before = text[max(offset, offset + value.start - 12) : offset + value.start]
        checked = _value(prose, value, offset, is_cited=before.rstrip(" ").endswith(MARK))
        if checked is not None:
            yield checked


def _commands(prose: str, offset: int, *, comment: bool) -> Iterator[CheckedSpan]:
    for match in PROSE_COMMAND.finditer(prose):
        if comment or match["verb"] or match["risky"] or match["sql"]:
            words = match["command"].rstrip(".,:;!?")
            start = offset + match.start("command")
            yield CheckedSpan("command", start, start + len(words), words)


def _blanked(text: str, holes: Sequence[Span]) -> str:
    """The text with blanks for each hole, in order."""
    out, at = [], 0
    for start, end in without((0, len(text)), holes):
        out += [" " * (start - at), text[start:end]]
        at = end
    return "".join([*out, " " * (len(text) - at)])


_TOKEN_KINDS: dict[str, SpanKind] = {
    "url": "url",
    "name": "name",
    "hash": "hash",
    "zone": "zone",
    "weekday": "weekday",
}


def _token(match: re.Match[str], offset: int) -> CheckedSpan | None:
    text = match.group()
    kind = _TOKEN_KINDS.get(match.lastgroup or "", "literal")
    if kind == "url":
        text = clean_url(text)
    elif kind == "name" and WELL_KNOWN.fullmatch(text):
        return None
    elif kind == "literal":
        text = text.rstrip(".,:;")
    start = offset + match.start()
    return CheckedSpan(kind, start, start + len(text), text)


def _value(prose: str, value: Value, offset: int, *, is_cited: bool) -> CheckedSpan | None:
    """Return the span of a value. ``is_cited``: a citation ends the words before the number."""
    start, end = offset + value.start, value.end
    if value.spelt and not value.unit:
        things = tuple(nouns(prose, end))
        return CheckedSpan("value", start, offset + end, value.text, value, things=things)
    things_match = None
    if value.kind == "quantity" and not value.unit:
        if ordinal := re.compile(ORDINAL).match(prose, end):
            if value.number < 3 and not prose.startswith(" of ", ordinal.end()):
                return None  # "the 2nd attempt"
            last = offset + ordinal.end()
            return CheckedSpan("place", start, last, value.text + ordinal.group(), value)
        if _is_marker(prose, value, is_cited=is_cited):
            return None
        things_match = _THINGS.match(prose, end)
        if things_match:
            second = _THINGS.match(prose, things_match.end())
            end = second.end() if second else things_match.end()
    text = prose[value.start : end].strip()
    return CheckedSpan("value", start, offset + end, text, value, things_match is not None)


def _is_marker(prose: str, value: Value, *, is_cited: bool) -> bool:
    """Return True if the number only counts a step or an item: "Step 3", "(2)", "1) "."""
    before = prose[max(0, value.start - 12) : value.start]
    if _MARKER_BEFORE.search(before):
        return True
    after = prose[value.end : value.end + 2]
    alone = is_cited or not before.strip() or before[-1] == "\n"
    return (before.endswith("(") and after.startswith(")") and value.number < 20) or (
        alone and re.match(r"[.)]\s", after) is not None and value.number < 100
    )
