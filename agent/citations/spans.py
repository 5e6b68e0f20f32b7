"""Text of an answer -> the spans that a source must contain: code, addresses, flags, paths, codes,
values, quoted strings.

Numbers that are markers ("Step 3", "1.") and words that everybody knows are left out: a false
alarm teaches people to ignore the marks.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from agent.citations.quantities import Value, read_values
from agent.citations.statements import Span, without

Kind = Literal["code", "url", "literal", "name", "value", "quote"]


@dataclass(frozen=True, slots=True)
class Checked:
    """A span of the answer that needs support; ``end`` is where a mark can stand."""

    kind: Kind
    start: int
    end: int
    text: str
    value: Value | None = None
    counts_things: bool = False


_URL = r"(?:https?|ftp|ssh|wss?|postgres(?:ql)?|redis|amqp|s3|file)://[^\s<>\"'`\[\]{}|\\^]+"
_LINK = re.compile(
    r"!?\[(?P<label>[^\[\]\n]*)\]\((?P<url>\s*<?[^\s<>]*?>?)(?:\s+\"[^\"\n]*\")?\s*\)"
)
_QUOTE = re.compile(r"\"([^\"\n]{2,200})\"|“([^”\n]{2,200})”|«([^»\n]{2,200})»")
_TLD = "com|net|org|io|dev|internal|local|svc|cloud|app|co|ai|example|test|lan|corp|intra|invalid"
_EXTENSION = (
    "ya?ml|json|toml|conf|cfg|ini|env|sh|py|go|js|ts|rb|java|sql|log|txt|md|rst|tf|service|timer"
    "|properties|xml|csv|pem|crt|key|gz|zip|tar|lock|html?"
)
_TOKENS = re.compile(
    rf"(?P<url>{_URL})"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)"
    rf"|(?P<host>(?<![\w@/.-])(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:{_TLD})\b(?![\w-])(?::\d+)?(?:/[\w./%?=&#-]*)?)"
    r"|(?P<ip>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?(?![\w.]\w))"
    r"|(?P<path>(?<![\w/.:*)])(?:~|\.{1,2})?/[\w.@%+~-]+(?:/[\w.@%+~*-]+)*/?"
    rf"|(?<![\w/.:-])[\w-]+(?:/[\w.-]+)+\.(?:{_EXTENSION})\b|(?<![\w/.:-])\w[\w-]*\.(?:{_EXTENSION})\b)"
    r"|(?P<windows>\b[A-Z]:\\[\w\\.$-]+)"
    r"|(?P<flag>(?<![\w-])--[A-Za-z][\w-]*(?:=[^\s,;)]+)?|(?<![\w-])-[A-Za-z](?![\w-]))"
    r"|(?P<name>(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*-\d\w*(?:[-.]\w+)*\b|\b[A-Z]{1,5}\d{3,}\b"
    r"|\b0x[0-9A-Fa-f]+\b|(?<!\w)(?=\w{0,60}[A-Za-z])\w{1,60}_\w{0,60}[A-Za-z0-9]\b|\b(?:[A-Z][a-z0-9]+){3,}\b)",
)
_WELL_KNOWN = re.compile(
    r"(?:utf|sha|iso|aes|rsa|md|base|x86|covid|ipv|http|ascii|latin|arm|amd|mp)-?\d+"
    r"|(?:mid|pre|post|top|step|tier|level|phase|day|week|layer|part|option|point|item|line|version"
    r"|non|sub|under|over|about|and|or|to|than|plan|method)-\d\w*",
    re.IGNORECASE,
)
_ORDINAL = re.compile(r"(?:st|nd|rd|th)\b", re.IGNORECASE)
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


def find_spans(
    text: str, span: Span, holes: Sequence[Span], code: Sequence[Span]
) -> Iterator[Checked]:
    """The spans of one statement; ``holes`` are its citations, ``code`` its code spans."""
    start, end = span
    inside = [each for each in code if start <= each[0] < end]
    for first, last in inside:
        content = _code_content(text[first:last])
        if content:
            yield Checked("code", first, last, content)
    prose = _masked(text, span, [*holes, *inside])
    yield from _in_prose(prose, start)


def _code_content(marked: str) -> str:
    ticks = len(marked) - len(marked.lstrip("`"))
    content = marked[ticks:-ticks].replace("\n", " ")
    return content.strip()


def _masked(text: str, span: Span, holes: Sequence[Span]) -> str:
    """The statement's text with blanks for what is not prose; offsets stay."""
    out = []
    at = span[0]
    for start, end in without(span, sorted(holes)):
        out += [" " * (start - at), text[start:end]]
        at = end
    out.append(" " * (span[1] - at))
    return "".join(out).replace("*", " ")


def _in_prose(prose: str, offset: int) -> Iterator[Checked]:
    for match in _LINK.finditer(prose):
        url = match.group("url").strip().strip("<>")
        if url:
            yield Checked("url", offset + match.start(), offset + match.end(), url)
        prose = _blank(prose, match.start("url"), match.end("url"))
    quotes = [(m.start(), m.end(), next(filter(None, m.groups()))) for m in _QUOTE.finditer(prose)]
    for start, end, content in quotes:
        content = re.sub(r"\[([^\[\]]*)\]\([^()]*\)", r"\1", content).strip()
        if re.search(r"\w", content):
            yield Checked("quote", offset + start, offset + end, content)
        prose = _blank(prose, start, end)
    for match in _TOKENS.finditer(prose):
        checked = _token(match, offset)
        prose = _blank(prose, match.start(), match.end())
        if checked is not None:
            yield checked
    for value in read_values(prose) if re.search(r"\d", prose) else ():
        checked = _value(prose, value, offset)
        if checked is not None:
            yield checked


def _blank(text: str, start: int, end: int) -> str:
    return text[:start] + " " * (end - start) + text[end:]


def _token(match: re.Match[str], offset: int) -> Checked | None:
    text = match.group()
    kind: Kind = "literal"
    if match.lastgroup == "url":
        kind = "url"
        text = clean_url(text)
    elif match.lastgroup == "name":
        kind = "name"
        if _WELL_KNOWN.fullmatch(text):
            return None
    else:
        text = text.rstrip(".,:;")
    start = offset + match.start()
    return Checked(kind, start, start + len(text), text)


def clean_url(text: str) -> str:
    """A URL without the punctuation of the sentence around it."""
    text = text.rstrip(".,:;!?*_'")
    while text.endswith(")") and text.count(")") > text.count("("):
        text = text[:-1].rstrip(".,:;!?*_'")
    return text


def _value(prose: str, value: Value, offset: int) -> Checked | None:
    end = value.end
    things = None
    if value.kind == "quantity" and not value.unit:
        if _ORDINAL.match(prose, value.end) or _is_marker(prose, value):
            return None
        things = _THINGS.match(prose, value.end)
        if things:
            second = _THINGS.match(prose, things.end())
            end = second.end() if second else things.end()
    start = offset + value.start
    text = prose[value.start : end].strip()
    return Checked("value", start, offset + end, text, value, things is not None)


def _is_marker(prose: str, value: Value) -> bool:
    """Whether the number only names a place: "Step 3", "(2)", "1) "."""
    before = prose[max(0, value.start - 12) : value.start]
    if _MARKER_BEFORE.search(before):
        return True
    after = prose[value.end : value.end + 2]
    alone = not before.strip() or before[-1] == "\n"
    return (before.endswith("(") and after.startswith(")") and value.number < 20) or (
        alone and re.match(r"[.)]\s", after) is not None and value.number < 100
    )
