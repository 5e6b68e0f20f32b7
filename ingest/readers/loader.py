"""A file of the docs repo -> Document: title, fields of front matter, lines and blocks."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import chain
from pathlib import PurePosixPath

from ingest.invisible import visible_line, without_hidden
from ingest.readers.asciidoc.asciidoc_blocks import read_asciidoc
from ingest.readers.boilerplate import without_boilerplate
from ingest.readers.credentials import masked
from ingest.readers.decoding import decode
from ingest.readers.front_matter import FrontMatter, front_matter
from ingest.readers.html import read_html
from ingest.readers.includes.include_directives import includes_of
from ingest.readers.includes.shown_part import Include, Part, PartMissing, lines_of
from ingest.readers.interface.operations import NO_INTERFACE, describes_interface, read_interface
from ingest.readers.kinds import recognition
from ingest.readers.kinds.prose import NO_PROSE, is_prose, read_plain, read_unnamed
from ingest.readers.kinds.recognition import Form, form_of, suffix_of
from ingest.readers.markdown import read_markdown
from ingest.readers.markup.cell_padding import without_padding
from ingest.readers.notebook import read_notebook
from ingest.readers.parsed_file import FileBlock, ParsedFile, UnreadableDocument, with_head
from ingest.readers.rst import read_rst
from ingest.readers.search_text import has_words
from ingest.readers.text import read_code
from ingest.readers.wiki.wiki_blocks import CREOLE, MEDIAWIKI, ORG, POD, TEXTILE, wiki_reader

__all__ = [
    "CODE",
    "EMPTY",
    "READERS",
    "Document",
    "Showing",
    "UnreadableDocument",
    "load",
]

Reader = Callable[[Sequence[str]], ParsedFile]
READERS: dict[str, Reader] = {
    **dict.fromkeys(recognition.MARKDOWN, read_markdown),
    ".mdx": lambda lines: read_markdown(lines, mdx=True),
    **dict.fromkeys(recognition.ASCIIDOC, read_asciidoc),
    **dict.fromkeys(recognition.RST, read_rst),
    **dict.fromkeys(recognition.HTML, read_html),
    **dict.fromkeys(recognition.TEXT, read_plain),
    **dict.fromkeys(recognition.ORG, wiki_reader(ORG)),
    **dict.fromkeys(recognition.MEDIAWIKI, wiki_reader(MEDIAWIKI)),
    **dict.fromkeys(recognition.CREOLE, wiki_reader(CREOLE)),
    **dict.fromkeys(recognition.TEXTILE, wiki_reader(TEXTILE)),
    **dict.fromkeys(recognition.POD, wiki_reader(POD)),
    ".ipynb": read_notebook,
    **dict.fromkeys(recognition.INTERFACE, read_interface),
    "": read_unnamed,
}
"""Reader by suffix; a file without a suffix may be prose."""


CODE = "code"
"""Stands for the suffix of a file that pages show as code."""
EMPTY = "empty: the page has no text"
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
    masked_lines: tuple[int, ...] = ()
    """The line of each masked credential."""
    impossible: tuple[str, ...] = ()
    """Dates in front matter that do not exist."""
    version: str | None = None
    language: str | None = None
    context: tuple[str, ...] = ()
    """Headings of the page that includes this file."""
    includes: tuple[Include, ...] = ()
    missing: tuple[str, ...] = ()
    """Parts that pages show and that the file does not have."""

    @property
    def has_text(self) -> bool:
        return any(has_words(block, self.parsed) for block in self.parsed.blocks)


@dataclass(frozen=True, slots=True)
class Showing:
    """The way in which pages show a file that they include."""

    suffix: str
    """The suffix that chooses the reader, or ``CODE``."""
    parts: tuple[Part, ...]
    title: str
    """Title of the page, for a file that has none."""
    heading: tuple[str, ...] = ()
    """Headings of the page above the directive."""


def load(path: str, data: bytes, showing: Showing | None = None) -> Document:
    """Read a page, or the parts of a file that pages show.

    Raises UnreadableDocument with the reason. A page without text that includes is readable.
    """
    form = "page" if showing else form_of(path)
    suffix = showing.suffix if showing else suffix_of(path)
    reader = read_code if showing and suffix == CODE else READERS.get(suffix)
    if reader is None or form == "other":
        raise UnreadableDocument(without_reader(path))
    if visible_line(path) != path:
        raise UnreadableDocument(_HIDDEN_IN_PATH)
    if masked(path)[1]:
        raise UnreadableDocument(_CREDENTIAL_IN_PATH)
    text = _text(data, path, form)
    lines_masked: tuple[int, ...] = ()
    fields, head = FrontMatter(), list[tuple[int, str]]()
    if reader is read_notebook:  # the reader masks its text, which is inside JSON
        lines = text.split("\n")
    else:
        text, lines_masked = masked(without_hidden(text))
        # Blanks at the end of a line are no text, so they are no change either.
        source = lines = [line.rstrip() for line in text.split("\n")]
        if form != "interface" and reader is not read_code:
            fields, lines = front_matter(source)
            head = [(index, source[index]) for index in fields.shown]
    missing: tuple[str, ...] = ()
    if showing:
        lines, missing = _shown_lines(lines, showing.parts)
        lines_masked = tuple(n for n in lines_masked if lines[n - 1].strip())
        head = [(index, line) for index, line in head if lines[index].strip()]
    parsed = reader(lines)
    # The lines of a notebook are JSON, and an interface includes nothing.
    is_written = reader is not read_notebook and form != "interface"
    includes = includes_of(lines, parsed) if is_written else ()
    parsed = with_head(without_boilerplate(without_padding(parsed)), head)
    parsed = replace(parsed, blocks=tuple(map(_visible, parsed.blocks)))
    fallback = (showing.title if showing else "") or _name(path)
    facts = (fields.owner, fields.version, fields.language)
    names = [_title(fields, parsed) or fallback, *(fact or "" for fact in facts), *fields.tags]
    (title, owner, version, language, *tags), lines_of_names = zip(*map(_shown, names), strict=True)
    document = Document(
        path=path,
        title=title or _name(path),
        parsed=parsed,
        owner=owner or None,
        tags=tuple(filter(None, tags)),
        date=fields.date,
        masked_lines=(*lines_masked, *parsed.masked_lines, *chain.from_iterable(lines_of_names)),
        impossible=fields.impossible,
        version=version or None,
        language=language or None,
        context=showing.heading if showing else (),
        includes=includes,
        missing=missing,
    )
    if not document.has_text and not includes:
        raise UnreadableDocument(missing[0] if missing else EMPTY)
    return document


def without_reader(path: str) -> str:
    """Return the reason for leaving out a file of a format that nothing here reads."""
    return f"unsupported: no reader for {suffix_of(path) or 'files without a suffix'}"


def why_no_page(path: str, data: bytes) -> str | None:
    """Return the reason why the content of a file is not a page; None if its name makes it one."""
    form = form_of(path)
    if form == "page":
        return None
    try:
        text = _text(data, path, form)
    except UnreadableDocument as error:
        return error.reason
    if form == "interface":
        return None if describes_interface(text) else NO_INTERFACE
    return None if is_prose(text) else NO_PROSE


def _text(data: bytes, path: str, form: Form) -> str:
    try:
        return decode(data)
    except UnreadableDocument:
        if form == "page":
            raise
        # What is not text was not meant to be a page.
        raise UnreadableDocument(without_reader(path)) from None


def is_bad_name(reason: str) -> bool:
    """Return True if a file was left out because its path has to be changed."""
    return reason in (_HIDDEN_IN_PATH, _CREDENTIAL_IN_PATH)


def _shown(name: str) -> tuple[str, tuple[int, ...]]:
    """Escapes may have hidden a credential or a character until the name was read."""
    return masked(visible_line(name))


def _visible(block: FileBlock) -> FileBlock:
    if not block.label and not block.parts:
        return block
    parts = tuple(map(_visible, block.parts))
    return replace(block, label=visible_line(block.label), parts=parts)


def _shown_lines(lines: Sequence[str], parts: Sequence[Part]) -> tuple[list[str], tuple[str, ...]]:
    """Return the lines with those blanked that no part has, and the reasons of missing parts."""
    shown: set[int] = set()
    missing: dict[str, None] = {}
    for part in parts:
        try:
            shown.update(lines_of(part, lines))
        except PartMissing as error:
            missing[str(error)] = None
    return [line if i in shown else "" for i, line in enumerate(lines)], tuple(missing)


def _title(fields: FrontMatter, parsed: ParsedFile) -> str:
    """Title from front matter, the format, or the first top heading."""
    heading = next((b.label for b in parsed.blocks if b.level == 1 and b.label), "")
    return fields.title or parsed.title or heading


def _name(path: str) -> str:
    file = PurePosixPath(path)
    generic = file.stem.lower() in ("readme", "index", "_index") and file.parent.name
    return (file.parent.name if generic else file.stem).replace("-", " ").replace("_", " ").strip()
