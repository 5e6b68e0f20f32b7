"""A page of the docs as numbered lines, with the cited ones marked."""

import re

from bot.sandbox.page.safe_html import Html, el

LINES = re.compile(r"^L?(\d{1,7})(?:-L?(\d{1,7}))?$")


def docs_page(path: str, text: str, wanted: str = "") -> Html:
    """``wanted`` is ``10-20``; the script does the same for the fragment ``#L10-L20``."""
    first, last = marked(wanted)
    lines = text.split("\n")
    if lines and not lines[-1]:
        lines.pop()
    rows = [
        el(
            "li",
            el("a", str(number), href=f"#L{number}", cls="number"),
            el("code", line or " "),
            id=f"L{number}",
            cls="marked" if first <= number <= last else None,
        )
        for number, line in enumerate(lines, start=1)
    ]
    return el("main", el("h1", path), el("ol", rows, cls="lines"), cls="docs")


def marked(wanted: str) -> tuple[int, int]:
    """First and last marked line; (1, 0) marks none."""
    found = LINES.match(wanted)
    if not found:
        return 1, 0
    first = int(found.group(1))
    return first, int(found.group(2) or first)
