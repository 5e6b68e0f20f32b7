"""Schemas, parameters and bodies of a described interface -> lines of words."""

from collections.abc import Iterator, Sequence
from urllib.parse import unquote

from ingest.readers.interface.interface_page import Line, Page
from ingest.readers.interface.yaml_nodes import Node

DEEPEST = 4
"""Fields inside fields down to this depth are described; deeper ones by the name of their type."""
MOST_OF_ONE = 150
"""Maximum number of fields that are described for one schema."""
MOST_COPIED = 20_000
"""Maximum number of fields of a file that are described where a schema is referred to."""
MOST_REFERENCES = 20
VARIANTS = ("allOf", "oneOf", "anyOf")
OWN = {"description", "type", "title", "name", "in", "$ref", "required", "nullable", "example"}
"""Fields of a schema with a place of their own in its line."""


class Schemas:
    """Renders schemas; a reference is followed within the file, within limits."""

    def __init__(self, root: Node, page: Page) -> None:
        self._root = root
        self._page = page
        self._copied = 0

    def resolved(self, node: Node) -> Node:
        """Return the node that a reference names, or the node itself."""
        for _ in range(MOST_REFERENCES):
            target = self._target(node)
            if target is None:
                return node
            node = target
        return node

    def _target(self, node: Node) -> Node | None:
        reference = node.word("$ref")
        if not reference.startswith("#/"):
            return None
        names = (unquote(part) for part in reference[2:].split("/"))
        return self._root.get(*(name.replace("~1", "/").replace("~0", "~") for name in names))

    def parameter(self, node: Node) -> Line:
        """Return the line of a parameter."""
        target = self.resolved(node)
        schema = self.resolved(target.get("schema") or target)
        required = target.word("required") == "true"
        said = target.word("description") or schema.word("description")
        where = [target.word("in"), *self._facts(schema, required=required)]
        return _line(target.word("name"), where, said), node.first

    def body_parameters(self, parameters: Sequence[Node]) -> None:
        """Describe the body of an operation in Swagger 2, which is one of its parameters."""
        for parameter in parameters:
            target = self.resolved(parameter)
            if target.word("in") == "body" and (schema := target.get("schema")):
                self.describe(schema, parameter.first, "Body:")

    def content(self, label: str, node: Node, line: int) -> None:
        """Describe a request or a response, with the fields of its first kind of content."""
        target = self.resolved(node)
        kinds = list(target.each("content"))
        schema = kinds[0][1].get("schema") if kinds else target.get("schema")
        kind = f" ({', '.join(name for name, _, _ in kinds)})" if kinds else ""
        said = target.word("description")
        required = ", required" * (target.word("required") == "true")
        label = f"{label}{required}{kind}: {said}" if said else f"{label}{required}{kind}:"
        if schema is None:
            self._page.line(label, line)
        else:
            self.describe(schema, line, label)

    def describe(self, schema: Node, line: int, label: str = "Fields:") -> None:
        """Add the fields of a schema."""
        room = min(MOST_OF_ONE, MOST_COPIED - self._copied)
        fields: list[Line] = []
        for field in self._fields(schema, 0, (), line):
            if len(fields) >= room:
                break
            fields.append(field)
        self._copied += len(fields)
        name = self._name(schema)
        label = f"{label.rstrip(':')}: {name}" if name and label.endswith(":") else label
        if fields:
            self._page.group(label, fields)
        else:
            facts = ", ".join(self._facts(self.resolved(schema)))
            self._page.line(f"{label} {facts}".strip(), line)

    def _fields(
        self, schema: Node, depth: int, above: tuple[int, ...], at: int | None = None
    ) -> Iterator[Line]:
        """Yield the fields of an object, of the items of a list and of all variants."""
        target = self.resolved(schema)
        if id(target) in above or depth > DEEPEST or len(above) > MOST_REFERENCES:
            return
        # What is elsewhere in the file is shown at the line that refers to it.
        at = schema.first if at is None and target is not schema else at
        inside = (*above, id(target))
        required = {item.text for item in target.all("required")}
        for name, value, line in target.each("properties"):
            one = self.resolved(value)
            facts = self._facts(value, required=name in required)
            said = one.word("description")
            number = line if at is None else at
            yield f"{'  ' * depth}{_line(name, facts, said)}", number
            yield from self._fields(value, depth + 1, inside, at)
        for key in VARIANTS:
            for variant in target.all(key):
                yield from self._fields(variant, depth, inside, at)
        for key in ("items", "additionalProperties"):
            if inner := target.get(key):
                yield from self._fields(inner, depth, inside, at)

    def _facts(self, schema: Node, *, required: bool = False) -> list[str]:
        """Return the type and the limits of a value."""
        target = self.resolved(schema)
        types = [target.word("type"), *(item.text or "" for item in target.all("type"))]
        inner = target.get("items")
        item = (self._name(inner) or self.resolved(inner).word("type")) if inner else ""
        name = self._name(schema)
        kind = " or ".join(filter(None, types))
        kinds = (kind, f"of {item}" if item else "", name)
        facts = [" ".join(filter(None, kinds)), "required" * required]
        facts += [
            f"{key} {value.text}"
            for key, value in target.fields.items()
            if key not in OWN and value.text and len(value.text) < 200 and "\n" not in value.text
        ]
        if choices := [item.text for item in target.all("enum") if item.text]:
            facts.append(f"one of {' | '.join(choices[:MOST_OF_ONE])}")
        return list(filter(None, facts))

    @staticmethod
    def _name(schema: Node) -> str:
        return schema.word("$ref").rpartition("/")[2]


def _line(name: str, facts: Sequence[str], said: str) -> str:
    about = ", ".join(filter(None, facts))
    line = f"{name} ({about})" if about else name
    return f"{line}: {said}" if said else line
