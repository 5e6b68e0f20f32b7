"""Document -> chunks. The same document always gives the same chunks.

A chunk stays within one section, has about 800 characters, and overlaps with no other. Blocks are
kept whole and a long section is divided evenly. Only a block that is too large by itself is cut: a
fence at lines, a table at rows, prose at lines or sentences.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from math import ceil

from ingest.chunks.pieces import Piece, halves, pieces_of, rendered
from ingest.documents import Chunk
from ingest.readers.loader import Document
from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import has_words
from ingest.shorten import shorten_end

CHUNKER_VERSION = 6
"""Part of the index's identity: raise it whenever chunks of the same file can change."""

TARGET = 800
"""Desired maximum number of characters of a chunk."""
SLACK = 1.15
"""Factor by which a chunk may exceed its even share to keep a block whole."""
LONGEST_LABEL = 160
"""Maximum number of characters of a title or a heading; longer ones are shortened."""
MOST_INTRODUCING = 8
"""Maximum number of pieces that are kept with the next one because they introduce it."""
LABEL = re.compile(r" {0,3}(?:\*\*|__)?\w.{0,78}[\w)?](?:\*\*|__)?\s*")

Fits = Callable[[str], bool]
Path = tuple[str, ...]


def chunk_prefix(path: str) -> str:
    """Return the prefix of the ids of a document's chunks."""
    return path.removesuffix(".md")


def chunk_document(document: Document, fits: Fits) -> list[Chunk]:
    """Return the chunks in order. ``fits`` tells whether the embedder reads the whole of a text."""
    title = shorten_end(document.title, LONGEST_LABEL)
    chunks: list[Chunk] = []
    for path, blocks in _sections(document.parsed):
        heading = _labels(title, path, fits)
        for packed in _packed(blocks, document.parsed):
            chunks.extend(_fitted(packed, document, title, heading, fits))
    prefix = chunk_prefix(document.path)
    return [replace(c, id=f"{prefix}-{number}", number=number) for number, c in enumerate(chunks)]


def _sections(parsed: ParsedFile) -> Iterator[tuple[Path, list[FileBlock]]]:
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


def _packed(blocks: Sequence[FileBlock], parsed: ParsedFile) -> Iterator[list[Piece]]:
    """Divide a section evenly, between blocks."""
    pieces = [piece for block in blocks for piece in pieces_of(block, parsed, TARGET)]
    total = sum(piece.size for piece in pieces)
    share = total / ceil(total / TARGET) * SLACK if total > TARGET else TARGET
    packed: list[Piece] = []
    size = 0
    for piece in pieces:
        if packed and size + piece.size > share:
            introduction = _introduction(packed, room=share - piece.size)
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
    text, search = rendered(pieces, parsed)
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
