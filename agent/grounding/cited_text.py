"""Markdown with its citations as data: each citation is one character of the text, ``MARK``.

An offset beside the text would not be enough. A line that holds only a citation would be an empty
line, and Markdown would read another structure. As a character, the citation also keeps its place
when the text around it is cut, marked or joined.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from agent.answer import Citation, Segment

MARK = "\ufdd0"
"""Stands for one citation. Unicode reserves this code point for the inside of programs."""

Edit = tuple[int, int, "CitedText | str"]
"""Replace the characters from the first offset up to the second."""


@dataclass(frozen=True, slots=True)
class CitedText:
    """Markdown, and one citation for each ``MARK`` in it, in order."""

    text: str = ""
    citations: tuple[Citation, ...] = ()

    @classmethod
    def plain(cls, text: str) -> "CitedText":
        """Text of any origin, which cites nothing yet."""
        return cls(text.replace(MARK, ""))

    @classmethod
    def citing(cls, *citations: Citation) -> "CitedText":
        """Citations without any words."""
        return cls(MARK * len(citations), citations)

    def __bool__(self) -> bool:
        return bool(self.text)

    def __add__(self, other: "CitedText | str") -> "CitedText":
        return joined((self, other))

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the cited chunks, in order of first citation."""
        return tuple(dict.fromkeys(citation.id for citation in self.citations))

    @property
    def segments(self) -> tuple[Segment, ...]:
        """The pieces of text, each with the citations that follow it."""
        segments: list[Segment] = []
        pieces = self.text.split(MARK)
        for piece, citation in zip(pieces, self.citations, strict=False):
            if piece or not segments:
                segments.append(Segment(piece, (citation,)))
            else:
                last = segments[-1]
                segments[-1] = Segment(last.text, (*last.citations, citation))
        return (*segments, Segment(pieces[-1])) if pieces[-1] else tuple(segments)

    def places(self) -> Iterator[tuple[int, Citation]]:
        """Each citation with its offset in the text."""
        at = -1
        for citation in self.citations:
            at = self.text.index(MARK, at + 1)
            yield at, citation

    def upto(self, end: int) -> "CitedText":
        """The text before offset ``end``."""
        text = self.text[:end]
        return CitedText(text, self.citations[: text.count(MARK)])

    def strip(self) -> "CitedText":
        """Return the text without white space at either end."""
        return CitedText(self.text.strip(), self.citations)

    def edited(self, edits: Iterable[Edit]) -> "CitedText":
        """Make ``edits``, which are in order and do not overlap; the rest keeps its citations."""
        parts: list[CitedText | str] = []
        at = used = 0
        for start, end, replacement in edits:
            before, gone = self.text[at:start], self.text[start:end].count(MARK)
            count = before.count(MARK)
            parts += [CitedText(before, self.citations[used : used + count]), replacement]
            used += count + gone
            at = end
        return joined([*parts, CitedText(self.text[at:], self.citations[used:])])

    def without(self, pattern: re.Pattern[str], spans: Iterable[tuple[int, int]]) -> "CitedText":
        """Return the text without the matches of ``pattern`` in ``spans``, which are in order."""
        matches = (match for span in spans for match in pattern.finditer(self.text, *span))
        return self.edited((*match.span(), "") for match in matches)


def joined(parts: Iterable[CitedText | str], between: str = "") -> CitedText:
    """Put texts together; a string cites nothing."""
    texts = [part if isinstance(part, CitedText) else CitedText.plain(part) for part in parts]
    citations = tuple(citation for text in texts for citation in text.citations)
    return CitedText(between.join(text.text for text in texts), citations)
