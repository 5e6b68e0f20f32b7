"""Front matter: the lines before the text of a document -> facts about it, lines that are shown.

Values are read as text and never computed, so that numbers, dates, tags and aliases of YAML take no
more time than their text. An invalid value is ignored, the others are kept.
"""

import json
import re
import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta

import yaml
from yaml.constructor import SafeConstructor

OWNER_KEYS = ("owner", "owners", "team", "maintainer", "maintainers")
TAG_KEYS = ("tags", "labels", "keywords")
DATE_KEYS = ("lastmod", "last_modified", "last_updated", "updated", "date")
VERSION_KEYS = ("version", "product_version")
LANGUAGE_KEYS = ("lang", "language", "locale")
TITLE_KEYS = ("title", "linkTitle", "sidebar_label")

DESCRIPTION_KEYS = ("description", "summary", "excerpt", "abstract", "subtitle", "lead")
NAME_KEYS = ("aliases", "alias", "redirect_from", "keywords", "keyword")
"""Other names of a document, by which people may look for it."""
MOST_NAMES = 600
"""Maximum number of characters of the lines with other names; more are not shown."""

CLOSINGS = {"---": ("---", "..."), "+++": ("+++",), "{": ("}",)}
"""First line of front matter -> possible last lines."""

_LONGEST = {"---": 200_000, "+++": 20_000, "{": 200_000}
"""First line of front matter -> maximum number of characters that are parsed.

The parsers are slow on longer texts, such as a TOML key with many dots.
"""

MARKUP = re.compile(r"\s*+([-=*_~`+])\1\1")
FIELD = re.compile(r"\s*+\"?([\w-]++)\"?\s*+[=:]")

_LONGEST_TAG = 32
_BITS_OF_A_NUMBER = 64
_WRITTEN = {f"tag:yaml.org,2002:{kind}" for kind in ("str", "int", "float", "timestamp")}
_MERGE = "tag:yaml.org,2002:merge"
_A_DAY = timedelta(days=1)

Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class FrontMatter:
    """Fields of front matter; all are optional."""

    title: str = ""
    owner: str | None = None
    tags: tuple[str, ...] = ()
    date: datetime | None = None
    impossible: tuple[str, ...] = ()
    """Dates that do not exist, as written."""
    version: str | None = None
    language: str | None = None
    shown: tuple[int, ...] = ()
    """Indexes of the lines with the description and other names, which are part of the text."""


def front_matter(lines: Sequence[str]) -> tuple[FrontMatter, list[str]]:
    """Return the fields, and the lines with front matter blanked; invalid front matter is text."""
    fence = lines[0].rstrip() if lines else ""
    closings = CLOSINGS.get(fence, ())
    end = next((i for i, line in enumerate(lines[1:], 1) if line.rstrip() in closings), 0)
    if not end:
        return FrontMatter(), list(lines)
    try:
        fields = _parsed(lines[: end + 1], fence)
    except (yaml.YAMLError, ValueError, RecursionError):
        if fence == "{":
            return FrontMatter(), list(lines)
        # Its rules are blanked: the lower one would turn the lines above it into a heading.
        return FrontMatter(), ["", *lines[1:end], "", *lines[end + 1 :]]
    if fields is None:
        return FrontMatter(), list(lines)
    described = replace(_described(fields), shown=_shown(lines[: end + 1], fields, fence))
    return described, [""] * (end + 1) + list(lines[end + 1 :])


def _described(fields: dict[str, object]) -> FrontMatter:
    """Pick the fields that the index stores."""
    titles = (_text(fields.get(key)) for key in TITLE_KEYS)
    owners = (", ".join(_list(fields.get(key))) for key in OWNER_KEYS)
    tags = (tag for key in TAG_KEYS for tag in _list(fields.get(key)))
    dates, impossible = [], []
    for key in DATE_KEYS:
        try:
            dates.append(_date(fields.get(key)))
        except (ValueError, OverflowError):
            impossible.append(f"{key}: {fields.get(key)}")
    return FrontMatter(
        title=next(filter(None, titles), ""),
        owner=next(filter(None, owners), None),
        tags=tuple(dict.fromkeys(tags)),
        date=next(filter(None, dates), None),
        impossible=tuple(impossible),
        version=_label(fields, VERSION_KEYS),
        language=_label(fields, LANGUAGE_KEYS),
    )


def _shown(lines: Sequence[str], fields: dict[str, object], fence: str) -> tuple[int, ...]:
    """Return the indexes of the lines that hold a description or other names, in order."""
    spans = _spans_of_yaml(lines) if fence == "---" else _spans(lines)
    shown: set[int] = set()
    for key in DESCRIPTION_KEYS:
        if key in spans and _text(fields.get(key)):
            # A rule or a fence would make headings or code of the lines around it.
            marked = any(MARKUP.match(lines[index]) for index in spans[key])
            shown.update(() if marked else spans[key])
            break
    room = MOST_NAMES
    for key in NAME_KEYS:
        if key in spans and _list(fields.get(key)):
            room -= sum(len(lines[index]) + 1 for index in spans[key])
            shown.update(spans[key] if room >= 0 else ())
    return tuple(index for index in sorted(shown) if lines[index].strip())


