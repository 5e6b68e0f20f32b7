"""A file of the docs repo -> Document: its title, what front matter says, its lines and blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import PurePosixPath

from ingest.readers.decoding import decode
from ingest.readers.front_matter import FrontMatter, front_matter
from ingest.readers.invisible import masked, without_hidden
from ingest.readers.markdown import read_markdown
from ingest.readers.reading import Reading, UnreadableDocument
from ingest.readers.text import read_text

__all__ = ["READERS", "Document", "UnreadableDocument", "load"]

Reader = Callable[[Sequence[str]], Reading]
READERS: dict[str, Reader] = {
    ".md": read_markdown,
    ".markdown": read_markdown,
    ".mdx": lambda lines: read_markdown(lines, mdx=True),
    ".txt": read_text,
}


@dataclass(frozen=True, slots=True)
class Document:
    """One readable file."""

    path: str
    title: str
    reading: Reading
    owner: str | None = None
    tags: tuple[str, ...] = ()
    date: datetime | None = None
    masked: int = 0
    """Credentials that were replaced by a mark."""


def load(path: str, data: bytes) -> Document:
    """Read a file. Raises UnreadableDocument with the reason why it is not indexed."""
    suffix = PurePosixPath(path).suffix.lower()
    reader = READERS.get(suffix)
    if reader is None:
        raise UnreadableDocument(f"unsupported: no reader for {suffix or 'files without a suffix'}")
    text, credentials = masked(without_hidden(decode(data)))
    lines = text.split("\n")
    about = front_matter(lines)
    try:
        reading = reader(["" if i < about.end else line for i, line in enumerate(lines)])
    except RecursionError as error:
        raise UnreadableDocument("malformed: nested too deeply to be read") from error
    if not any(block.kind != "heading" or block.label for block in reading.blocks):
        raise UnreadableDocument("empty: the page has no text")
    return Document(
        path=path,
        title=_title(path, about, reading),
        reading=reading,
        owner=about.owner,
        tags=about.tags,
        date=about.date,
        masked=credentials,
    )


def _title(path: str, about: FrontMatter, reading: Reading) -> str:
    """From front matter, the format, the first top heading, or the name of the file."""
    heading = next((b.label for b in reading.blocks if b.level == 1 and b.label), "")
    return about.title or reading.title or heading or _name(path)


def _name(path: str) -> str:
    file = PurePosixPath(path)
    generic = file.stem.lower() in ("readme", "index", "_index") and file.parent.name
    return (file.parent.name if generic else file.stem).replace("-", " ").replace("_", " ").strip()
