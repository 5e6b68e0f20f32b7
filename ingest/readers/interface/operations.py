"""Description of an interface (OpenAPI, Swagger, AsyncAPI) -> a section for each operation.

A section is a rendering: what an operation takes and gives stands there in words, with the fields
of the schemas it refers to, because the operation's own lines only name them. Each line has the
number of the lines that it renders, so a citation opens the operation itself.
"""

import json
import re
from collections.abc import Iterator, Sequence
from itertools import chain

from ingest.readers.interface.interface_page import Page
from ingest.readers.interface.interface_schema import Schemas
from ingest.readers.interface.yaml_nodes import Node, read_nodes
from ingest.readers.parsed_file import ParsedFile, UnreadableDocument

SIGN = re.compile(
    r"(?:^|[{,][ \t]*)[\"']?(openapi|swagger|asyncapi)[\"']?[ \t]*:[ \t]*[\"']?\d"
    r"|^[ \t]+\"(?:openapi|swagger|asyncapi)\"[ \t]*:[ \t]*\"\d",
    re.MULTILINE,
)
KINDS = ("openapi", "swagger", "asyncapi")
METHODS = ("get", "put", "post", "delete", "options", "head", "patch", "trace", "query")
LONGEST_LINE = 4_000
"""JSON with a longer line is read as if it were indented."""
NO_INTERFACE = "no page: YAML or JSON that does not describe an interface"


def describes_interface(text: str) -> bool:
    """Return True if a text names the version of its format, as every description does."""
    return bool(SIGN.search(text))


def read_interface(lines: Sequence[str]) -> ParsedFile:
    """Read a description. Raises UnreadableDocument for any other YAML or JSON."""
    text = "\n".join(lines)
    if not describes_interface(text):
        raise UnreadableDocument(NO_INTERFACE)
    is_dense = any(len(line) > LONGEST_LINE for line in lines)
    root = read_nodes(_indented(text) if is_dense else text)
    if not any(root.word(kind)[:1].isdigit() for kind in KINDS):
        raise UnreadableDocument(NO_INTERFACE)
    return _Description(root, Page(len(lines) if is_dense else None, len(text))).parsed()


def _indented(text: str) -> str:
    try:
        return json.dumps(json.loads(text), indent=1, ensure_ascii=False)
    except (ValueError, RecursionError):
        return text  # YAML with a long line