def _spans_of_yaml(lines: Sequence[str]) -> dict[str, range]:
    """Key -> indexes of its lines."""
    spans: dict[str, range] = {}
    root = yaml.compose("\n".join(lines[1:-1]), Loader=Loader)
    for key, value in root.value if isinstance(root, yaml.MappingNode) else ():
        if isinstance(key, yaml.ScalarNode):
            end = value.end_mark.line + (value.end_mark.column > 0)
            while end and lines[end].lstrip().startswith("#"):  # a comment below the value
                end -= 1
            spans.setdefault(key.value, range(key.start_mark.line + 1, end + 1))
    return spans


def _spans(lines: Sequence[str]) -> dict[str, range]:
    """Key -> indexes of its lines, in TOML or JSON: up to the line that closes its brackets."""
    spans: dict[str, range] = {}
    index = 0
    while index < len(lines):
        start, key = index, FIELD.match(lines[index])
        depth, text = 0, False
        while index < len(lines):
            line = lines[index]
            text ^= line.count('"""') % 2 == 1
            depth += 0 if text else line.count("[") - line.count("]")
            index += 1
            if depth <= 0 and not text:
                break
        if key:
            spans.setdefault(key[1], range(start, index))
    return spans


def _parsed(lines: Sequence[str], fence: str) -> dict[str, object] | None:
    """Return the fields, or None for valid lines that are not a mapping. Raises ValueError."""
    if sum(map(len, lines)) > _LONGEST[fence]:
        raise ValueError("too long to be front matter")
    inner = "\n".join(lines[1:-1])
    if fence == "{":
        fields = json.loads("\n".join(lines), parse_int=str, parse_float=str, parse_constant=str)
        return fields if any(key in fields for key in TITLE_KEYS) else None
    if fence == "+++":
        return tomllib.loads(inner)
    root = yaml.compose(inner, Loader=Loader)
    if isinstance(root, yaml.MappingNode):
        return {key: _written(node) for key, node in _nodes(root).items()}
    return {} if root is None and not inner.strip() else None


def _nodes(root: yaml.MappingNode) -> dict[str, yaml.Node]:
    """Return the fields of a mapping and of the mappings that it merges (``<<``)."""
    fields: dict[str, yaml.Node] = {}
    waiting: list[yaml.Node] = [root]
    entered: set[int] = set()
    while waiting:
        node = waiting.pop()
        if id(node) in entered:
            continue
        entered.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            waiting += reversed(node.value)
        elif isinstance(node, yaml.MappingNode):
            direct = {
                key.value: value for key, value in node.value if isinstance(key, yaml.ScalarNode)
            }
            for name, value in direct.items():
                fields.setdefault(name, value)
            waiting += [value for key, value in node.value if key.tag == _MERGE]
    return fields


def _written(node: yaml.Node) -> object:
    if isinstance(node, yaml.SequenceNode):
        return [_written(item) for item in node.value if isinstance(item, yaml.ScalarNode)]
    if isinstance(node, yaml.ScalarNode) and node.tag in _WRITTEN:
        return node.value
    return None


def _text(value: object) -> str:
    if isinstance(value, int) and value.bit_length() > _BITS_OF_A_NUMBER:
        return ""
    if isinstance(value, (str, int, float)) and not isinstance(value, bool):
        # An escape can mean half a surrogate pair, which cannot be stored.
        return " ".join(str(value).encode(errors="replace").decode().split())
    return ""


def _label(fields: dict[str, object], keys: tuple[str, ...]) -> str | None:
    """Return the first of these fields that is a short text without blanks, as a tag has to be."""
    labels = (_text(fields.get(key)) for key in keys)
    return next(
        (each for each in labels if each and len(each) < _LONGEST_TAG and " " not in each), None
    )


def _list(value: object) -> list[str]:
    """Read a YAML list, or one string with commas."""
    if isinstance(value, str):
        value = value.split(",")
    if not isinstance(value, list):
        value = [value]
    # Without repetitions: aliases can name one long text a thousand times.
    once = dict.fromkeys(item for item in value if isinstance(item, str))
    numbers = [item for item in value if isinstance(item, (int, float))]
    return [text for item in (*once, *numbers) if (text := _text(item))]


def _date(value: object) -> datetime | None:
    """Read a date; None if it is not one. Raises ValueError or OverflowError if it cannot exist."""
    if isinstance(value, str):
        text = value.strip()
        if SafeConstructor.timestamp_regexp.match(text):
            value = SafeConstructor().construct_yaml_timestamp(yaml.ScalarNode("", text))
        else:
            try:
                value = datetime.fromisoformat(text)
            except ValueError:
                return None
    if isinstance(value, datetime):
        moment = value.replace(tzinfo=UTC) if value.tzinfo is None else value.astimezone(UTC)
    elif isinstance(value, date):
        moment = datetime(value.year, value.month, value.day, tzinfo=UTC)
    else:
        return None
    # It has to be a valid date in every time zone.
    _ = moment - _A_DAY, moment + _A_DAY
    return moment
