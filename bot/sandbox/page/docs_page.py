"""A document as numbered lines, with the cited lines marked."""

import re

from bot.sandbox.page.page_html import page_html

LINES = re.compile(r"^L?(\d{1,7})(?:-L?(\d{1,7}))?$")


def docs_page(path: str, text: str | None, cited: str = "") -> str:
    """Return the page of a document; a ``text`` of None says that the document does not exist.

    ``cited`` is ``10-20``. The script does the same for the fragment ``#L10-L20``.
    """
    if text is None:
        return page_html("docs.html", path=path, lines=None)
    first, last = marked(cited)
    rows = [
        (number, line, first <= number <= last)
        for number, line in enumerate(text.removesuffix("\n").split("\n") if text else [], 1)
    ]
    return page_html("docs.html", path=path, lines=rows)


def marked(cited: str) -> tuple[int, int]:
    """First and last marked line; (1, 0) marks none."""
    match = LINES.match(cited)
    if not match:
        return 1, 0
    first = int(match[1])
    return first, int(match[2] or first)
