"""A file of the docs repo -> Document: title, fields of front matter, lines and blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import PurePosixPath

from ingest.invisible import visible_line, without_hidden
from ingest.readers.credentials import masked
from ingest.readers.decoding import decode
from ingest.readers.front_matter import FrontMatter, front_matter
from ingest.readers.html import read_html
from ingest.readers.markdown import read_markdown
from ingest.readers.notebook import read_notebook
from ingest.readers.parsed_file import FileBlock, ParsedFile, UnreadableDocument
from ingest.readers.rst import read_rst
from ingest.readers.search_text import has_words
from ingest.readers.text import read_text

__all__ = ["READERS", "Document", "UnreadableDocument", "load"]

Reader = Callable[[Sequence[str]], ParsedFile]
READERS: dict[str, Reader] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".mdx": lambda lines: read_markdown(lines, mdx=True),
    ".rst": read_rst,
    ".txt": read_text,
    ".html": read_html,
    ".htm": read_html,
    ".ipynb": read_notebook,
}


_HIDDEN_IN_PATH = "hidden: its path has characters that nobody sees; rename it"
_CREDENTIAL_IN_PATH = "credential: its path has one; rename the file and revoke it"


@dataclass(frozen=True, slots=True)
class Document:
    """One readable file of the docs repo."""

    path: str
    title: str
    parsed: ParsedFile
    owner: str | None = None
    tags: tuple[str, ...] = ()
    date: datetime | None = None
    version: str | None = None
    language: str | None = None
    masked_lines: tuple[int, ...] = ()
    """The line of each masked credential."""
    impossible: tuple[str, ...] = ()
    """Dates in front matter that do not exist."""


def load(path: str, data: bytes) -> Document:
    """Read a file. Raises UnreadableDocument with the reason."""
    suffix = PurePosixPath(path).suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        raise UnreadableDocument(f"unsupported: no reader for {suffix or 'files without a suffix'}")
    if visible_line(path) != path:
        raise UnreadableDocument(_HIDDEN_IN_PATH)
    if masked(path)[1]:
        raise UnreadableDocument(_CREDENTIAL_IN_PATH)
    text = decode(data)
    lines_masked: tuple[int, ...] = ()
    fields = FrontMatter()
    if reader is read_notebook:  # the reader masks its text, which is inside JSON
        lines = text.split("\n")
    else:
        text, lines_masked = masked(without_hidden(text))
        fields, lines = front_matter(text.split("\n"))
    parsed = reader(lines)
    if not any(has_words(block, parsed) for block in parsed.blocks):
        raise UnreadableDocument("empty: the page has no text")
    parsed = replace(parsed, blocks=tuple(map(_visible, parsed.blocks)))
    names = [_title(path, fields, parsed), fields.owner or "", *fields.tags]
    (title, owner, *tags), found = zip(*map(_shown, names), strict=True)
    return Document(
        path=path,
        title=title or _name(path),
        parsed=parsed,
        owner=owner or None,
        tags=tuple(filter(None, tags)),
        date=fields.date,
        version=fields.version,
        language=fields.language,
        masked_lines=(*lines_masked, *parsed.masked_lines, *chain.from_iterable(found)),
        impossible=fields.impossible,
    )


def is_bad_name(reason: str) -> bool:
    """Return True if a file was left out because its path has to be changed."""
    return reason in (_HIDDEN_IN_PATH, _CREDENTIAL_IN_PATH)


def _shown(name: str) -> tuple[str, tuple[int, ...]]:
    """Escapes may have hidden a credential or a character until the name was read."""
    return masked(visible_line(name))


def _visible(block: FileBlock) -> FileBlock:
    parts = tuple(map(_visible, block.parts))
    return replace(block, label=visible_line(block.label), parts=parts)


def _title(path: str, fields: FrontMatter, parsed: ParsedFile) -> str:
    """Title from front matter, the format, the first top heading, or the name of the file."""
    heading = next((b.label for b in parsed.blocks if b.level == 1 and b.label), "")
    return fields.title or parsed.title or heading or _name(path)


def _name(path: str) -> str:
    file = PurePosixPath(path)
    generic = file.stem.lower() in ("readme", "index", "_index") and file.parent.name
    return (file.parent.name if generic else file.stem).replace("-", " ").replace("_", " ").strip()
