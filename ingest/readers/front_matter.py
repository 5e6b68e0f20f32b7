"""Front matter, in one place: the lines before a page's text -> what they say of the page."""

import json
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime

import yaml

OWNER_KEYS = ("owner", "owners", "team", "maintainer", "maintainers")
TAG_KEYS = ("tags", "labels", "keywords")
DATE_KEYS = ("lastmod", "last_modified", "last_updated", "updated", "date")
TITLE_KEYS = ("title", "linkTitle", "sidebar_label")

CLOSINGS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}
"""First line -> what the last one may be."""

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """What front matter says; everything is optional."""

    title: str = ""
    owner: str | None = None
    tags: tuple[str, ...] = ()
    date: datetime | None = None


def front_matter(lines: Sequence[str]) -> tuple[FrontMatter, list[str]]:
    """What it says, and the page with its lines blanked out; what is not valid stays text."""
    fence = lines[0].rstrip() if lines else ""
    closings = CLOSINGS.get(fence, ())
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in closings), 0)
    if not end:
        return FrontMatter(), list(lines)
    try:
        fields = _parsed(lines[: end + 1], fence)
    except (yaml.YAMLError, ValueError, TypeError, OverflowError, RecursionError):
        if fence == "{":
            return FrontMatter(), list(lines)
        # Without its rules: the lower one would make a heading of what stands above it.
        return FrontMatter(), ["", *lines[1:end], "", *lines[end + 1 :]]
    if fields is None:
        return FrontMatter(), list(lines)
    return _described(fields), [""] * (end + 1) + list(lines[end + 1 :])


def _described(fields: dict[object, object]) -> FrontMatter:
    """Pick what the index keeps out of whatever else the fields hold."""
    titles = (_text(fields.get(key)) for key in TITLE_KEYS)
    owners = (", ".join(_list(fields.get(key))) for key in OWNER_KEYS)
    tags = (tag for key in TAG_KEYS for tag in _list(fields.get(key)))
    dates = (_date(fields.get(key)) for key in DATE_KEYS)
    return FrontMatter(
        title=next(filter(None, titles), ""),
        owner=next(filter(None, owners), None),
        tags=tuple(dict.fromkeys(tags)),
        date=next(filter(None, dates), None),
    )


def _parsed(lines: Sequence[str], fence: str) -> dict[object, object] | None:
    """The fields; None where the lines are valid but no fields."""
    inner = "\n".join(lines[1:-1])
    fields: object
    if fence == "{":
        fields = json.loads("\n".join(lines))
        named = isinstance(fields, dict) and any(key in fields for key in TITLE_KEYS)
        fields = fields if named else None
    elif fence == "+++":
        fields = tomllib.loads(inner)
    else:
        fields = yaml.load(inner, Loader=Loader)  # noqa: S506  # a safe loader, the C one where there is one
    if fields is None and not inner.strip():
        return {}
    return fields if isinstance(fields, dict) else None


def _text(value: object) -> str:
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        # An escape may stand for half a character, which can be stored nowhere.
        return " ".join(str(value).encode(errors="replace").decode().split())
    return ""


def _list(value: object) -> list[str]:
    """A YAML list, or one string with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        value = [value]
    return [text for item in value if (text := _text(item))]


def _date(value: object) -> datetime | None:
    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value.strip())
        except ValueError:
            return None
    if isinstance(value, datetime):
        return value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    if isinstance(value, date):
        return datetime(value.year, value.month, value.day, tzinfo=UTC)
    return None
