"""Segments of an answer -> one Markdown text, with an anchor where a segment cites a chunk.

An anchor is a number in braces, its digits written with characters that Unicode reserves for such
use within a program. Braces have no meaning in Markdown, but they are punctuation: bold words
before a citation end where they would end before a bracket.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent.answer import Segment

ANCHOR = re.compile("\\{([\ufdd0-\ufdd9]+)\\}")
_RESERVED = re.compile("[\ufdd0-\ufdd9]")
_DIGITS = {ord(str(digit)): chr(0xFDD0 + digit) for digit in range(10)}
_NUMBERS = {0xFDD0 + digit: str(digit) for digit in range(10)}
_FENCE_AT_END = re.compile(r"^[ \t>]*(?:```|~~~)[^\n]*\Z", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Anchored:
    """The Markdown of an answer, and the chunk ids that its anchors represent."""

    text: str
    ids: tuple[str, ...]

    def id_of(self, anchor: re.Match[str]) -> str:
        return self.ids[int(anchor[1].translate(_NUMBERS))]

    def take_out(self, text: str) -> tuple[str, list[str]]:
        """Return a text of code or of an address without anchors, and the ids that these cite."""
        return ANCHOR.sub("", text), [self.id_of(anchor) for anchor in ANCHOR.finditer(text)]


def with_anchors(segments: Iterable[Segment]) -> Anchored:
    """The texts of the segments, put together, with an anchor for each citation."""
    anchors: dict[str, str] = {}
    return Anchored("".join(_pieces(segments, anchors)), tuple(anchors))


def _pieces(segments: Iterable[Segment], anchors: dict[str, str]) -> Iterator[str]:
    for segment in segments:
        text = _RESERVED.sub("\ufffd", segment.text)
        yield text
        ids = [citation.id for citation in segment.citations]
        marks = " ".join(anchors.setdefault(ident, _anchor(len(anchors))) for ident in ids)
        # A closing fence with a word behind it would not close the code.
        yield f"\n{marks}\n" if marks and _FENCE_AT_END.search(text) else marks


def _anchor(number: int) -> str:
    return f"{{{str(number).translate(_DIGITS)}}}"
