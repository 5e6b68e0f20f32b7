"""A link from one page of the docs to another -> the address of that other page."""

import re
from dataclasses import dataclass
from urllib.parse import quote, urldefrag, urljoin

from ingest.documents import Passage

_ABSOLUTE = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|[/\\]")


@dataclass(frozen=True, slots=True)
class Pages:
    """The pages that the retrieved passages are from."""

    passages: tuple[Passage, ...]

    def address(self, link: str) -> str | None:
        """Where a relative link leads from the page that has it; None where that is in doubt."""
        if not link or _ABSOLUTE.match(link):
            return None
        written = [f"{before}{link}" for before in ("(", "<", "]: ")]
        linking = [p for p in self.passages if any(one in p.text for one in written)]
        try:
            found = {_joined(passage, link) for passage in linking}
        except ValueError:  # what urllib says of an address that is none
            return None
        return found.pop() if len(found) == 1 else None


def _joined(passage: Passage, link: str) -> str | None:
    page = urldefrag(passage.url or "").url
    for path in (passage.path, quote(passage.path)):
        root = page.removesuffix(path)
        if path and root != page:
            address = urljoin(page, link.replace(" ", "%20"))
            # Out of the docs a page's address says nothing of where files lie.
            return address if address.startswith(root) else None
    return None
