"""Document -> chunks. The same document always gives the same chunks.

A chunk stays within one section, has about 800 characters, and overlaps with no other. Blocks are
kept whole and a long section is divided evenly. Only a block that is too large by itself is cut: a
fence at lines, a table at rows, prose at lines or sentences.

A dump, which is a page of very many small chunks, is cut by size alone: sections share a chunk, and
text without words, such as hexadecimal numbers, is embedded by its beginning. All of it is searched
by words. A page of words, such as the reference of a large interface, may have more chunks.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import takewhile
from math import ceil

from ingest.chunks.pieces import Fits, Piece, halves, pieces_of, rendered
from ingest.chunks.table_rows import whole_tables
from ingest.documents import Chunk
from ingest.readers.loader import Document
from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import has_words
from ingest.shorten import shorten_end

CHUNKER_VERSION = 8
"""Part of the index's identity: raise it whenever chunks of the same file can change."""

TARGET = 800
"""Desired maximum number of characters of a chunk."""
SLACK = 1.15
"""Factor by which a chunk may exceed its even share to keep a block whole."""
LONGEST_LABEL = 160
"""Maximum number of characters of a title or a heading; longer ones are shortened."""
MOST_INTRODUCING = 8
"""Maximum number of pieces that are kept with the next one because they introduce it."""
DUMP_CHUNKS = 500
"""A page with at most this many chunks is not a dump."""
DUMP_CHUNKS_OF_WORDS = 3_000
"""The same for a page of words."""
DUMP_SIZE = TARGET / 2
"""Average number of characters of a chunk, below which a page of more chunks is a dump."""
WORDS_SHARE = 1 / 3
"""Minimum share of a text's characters in words of letters; text with a smaller one has none."""
WORD = re.compile(r"(?<!\w)[^\W\d_]{2,}+(?!\w)")
LABEL = re.compile(r" {0,3}(?:\*\*|__)?\w.{0,78}[\w)?](?:\*\*|__)?\s*")

Path = tuple[str, ...]
Section = tuple[Path, list[FileBlock]]


def chunk_prefix(path: str) -> str:
    """Return the prefix of the ids of a document's chunks."""
    return path.removesuffix(".md")


def chunk_document(document: Document, fits: Fits) -> list[Chunk]:
    """Return the chunks in order. ``fits`` tells whether the embedder reads the whole of a text."""
    chunks = _chunks(document, list(_sections(document.parsed)), fits)
    if _is_dump(chunks):
        sections = list(_joined(_sections(document.parsed), document.parsed))
        chunks = _chunks(
            document,
            sections,
            lambda text: fits(text) or not _has_words(text),
            keep_introductions=False,
        )
    prefix = chunk_prefix(document.path)
    return [replace(c, id=f"{prefix}-{number}", number=number) for number, c in enumerate(chunks)]


def _is_dump(chunks: Sequence[Chunk]) -> bool:
    if len(chunks) <= DUMP_CHUNKS or sum(len(c.text) for c in chunks) >= DUMP_SIZE * len(chunks):
        return False
    has_words = _has_words("\n".join(chunk.search_text for chunk in chunks))
    return not has_words or len(chunks) > DUMP_CHUNKS_OF_WORDS


def _chunks(
    document: Document, sections: Sequence[Section], fits: Fits, *, keep_introductions: bool = True
) -> list[Chunk]:
    title = shorten_end(document.title, LONGEST_LABEL)
    chunks: list[Chunk] = []
    for path, blocks in sections:
        heading = _labels(title, (*document.context, *path), fits)
        for packed in _packed(blocks, document.parsed, keep_introductions):
            chunks.extend(_fitted(packed, document, title, heading, fits))
    return chunks


def _joined(sections: Iterable[Section], parsed: ParsedFile) -> Iterator[Section]:
    """Join sections that fit into one chunk together, under the headings that they share."""
    path: Path = ()
    joined: list[FileBlock] = []
    size = 0
    for labels, blocks in sections:
        own = sum(_size(block, parsed) for block in blocks)
        if joined and size + own > TARGET:
            yield path, joined
            joined, size = [], 0
        path = _shared(path, labels) if joined else labels
        joined.extend(blocks)
        size += own
    if joined:
        yield path, joined


def _size(block: FileBlock, parsed: ParsedFile) -> int:
    return sum(len(line) + 1 for line in parsed.lines[block.start : block.end])