class _Description:
    def __init__(self, root: Node, page: Page) -> None:
        self._root = root
        self._page = page
        self._schemas = Schemas(root, page)

    def parsed(self) -> ParsedFile:
        """Render the whole description."""
        root = self._root
        self._about()
        for path, item, line in chain(root.each("paths"), root.each("webhooks")):
            self._path(path, self._schemas.resolved(item), line)
        for name, channel, line in root.each("channels"):
            self._channel(name, self._schemas.resolved(channel), line)
        for name, operation, line in root.each("operations"):
            self._event_operation(name, operation, line)
        definitions = (root, "definitions"), (root.get("components"), "schemas")
        for parent, key in definitions:
            for name, schema, line in parent.each(key) if parent else ():
                self._page.heading(2, f"Schema {name}", line, schema.last)
                self._page.paragraph(schema.get("description"))
                self._schemas.describe(schema, line)
        self._security_schemes()
        return self._page.parsed(root.get("info", "title"))

    def _about(self) -> None:
        root, page = self._root, self._page
        info = root.get("info") or root
        page.heading(1, info.word("title") or "Interface", info.first, info.last)
        if version := info.word("version"):
            page.line(f"Version {version}", info.keys["version"])
        page.paragraph(info.get("description"))
        addresses = [
            (_spoken(server, "url", "description"), server.first) for server in root.all("servers")
        ]
        if host := root.word("host"):
            schemes = [scheme.text or "" for scheme in root.all("schemes")] or ["https"]
            line = root.keys["host"]
            addresses += [(f"{scheme}://{host}{root.word('basePath')}", line) for scheme in schemes]
        addresses += [
            (f"{name}: {_spoken(server, 'url', 'host', 'protocol', 'description')}", line)
            for name, server, line in root.each("servers")
        ]
        page.section_of_root()
        page.group("Servers:", addresses)
        tags = [(_spoken(tag, "name", "description"), tag.first) for tag in root.all("tags")]
        page.group("Tags:", tags)
        if named := _security(root):
            page.line(f"Security: {named}", root.keys["security"])

    def _path(self, path: str, item: Node, line: int) -> None:
        shared = item.all("parameters")
        for method in METHODS:
            operation = item.get(method)
            if operation is None:
                continue
            self._page.heading(
                2,
                _title(f"{method.upper()} {path}", operation),
                item.keys.get(method, line),
                operation.last,
            )
            self._operation(operation, shared)

    def _operation(self, operation: Node, shared: Sequence[Node]) -> None:
        page, schemas = self._page, self._schemas
        if name := operation.word("operationId"):
            deprecated = ", deprecated" * (operation.word("deprecated") == "true")
            page.line(f"Operation {name}{deprecated}", operation.keys["operationId"])
        page.paragraph(operation.get("description"))
        own = operation.all("parameters")
        page.group("Parameters:", [schemas.parameter(p) for p in (*own, *shared)])
        schemas.body_parameters(own)
        if body := operation.get("requestBody"):
            schemas.content("Body", body, operation.keys["requestBody"])
        for code, response, line in operation.each("responses"):
            schemas.content(f"Response {code}", response, line)
        if operation.get("security"):
            named = _security(operation) or "none"
            page.line(f"Security: {named}", operation.keys["security"])

    def _channel(self, name: str, channel: Node, line: int) -> None:
        page = self._page
        actions = [a for a in ("subscribe", "publish") if channel.get(a)]
        address = channel.word("address") or name
        if not actions:
            page.heading(2, _title(f"Channel {address}", channel), line, channel.last)
            page.paragraph(channel.get("description"))
            self._messages(channel)
        for action in actions:
            operation = channel.fields[action]
            title = _title(f"{action.upper()} {address}", operation)
            page.heading(2, title, channel.keys[action], operation.last)
            page.paragraph(channel.get("description"))
            page.paragraph(operation.get("description"))
            if message := operation.get("message"):
                self._message("Message", message, operation.keys["message"])

    def _messages(self, parent: Node) -> None:
        for name, message, line in parent.each("messages"):
            self._message(f"Message {name}", message, line)

    def _message(self, label: str, message: Node, line: int) -> None:
        resolved = self._schemas.resolved(message)
        said = _spoken(resolved, "name", "summary", "description")
        self._page.line(f"{label}: {said}" if said else f"{label}:", line)
        for variant in resolved.all("oneOf"):
            self._message("One of", variant, line)
        if payload := resolved.get("payload"):
            self._schemas.describe(payload, line)

    def _event_operation(self, name: str, operation: Node, line: int) -> None:
        channel = self._schemas.resolved(operation.get("channel") or operation)
        named = channel.word("address") or name
        action = operation.word("action").upper()
        title = _title(f"{action} {named}".strip(), operation)
        self._page.heading(2, title, line, operation.last)
        self._page.line(f"Operation {name}", line)
        self._page.paragraph(operation.get("description"))
        if channel is not operation:
            self._messages(channel)

    def _security_schemes(self) -> None:
        components = self._root.get("components")
        schemes = list(chain(
            self._root.each("securityDefinitions"),
            components.each("securitySchemes") if components else (),
        ))  # fmt: skip
        if schemes:
            self._page.heading(2, "Security schemes", schemes[0][2], schemes[-1][1].last)
        fields = ("type", "scheme", "in", "name", "bearerFormat", "openIdConnectUrl", "description")
        self._page.group("", [(f"{n}: {_spoken(s, *fields)}", line) for n, s, line in schemes])


def _title(name: str, node: Node) -> str:
    summary = node.word("summary")
    return f"{name}: {summary}" if summary else name


def _spoken(node: Node, *keys: str) -> str:
    return ", ".join(filter(None, map(node.word, keys)))


def _security(node: Node) -> str:
    return ", ".join(
        dict.fromkeys(
            f"{name} ({scopes})" if (scopes := " ".join(_texts(value))) else name
            for requirement in node.all("security")
            for name, value in requirement.fields.items()
        )
    )


def _texts(node: Node) -> Iterator[str]:
    return (item.text for item in node.items if item.text)
