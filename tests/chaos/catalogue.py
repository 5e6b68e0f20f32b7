"""The list of items: what each one breaks, what counts as held, and how long it takes."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.chaos.trial import Trial

Body = Callable[["Trial"], None]


@dataclass(frozen=True)
class Item:
    """One way to break a running system."""

    name: str
    group: str
    breaks: str
    holds: str
    """What counts as held, in words."""
    minutes: float
    quick: bool
    """True if a short form of it is part of ``--quick``."""
    body: Body


GROUPS = (
    "Processes",
    "Ingest",
    "The model",
    "Slack's socket",
    "Slack's API",
    "Slack's events",
    "The events endpoint",
    "The git host",
    "Contents of the repository",
    "Storage",
    "Load",
    "Months",
    "Replicas",
    "Clocks",
)
"""The order of the list and of the report."""
ITEMS: dict[str, Item] = {}


def in_order() -> list[Item]:
    """Return all items, group by group."""
    return sorted(ITEMS.values(), key=lambda each: GROUPS.index(each.group))


def item(
    group: str, *, breaks: str, holds: str, minutes: float, quick: bool = False
) -> Callable[[Body], Body]:
    """Add a function to the list; its name with hyphens is the name of the item."""

    def add(body: Body) -> Body:
        name = body.__name__.replace("_", "-")
        assert name not in ITEMS, name
        ITEMS[name] = Item(name, group, breaks, holds, minutes, quick, body)
        return body

    return add
