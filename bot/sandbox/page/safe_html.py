"""HTML that cannot be written unescaped: text is escaped unless it came from here."""

from collections.abc import Iterable
from html import escape

VOID = frozenset({"br", "hr", "img", "input", "link", "meta"})


class Html(str):
    """Markup that is safe to show as it is."""

    __slots__ = ()


Child = str | None | Iterable["Child"]


def el(tag: str, /, *children: Child, **attributes: str | bool | None) -> Html:
    """One element. ``cls`` is class, ``_`` is ``-``; True stands alone, None is left out."""
    parts = [tag]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        key = "class" if key == "cls" else key.rstrip("_").replace("_", "-")
        parts.append(key if value is True else f'{key}="{escape(str(value))}"')
    if tag in VOID:
        return Html(f"<{' '.join(parts)}>")
    return Html(f"<{' '.join(parts)}>{join(children)}</{tag}>")


def join(children: Child) -> Html:
    """Children in a row; plain strings become text."""
    if children is None:
        return Html("")
    if isinstance(children, Html):
        return children
    if isinstance(children, str):
        return Html(escape(children))
    return Html("".join(join(child) for child in children))


def link(url: str, *children: Child, cls: str | None = None) -> Html:
    """A link to the web; anything but a web or mail address stays text."""
    if not url.lower().startswith(("http://", "https://", "mailto:")):
        return join(children)
    return el("a", *children, href=url, cls=cls, target="_blank", rel="noopener noreferrer")
