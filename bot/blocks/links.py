"""The addresses in an answer that may be clicked: those of its chunks, and those in their texts.

Any other address is shown as code, or left out if its label is enough.
"""

import html
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import groupby

from bot.blocks.document_links import DocumentLinks
from bot.blocks.runs import Run, Runs, merged
from bot.reading.addresses import ADDRESS, addresses_in, linkable, openable
from ingest.documents import Passage

_HOST = re.compile(r"(?:(?:https?|ftp)://|mailto:|tel:)([^/?#\s]*)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
_NOWHERE = (sys.maxsize, sys.maxsize)


def _no_document(_: str) -> str | None:
    return None


@dataclass(frozen=True)
class Addresses:
    """The addresses that the retrieved passages have, and those in their texts."""

    known: frozenset[str] = field(default=frozenset())
    document: Callable[[str], str | None] = _no_document
    """A link from one document to another -> the address of the other document, or None."""

    @classmethod
    def of(cls, passages: Sequence[Passage], urls: Iterable[str | None] = ()) -> "Addresses":
        """The addresses of these passages and in their texts, and ``urls``."""
        own = (passage.url for passage in passages)
        known = {url for url in (*own, *urls) if url}
        for passage in passages:
            known |= addresses_in(passage.text)
            if "&" in passage.text:
                known |= addresses_in(html.unescape(passage.text))
        return cls(frozenset(known), DocumentLinks(tuple(passages)).address)

    def allows(self, url: str) -> bool:
        """Return True if the docs have this whole address, and a click may open it."""
        return url in self.known and openable(url) is not None

    def filtered(self, runs: Runs) -> Runs:
        """The runs, with links only to allowed addresses and nothing else that Slack would link."""
        out: list[Run] = []
        for is_prose, group in groupby(merged(runs), _is_prose):
            if is_prose:
                out.extend(self._inert(list(group)))
                continue
            for run in group:
                out.extend(self._judged(run))
        return merged(tuple(out))

    def _judged(self, run: Run) -> list[Run]:
        """Return a link, a citation or code, with a link only to an allowed address."""
        if run.url is None or run.cites:
            return [run]
        if run.url != run.text and ADDRESS.search(run.text):
            # A label that names another address would mislead.
            return self._unlinked(run)
        if self.allows(run.url):
            return [replace(run, url=openable(run.url))]
        if document := openable(self.document(run.url)):
            return [replace(run, url=document)]
        return [replace(run, url=None, code=True)] if run.url == run.text else self._unlinked(run)

    def _unlinked(self, run: Run) -> list[Run]:
        label = replace(run, url=None)
        words = [label] if run.code else list(self._inert([label]))
        target = _shown(run.url or "")
        if not target or target in run.text:
            return words
        return [
            *words,
            Run(" (", run.styles),
            Run(target, run.styles, code=True),
            Run(")", run.styles),
        ]

    def _inert(self, runs: list[Run]) -> Iterator[Run]:
        """Yield the runs; each word that Slack might link becomes code unless the docs have it.

        The runs are read as one text: a word may change its style in the middle.
        """
        dead = self._dead("".join(run.text for run in runs))
        start, end = next(dead, _NOWHERE)
        at = 0
        for run in runs:
            while run.text:
                while end <= at:
                    start, end = next(dead, _NOWHERE)
                is_code = start <= at
                size = min(len(run.text), (end if is_code else start) - at)
                yield replace(run, text=run.text[:size], code=is_code)
                run, at = replace(run, text=run.text[size:]), at + size

    def _dead(self, text: str) -> Iterator[tuple[int, int]]:
        """Yield the place of each word that Slack might link and the docs do not have."""
        for address in linkable(text):
            if address.url not in self.known:
                yield address.start, address.end


def _is_prose(run: Run) -> bool:
    return run.url is None and not run.code and not run.cites


def _shown(url: str) -> str:
    """The words for an address that cannot be clicked: its host, or its path if it is relative."""
    if match := _HOST.match(url):
        return match[1]
    return "" if _SCHEME.match(url) else re.split(r"[?#]", url)[0][:80]
