"""A link from one document to another -> the address of that other document."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urldefrag, urljoin

from ingest.documents import Passage

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]")


@dataclass(frozen=True, slots=True)
class DocumentLinks:
    """The relative links in the retrieved passages."""

    passages: tuple[Passage, ...]

    def address(self, link: str) -> str | None:
        """The address that a relative link opens; None if no passage has it, or if it is unclear
        from which document it starts."""
        if not link or _ABSOLUTE.match(link):
            return None
        written = [f"{before}{link}" for before in ("(", "<", "]: ")]
        linking = [p for p in self.passages if any(each in p.text for each in written)]
        try:
            addresses = {_joined(passage, link) for passage in linking}
        except ValueError:  # urllib rejects what is not an address
            return None
        return addresses.pop() if len(addresses) == 1 else None


def _joined(passage: Passage, link: str) -> str | None:
    document = urldefrag(passage.url or "").url
    for path in (passage.path, quote(passage.path)):
        root = document.removesuffix(path)
        if path and root != document:
            address = urljoin(document, link.replace(" ", "%20"))
            # A document's address says nothing about files outside the docs.
            return address if address.startswith(root) else None
    return None
