"""Unsupported spans -> marks in the text of an answer, which people see."""

import re
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass

from agent.answer import Unsupported
from agent.grounding.cited_text import CitedText
from agent.grounding.statements import MarkdownBlock

_LONGEST_TAG = 1_200
_REMARK = re.compile(r"<!--(?:(?!<!--).)*?-->", re.DOTALL)
_TAG_OPENS = re.compile(r"<[/A-Za-z]")
_DEFINES = re.compile(r"[ \t>]*+\[[^\[\]]++\]:")


@dataclass(frozen=True, slots=True)
class MarkedSpan:
    """A span without support, and the offset of its mark."""

    at: int
    unsupported: Unsupported
    substantial: bool
    block: MarkdownBlock | None = None
    """The code block, if the span is one of its lines."""
    line: int = 0


def marked(text: CitedText, findings: Sequence[MarkedSpan]) -> CitedText:
    """The text with a mark behind each unsupported span, and one below each code block with one."""
    seen = _Seen(text.text)
    marks: list[tuple[int, str]] = []
    blocks: dict[int, list[MarkedSpan]] = {}
    for finding in findings:
        if finding.block is None:
            mark = f" (⚠ {_flat(finding.unsupported.reason)})"
            marks.append((seen.place(finding.at), seen.apart(finding.at) + mark))
        else:
            blocks.setdefault(finding.at, []).append(finding)
    marks += [(at, _block_mark(text.text, lines)) for at, lines in blocks.items()]
    return text.edited((at, at, mark) for at, mark in sorted(marks, key=lambda each: each[0]))


class _Seen:
    """The places of a text that people see: HTML and definitions of links are not shown."""

    def __init__(self, text: str) -> None:
        self._text = text
        found = _REMARK.finditer(text) if "<!--" in text else ()
        self._remarks = [match.span() for match in found]

    def place(self, at: int) -> int:
        """Return the end of the tag or comment that ``at`` is in, or ``at`` itself."""
        index = bisect_left(self._remarks, (at,)) - 1
        if index >= 0 and at < self._remarks[index][1]:
            return self._remarks[index][1]
        text = self._text
        first = max(0, at - _LONGEST_TAG)
        opening = _TAG_OPENS.search(text, max(first, text.rfind(">", first, at) + 1), at)
        closing = text.find(">", at, at + _LONGEST_TAG)
        if not opening or closing == -1 or "\n\n" in text[opening.start() : closing]:
            return at
        return closing + 1

    def apart(self, at: int) -> str:
        """Return what keeps a mark from being the title of a link's definition."""
        line = self._text[max(0, at - _LONGEST_TAG) : at].rpartition("\n")[2]
        return " –" if _DEFINES.match(line) else ""


def _block_mark(text: str, lines: Sequence[MarkedSpan]) -> str:
    block = lines[0].block
    assert block is not None  # noqa: S101  # only called with lines of a block
    opening = re.match(r"[^`~\n]*", text[block.start : block.end])
    indent = re.sub(r"[^>\s]", " ", opening.group() if opening and block.fence != "code" else "")
    reasons = {finding.unsupported.reason.split(":")[0].split(";")[0] for finding in lines}
    reason = reasons.pop() if len(reasons) == 1 else "not in the cited pages"
    numbers = list(dict.fromkeys(finding.line for finding in lines))
    which = f"line {numbers[0]}" if len(numbers) == 1 else "lines " + ", ".join(map(str, numbers))
    note = f"\n\n{indent}(⚠ {_flat(reason)}: {which} of this block)"
    return (f"\n{indent}{block.fence}" if block.fence else "") + note


def _flat(reason: str) -> str:
    """A reason without any Markdown that an id or a word could bring into it."""
    return re.sub(r"[()\[\]<>`*~\\|\n]", "", reason)[:160]
