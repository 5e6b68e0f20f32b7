"""A page of HTML -> the hidden parts that a click shows, and the name of each tab's panel.

A hidden element is text if a control of the page opens it, if it is a panel, or if it stands beside
a shown element of the same kind, as the panels of tabs do. Dialogs and menus are never text.
"""

import re
from collections import deque
from dataclasses import dataclass, field
from itertools import chain, islice

from bs4 import BeautifulSoup
from bs4.element import Tag

UNDISPLAYED = re.compile(r"\bdisplay\s*:\s*none\b", re.IGNORECASE)
NEVER = {
    "dialog", "alertdialog", "menu", "menubar", "listbox", "tooltip", "search", "navigation",
    "alert", "status", "presentation", "none",
}  # fmt: skip
"""Roles of hidden elements that are no text of the page."""
POINTERS = ("aria-controls", "data-target", "data-bs-target", "data-tab", "data-content", "for")
CONTROLS = {"tab", "button"}
MOST_SIBLINGS = 100
"""Maximum number of siblings that are compared with a hidden element."""
LONGEST_NAME = 80


def is_hidden(tag: Tag) -> bool:
    """Return True if a browser does not display the element at first."""
    return tag.has_attr("hidden") or bool(UNDISPLAYED.search(str(tag.get("style", ""))))


@dataclass
class Panels:
    """The controls of one page, and what they open."""

    opened: set[str] = field(default_factory=set)
    """Ids of the elements that a control opens."""
    names: dict[int, str] = field(default_factory=dict)
    """Panel, by its identity in memory -> name of its tab."""

    @classmethod
    def of(cls, soup: BeautifulSoup) -> "Panels":
        """Read the page once, in order: a tab without an id names the next panel without one."""
        panels = cls()
        by_id: dict[str, str] = {}
        by_panel: dict[str, str] = {}
        waiting: deque[str] = deque()
        tab_panels: list[Tag] = []
        for tag in soup.descendants:
            if not isinstance(tag, Tag):
                continue
            role = _attribute(tag, "role")
            targets = _targets(tag, role)
            panels.opened.update(targets)
            if role == "tablist":
                waiting.clear()
            elif role == "tab":
                name = _name(tag)
                if tag.get("id"):
                    by_id[_attribute(tag, "id")] = name
                by_panel.update(dict.fromkeys(targets, name))
                waiting.append(name)
            elif role == "tabpanel":
                tab_panels.append(tag)
                if waiting:
                    panels.names[id(tag)] = waiting.popleft()
        for panel in tab_panels:
            labels = (
                by_panel.get(_attribute(panel, "id")),
                by_id.get(_attribute(panel, "aria-labelledby")),
            )
            if name := next(filter(None, labels), _attribute(panel, "aria-label")):
                panels.names[id(panel)] = name
        return panels

    def name(self, tag: Tag) -> str:
        """Return the name of the tab whose panel this is, else an empty string."""
        return self.names.get(id(tag), "")

    def shows(self, tag: Tag) -> bool:
        """Return True if a click shows this hidden element."""
        role = _attribute(tag, "role")
        if tag.name == "dialog" or role in NEVER:
            return False
        if role == "tabpanel" or _attribute(tag, "hidden") == "until-found":
            return True
        return _attribute(tag, "id") in self.opened or _has_shown_kin(tag)


def _attribute(tag: Tag, name: str) -> str:
    return str(tag.get(name) or "").strip()


def _name(tag: Tag) -> str:
    words = " ".join(tag.get_text(" ").split())
    return words if len(words) <= LONGEST_NAME else ""


def _targets(tag: Tag, role: str) -> list[str]:
    """Return the ids of what an element opens when it is clicked."""
    pointers = [_attribute(tag, name) for name in POINTERS if tag.has_attr(name)]
    if role in CONTROLS or tag.has_attr("data-toggle") or tag.has_attr("data-bs-toggle"):
        pointers.append(_attribute(tag, "href"))
    return [target.removeprefix("#") for pointer in pointers for target in pointer.split()]


def _has_shown_kin(tag: Tag) -> bool:
    """Return True if a shown sibling has the same name and a class in common."""
    classes = set(_attribute_list(tag))
    if not classes:
        return False
    siblings = chain(
        islice(tag.previous_siblings, MOST_SIBLINGS), islice(tag.next_siblings, MOST_SIBLINGS)
    )
    return any(
        isinstance(sibling, Tag)
        and sibling.name == tag.name
        and not is_hidden(sibling)
        and not classes.isdisjoint(_attribute_list(sibling))
        for sibling in siblings
    )


def _attribute_list(tag: Tag) -> list[str]:
    value = tag.get("class")
    return value if isinstance(value, list) else str(value or "").split()
