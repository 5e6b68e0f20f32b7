"""Inline tokens -> runs: citations linked, foreign addresses inert, no HTML, nothing invisible."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from markdown_it.token import Token

from bot.blocks.anchors import ANCHOR, Anchored
from bot.blocks.links import Addresses
from bot.blocks.runs import Run, Runs, Style, stripped
from bot.reading.addresses import openable
from ingest.invisible import ASCII_CONTROLS, BIDI_CONTROLS, LATIN_CONTROLS, TAGS, char_class

_STYLES: dict[str, Style] = {"strong_open": "bold", "em_open": "italic", "s_open": "strike"}
_UNSEEN = re.compile(char_class(ASCII_CONTROLS, LATIN_CONTROLS, BIDI_CONTROLS, TAGS))
"""Control characters, tags, and marks that turn the direction of words; code keeps even these."""
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


@dataclass(frozen=True)
class Inline:
    """Reads the words of one answer, and records which chunks they cite."""

    anchored: Anchored
    urls: Mapping[str, str | None]
    """Chunk id -> address of its lines."""
    addresses: Addresses
    cited: dict[str, None] = field(default_factory=dict)
    """The chunk ids of the citations read so far, in order."""

    def runs(self, tokens: Sequence[Token]) -> Runs:
        """The runs of a paragraph, heading or cell, without white space around them."""
        return stripped(self.addresses.filtered(tuple(self._runs(tokens))))

    def code(self, text: str) -> tuple[str, Runs]:
        """A code block's text, and the citations that were in it."""
        code, ids = self.anchored.take_out(text)
        return code, self.citations(ids)

    def citations(self, ids: Sequence[str]) -> Runs:
        """A run for each of these ids, with blanks between."""
        runs: list[Run] = []
        for ident in ids:
            runs += [Run(" "), self._citation(ident)] if runs else [self._citation(ident)]
        return tuple(runs)

    def _citation(self, ident: str, styles: tuple[Style, ...] = ()) -> Run:
        self.cited[ident] = None
        return Run(f"[{ident}]", styles, url=openable(self.urls.get(ident)), cites=ident)

    def _runs(self, tokens: Sequence[Token]) -> Iterator[Run]:
        styles: list[Style] = []
        url: str | None = None
        for token in tokens:
            if token.type in _STYLES:
                styles.append(_STYLES[token.type])
            elif token.type in ("em_close", "strong_close", "s_close"):
                styles.pop()
            elif token.type == "link_open":
                url, _ = self.anchored.take_out(str(token.attrs.get("href", "")))
            elif token.type == "link_close":
                url = None
            elif token.type == "citation" and (anchor := ANCHOR.match(token.content)):
                yield self._citation(self.anchored.id_of(anchor), tuple(styles))
            else:
                yield from self._words(token, tuple(styles), url)

    def _words(self, token: Token, styles: tuple[Style, ...], url: str | None) -> Iterator[Run]:
        text, ids = self.anchored.take_out(token.content)
        run = Run(_UNSEEN.sub("", text), styles, url=url)
        match token.type:
            case "code_inline":
                run = replace(run, text=text, code=True)
            case "softbreak" | "hardbreak":
                run = replace(run, text="\n")
            case "html_inline":
                run = replace(run, text="\n" if _BREAK.fullmatch(text) else "")
        yield run
        if ids:
            yield from (Run(" "), *self.citations(ids))
