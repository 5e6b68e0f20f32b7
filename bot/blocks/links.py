"""The addresses in an answer that may be clicked: those of its chunks, and those in their texts.

Slack also turns bare hosts into links, and takes ``README.md`` for a host. So any other address is
shown as code, or left out if its label is enough.
"""

import html
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from bot.blocks.document_links import DocumentLinks
from bot.blocks.runs import Run, Runs, merged
from bot.reading.addresses import ADDRESS, BARE_HOST, may_be_linked, openable, trimmed
from ingest.documents import Passage

_WORD = re.compile(r"[^\s<>\"`()\[\]{}|,;]+")
_HOST = re.compile(r"(?:(?:https?|ftp)://|mailto:|tel:)([^/?#\s]*)", re.IGNORECASE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")


def _no_document(_: str) -> str | None:
    return None


@dataclass(frozen=True)
class Addresses:
    """The addresses that the retrieved passages have, and those in their texts."""

    texts: tuple[str, ...] = ()
    urls: frozenset[str] = field(default=frozenset())
    document: Callable[[str], str | None] = _no_document
    """A link from one document to another -> the address of the other document, or None."""

    @classmethod
    def of(cls, passages: Sequence[Passage], urls: Iterable[str | None] = ()) -> "Addresses":
        """The addresses of these passages and in their texts, and ``urls``."""
        texts = [spelling for p in passages for spelling in (p.text, html.unescape(p.text))]
        own = (passage.url for passage in passages)
        known_urls = frozenset(url for url in (*own, *urls) if url)
        return cls(tuple(dict.fromkeys(texts)), known_urls, DocumentLinks(tuple(passages)).address)

    def allows(self, url: str) -> bool:
        """Return True if the docs have this address, and a click may open it."""
        is_known = url in self.urls or self._contain(url) or self._contain(unquote(url))
        return is_known and openable(url) is not None

    def _contain(self, address: str) -> bool:
        # A prefix is another address: git.example.com is not git.example.com.au.
        whole = re.compile(rf"(?<![\w.@-]){re.escape(address)}(?![\w%@=&-]|[.:/?#]\w)")
        return any(address in text and whole.search(text) for text in self.texts)

    def filtered(self, runs: Runs) -> Runs:
        """The runs, with links only to allowed addresses and nothing else that Slack would link."""
        out: list[Run] = []
        for run in merged(runs):
            if run.cites or (run.code and not run.url):
                out.append(run)
            elif run.url is None:
                out.extend(self._hosts_inert(run))
            elif run.url != run.text and ADDRESS.search(run.text):
                # A label that names another address would mislead.
                out.extend(self._unlinked(run))
            elif self.allows(run.url):
                out.append(replace(run, url=openable(run.url)))
            elif document := openable(self.document(run.url)):
                out.append(replace(run, url=document))
            elif run.url == run.text:
                out.append(replace(run, url=None, code=True))
            else:
                out.extend(self._unlinked(run))
        return merged(tuple(out))

    def _unlinked(self, run: Run) -> list[Run]:
        label = replace(run, url=None)
        words = [label] if run.code else self._hosts_inert(label)
        target = _shown(run.url or "")
        if not target or target in run.text:
            return words
        return [
            *words,
            Run(" (", run.styles),
            Run(target, run.styles, code=True),
            Run(")", run.styles),
        ]

    def _hosts_inert(self, run: Run) -> list[Run]:
        """Return the run; each word in which Slack might find a host becomes code."""
        out: list[Run] = []
        end = 0
        for match in _WORD.finditer(run.text):
            word = trimmed(match[0])
            named = BARE_HOST.findall(word) or ([word] if may_be_linked(word) else [])
            if all(map(self._contain, named)):
                continue
            out.append(replace(run, text=run.text[end : match.start()]))
            out.append(replace(run, text=word, code=True))
            end = match.start() + len(word)
        out.append(replace(run, text=run.text[end:]))
        return out


def _shown(url: str) -> str:
    """The words for an address that cannot be clicked: its host, or its path if it is relative."""
    if match := _HOST.match(url):
        return match[1]
    return "" if _SCHEME.match(url) else re.split(r"[?#]", url)[0][:80]