def _shared(one: Path, other: Path) -> Path:
    pairs = takewhile(lambda pair: pair[0] == pair[1], zip(one, other, strict=False))
    return tuple(label for label, _label in pairs)


def _has_words(text: str) -> bool:
    """Return True if a text is more than numbers and codes, in any language."""
    return sum(len(word) for word in WORD.findall(text)) >= WORDS_SHARE * len(text)


def _sections(parsed: ParsedFile) -> Iterator[Section]:
    """Yield heading paths with their blocks; a heading without text joins the next section."""
    path: list[FileBlock] = []
    section: list[FileBlock] = []
    labels: Path = ()
    for block in parsed.blocks:
        if block.kind == "heading":
            while path and path[-1].level >= block.level:
                path.pop()
            path.append(block)
            below = tuple(heading.label for heading in path if heading.label)
            if section and not (_is_bare(section, parsed) and below[: len(labels)] == labels):
                yield labels, section
                section = []
            labels = below
        section.append(block)
    if section:
        yield labels, section


def _is_bare(section: Sequence[FileBlock], parsed: ParsedFile) -> bool:
    """Return True for a section with no words but its headings."""
    if len(section) > 3:
        return False
    return all(block.kind == "heading" or not has_words(block, parsed) for block in section)


def _labels(title: str, path: Path, fits: Fits) -> Path:
    """Return the heading path; a long one is shortened to about half of the embedder's limit."""
    limit = LONGEST_LABEL
    labels = tuple(shorten_end(label, limit) for label in path)
    while sum(map(len, labels)) > LONGEST_LABEL and limit > 10:
        prefix = " > ".join((title, *labels))
        if fits(f"{prefix}\n{prefix}"):
            break
        limit //= 2
        labels = tuple(shorten_end(label, limit) for label in path)
    return labels


def _packed(
    blocks: Sequence[FileBlock], parsed: ParsedFile, keep_introductions: bool
) -> Iterator[list[Piece]]:
    """Divide a section evenly, between blocks."""
    pieces = [
        piece
        for block in whole_tables(blocks, parsed)
        for piece in pieces_of(block, parsed, TARGET)
    ]
    total = sum(piece.size for piece in pieces)
    share = total / ceil(total / TARGET) * SLACK if total > TARGET else TARGET
    packed: list[Piece] = []
    size = 0
    for piece in pieces:
        if packed and size + piece.size > share:
            room = share - piece.size if keep_introductions else 0
            introduction = _introduction(packed, room)
            yield packed[: len(packed) - len(introduction)]
            packed = introduction
            size = sum(introducing.size for introducing in packed)
        packed.append(piece)
        size += piece.size
    if packed:
        yield packed


def _introduction(packed: Sequence[Piece], room: float) -> list[Piece]:
    """Return the last pieces that introduce the next one, if they fit into ``room``."""
    introduction: list[Piece] = []
    for piece in reversed(packed[1:][-MOST_INTRODUCING:]):
        if not _introduces(piece) or piece.size > room:
            break
        room -= piece.size
        introduction.insert(0, piece)
    return introduction


def _introduces(piece: Piece) -> bool:
    """Return True for a heading, ``as follows:``, or a short line like ``Week 2: set up``."""
    if piece.block.kind == "heading" or piece.lines[-1].rstrip().endswith(":"):
        return True
    is_line = piece.block.kind == "prose" and len(piece.lines) == 1
    return is_line and bool(LABEL.fullmatch(piece.lines[0]))


def _fitted(
    pieces: list[Piece], document: Document, title: str, heading: Path, fits: Fits
) -> Iterator[Chunk]:
    """Yield one chunk, or smaller ones if the embedder would cut off its end.

    Pieces without any text to search yield no chunk.
    """
    parsed = document.parsed
    text, search = rendered(pieces, parsed, fits)
    chunk = Chunk(
        id="",
        path=document.path,
        number=0,
        title=title,
        heading=heading,
        lines=(parsed.number(pieces[0].start), parsed.number(pieces[-1].end - 1)),
        text=text,
        search_text=search,
    )
    smaller = [] if fits(chunk.embed_text) else halves(pieces, parsed)
    if search and not smaller:
        yield chunk
    for half in smaller:
        yield from _fitted(half, document, title, heading, fits)
