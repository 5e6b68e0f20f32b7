"""YAML or JSON -> nodes with their lines; values stay text, and an alias is the node it names.

Nothing is computed and nothing is copied, so that aliases and deep nesting take no more time or
memory than their text; libyaml itself refuses a thousand levels.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field

import yaml

from ingest.readers.front_matter import Loader
from ingest.readers.parsed_file import UnreadableDocument


@dataclass(slots=True, eq=False)
class Node:
    """A value with its first and last line, from 1."""

    first: int
    last: int
    text: str | None = None
    """None for a mapping or a list."""
    fields: dict[str, "Node"] = field(default_factory=dict)
    items: list["Node"] = field(default_factory=list)
    keys: dict[str, int] = field(default_factory=dict)
    """Line of each key of a mapping."""

    def get(self, *path: str) -> "Node | None":
        """Return the value below these keys, or None."""
        node: Node | None = self
        for key in path:
            if node is None:
                return None
            node = node.fields.get(key)
        return node

    def word(self, key: str) -> str:
        """Return the text of a field, or an empty one."""
        node = self.fields.get(key)
        return " ".join(node.text.split()) if node and node.text else ""

    def each(self, key: str) -> Iterator[tuple[str, "Node", int]]:
        """Yield the fields of a mapping below a key, with the lines of their keys."""
        node = self.fields.get(key)
        for name, value in node.fields.items() if node else ():
            yield name, value, node.keys[name] if node else 0

    def all(self, key: str) -> list["Node"]:
        """Return the items of a list below a key."""
        node = self.fields.get(key)
        return node.items if node else []


@dataclass(slots=True)
class _Open:
    node: Node
    is_mapping: bool
    is_flow: bool
    key: str | None = None
    line: int = 0


def read_nodes(text: str) -> Node:
    """Return the root of the first document. Raises UnreadableDocument."""
    try:
        return _read(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise UnreadableDocument("malformed: not valid YAML or JSON") from error


def _read(text: str) -> Node:
    root: Node | None = None
    waiting: list[_Open] = []
    anchors: dict[str, Node] = {}
    for event in yaml.parse(text, Loader=Loader):
        if isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
            is_mapping = isinstance(event, yaml.MappingStartEvent)
            line = _first(event)
            node = Node(line, line)
            _put(waiting, node, line)
            waiting.append(_Open(node, is_mapping, bool(event.flow_style)))
        elif isinstance(event, yaml.ScalarEvent):
            node = Node(_first(event), _end(event), event.value)
            _put(waiting, node, node.first)
        elif isinstance(event, yaml.AliasEvent):
            line = _first(event)
            _put(waiting, anchors.get(event.anchor or "") or Node(line, line, ""), line)
            continue
        elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
            closed = waiting.pop()
            if closed.is_flow:
                closed.node.last = _end(event)
            if waiting:
                waiting[-1].node.last = max(waiting[-1].node.last, closed.node.last)
            continue
        elif isinstance(event, yaml.DocumentEndEvent):
            break
        else:
            continue
        if event.anchor:
            anchors[event.anchor] = node
        root = root or node
    return root or Node(1, 1, "")


def _put(waiting: list[_Open], node: Node, line: int) -> None:
    """Add a value to the mapping or list that is being read."""
    if not waiting:
        return
    above = waiting[-1]
    above.node.last = max(above.node.last, node.last if node.first >= line else line)
    if not above.is_mapping:
        above.node.items.append(node)
    elif above.key is None:
        above.key, above.line = node.text or "", line
    else:
        above.node.fields.setdefault(above.key, node)
        above.node.keys.setdefault(above.key, above.line)
        above.key = None


def _first(event: yaml.Event) -> int:
    return event.start_mark.line + 1 if event.start_mark else 1


def _end(event: yaml.Event) -> int:
    """Return the last line of a value; a block of text ends where the next line begins."""
    end = event.end_mark
    return max(_first(event), end.line + 1 - (end.column == 0)) if end else 1
