"""Markdown and MDX: source lines -> blocks, by the block structure that markdown-it finds."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.readers.markup.html_rows import HtmlTable
from ingest.readers.markup.wrappers import FENCE, LABEL, Unwrapped, closes, unwrapped
from ingest.readers.parsed_file import FileBlock, ParsedFile, covering
from ingest.readers.search_text import clean_label

LISTS = ("bullet_list_open", "ordered_list_open")
LEAVES = ("code_block", "paragraph_open", "heading_open", "hr")
ITEM = re.compile(r"^( *)(?:[-*+]|\d{1,9}[.)])(?: |$)")
HTML_ITEM = re.compile(r"^\s*<li\b", re.IGNORECASE)
HTML_HEADING = re.compile(r"\s*<h([1-6])\b[^>]*>(.*?)</h\1\s*>[ \t]*(?:\n|\Z)", re.I | re.DOTALL)
LONGEST_TAG_LINES = 40


def _parser(*, indented_code: bool) -> MarkdownIt:
    """A parser of block structure; inline markup is removed later, from the text of a chunk."""
    parser = MarkdownIt("commonmark", {"html": True}).enable("table")
    parser.disable(["inline", "text_join", "reference"])
    if not indented_code:
        parser.disable("code")
    return parser


MARKDOWN = _parser(indented_code=True)
MDX = _parser(indented_code=False)


def read_markdown(lines: Sequence[str], *, mdx: bool = False) -> ParsedFile:
    """Read a document whose front matter is blanked already."""
    visible, blocks, indexes = markdown_blocks(lines, mdx=mdx)
    numbers = tuple(index + 1 for index in indexes) if len(visible) > len(lines) else ()
    return ParsedFile("markdown", tuple(visible), tuple(blocks), numbers)


def markdown_blocks(
    lines: Sequence[str], *, mdx: bool = False
) -> tuple[list[str], list[FileBlock], list[int]]:
    """Return the lines as shown, their blocks, and the index of each shown line in the file."""
    source = unwrapped(lines, mdx=mdx)
    tokens = (MDX if mdx else MARKDOWN).parse("\n".join(source.structure))
    blocks = covering(list(_blocks(tokens, source)), source.visible, 0, len(source.visible))
    blocks = _with_their_tags(_with_sub_lists(blocks, source.visible), source)
    if source.tables:
        code = list(_code(blocks))
        blocks = list(_with_rows(blocks, source.tables, code))
    return source.visible, blocks, source.indexes


def _blocks(tokens: Sequence[Token], source: Unwrapped) -> Iterator[FileBlock]:
    """Yield the blocks of one level; blocks inside a container become its parts."""
    index = 0
    while index < len(tokens):
        token = tokens[index]
        end = _closing(tokens, index)
        if token.map is not None:
            yield from _block(token, tokens[index + 1 : end], source)
        elif end > index + 1:
            yield from _blocks(tokens[index + 1 : end], source)
        index = end + 1


def _closing(tokens: Sequence[Token], index: int) -> int:
    """Index of the token that closes this one; the token itself if it has no content."""
    if tokens[index].nesting != 1:
        return index
    level = tokens[index].level
    after = range(index + 1, len(tokens))
    return next(i for i in after if tokens[i].nesting == -1 and tokens[i].level == level)


def _block(token: Token, inner: Sequence[Token], source: Unwrapped) -> Iterator[FileBlock]:
    start, end = token.map or (0, 0)
    lines = source.visible
    if token.type in LISTS:
        yield from _blocks(inner, source)
    elif token.type == "heading_open" and token.level == 0:
        label = clean_label(inner[0].content)
        start = _with_labels(start, lines)
        yield FileBlock("heading", start, end, level=int(token.tag[1]), label=label)
    elif token.type == "fence":
        yield _fence(start, end, lines)
    elif token.type == "table_open":
        yield FileBlock("table", start, end, header=2)
    elif token.type == "html_block":
        yield from _html(start, end, source)
    elif token.type in LEAVES:
        yield FileBlock("code" if token.type == "code_block" else "prose", start, end)
    else:
        parts = covering(list(_blocks(inner, source)), lines, start, end)
        yield FileBlock("prose", start, end, parts=tuple(parts))


def _with_labels(heading: int, lines: Sequence[str]) -> int:
    """Return the first line of the labels above a heading: they belong to it."""
    start = above = heading
    while above and (not lines[above - 1].strip() or LABEL.match(lines[above - 1])):
        above -= 1
        start = above if lines[above].strip() else start
    return start


def _fence(start: int, end: int, lines: Sequence[str]) -> FileBlock:
    opening = FENCE.match(lines[start])  # None if a template tag replaces the fence
    closed = end > start + 1 and (not opening or closes(lines[end - 1], opening[1]))
    return FileBlock("code", start, end, header=1, footer=1 if closed else 0)


def _html(start: int, end: int, source: Unwrapped) -> Iterator[FileBlock]:
    """Yield a heading and the rest of raw HTML; it may be cut before an item."""
    lines, written = source.visible, source.structure
    if heading := HTML_HEADING.match("\n".join(lines[start:end])):
        first, start = start, start + heading[0].rstrip("\n").count("\n") + 1
        label = clean_label(heading[2])
        first = _with_labels(first, lines)
        yield FileBlock("heading", first, start, level=int(heading[1]), label=label)
    if start < end:
        cuts = [i for i in range(start + 1, end) if HTML_ITEM.match(written[i])]
        items = (FileBlock("prose", a, b) for a, b in pairwise((start, *cuts, end)))
        yield FileBlock("prose", start, end, parts=tuple(items) if cuts else ())


def _code(blocks: Iterable[FileBlock]) -> Iterator[FileBlock]:
    for block in blocks:
        if block.kind == "code":
            yield block
        yield from _code(block.parts)


def _with_rows(
    blocks: Iterable[FileBlock], tables: Sequence[HtmlTable], code: Sequence[FileBlock]
) -> Iterator[FileBlock]:
    """Replace what HTML tables cover by one block for each row, whatever Markdown is in it."""
    first = done = 0
    for block in blocks:
        last = bisect_left(tables, block.end, lo=first, key=lambda table: table.start)
        own, first = tables[first:last], last
        if own and _are_inside_parts(own, block):
            yield replace(block, parts=tuple(_with_rows(block.parts, own, code)))
            continue
        if not own and done <= block.start:
            yield block
            continue
        start = max(block.start, done)
        for table in own:
            if start < table.start:
                yield FileBlock("prose", start, table.start)
            yield from _rows(table, code)
            start = done = table.end
        if start < block.end:
            yield FileBlock("prose", start, block.end)


def _are_inside_parts(tables: Sequence[HtmlTable], block: FileBlock) -> bool:
    """Return True if each table is within one part of a container, such as a quotation."""
    for table in tables:
        number = bisect_right(block.parts, table.start, key=lambda part: part.start)
        if not number or block.parts[number - 1].end < table.end:
            return False
    return True


def _rows(table: HtmlTable, code: Sequence[FileBlock]) -> Iterator[FileBlock]:
    """Yield a block for each row; the first one also has what stands above it, as a caption."""
    rows = table.rows or (table.start,)
    edges = (table.start, *rows[1:], table.end)
    for number, (start, end) in enumerate(pairwise(edges)):
        names = (rows[0], edges[table.header]) if number >= table.header > 0 else (0, 0)
        first = bisect_left(code, start, key=lambda block: block.start)
        last = bisect_left(code, end, lo=first, key=lambda block: block.start)
        parts: list[FileBlock] = []
        position = start
        for block in code[first:last]:
            if position < block.start:
                parts.append(FileBlock("table", position, block.start, head=names))
            parts.append(block)
            position = block.end
        if parts and position < end:
            parts.append(FileBlock("table", position, end, head=names))
        yield FileBlock("table", start, end, head=names, parts=tuple(parts))


def _with_sub_lists(blocks: Sequence[FileBlock], lines: Sequence[str]) -> list[FileBlock]:
    """Make an indented list a part of the item above it, as its author meant.

    CommonMark needs four spaces under ``10. ``; people write three.
    """
    groups: list[list[FileBlock]] = []
    for block in blocks:
        if groups and _is_below(block, groups[-1], lines):
            groups[-1].append(block)
        else:
            groups.append([block])
    return [_group(group) for group in groups]


def _is_below(block: FileBlock, group: Sequence[FileBlock], lines: Sequence[str]) -> bool:
    if block.start != group[-1].end or block.kind != "prose":
        return False
    item, above = ITEM.match(lines[block.start]), ITEM.match(lines[group[0].start])
    return bool(item and above and len(item[1]) > len(above[1]))


def _with_their_tags(blocks: Sequence[FileBlock], source: Unwrapped) -> list[FileBlock]:
    """Join tags that carry words with the block below them, of which they say what it is about."""
    joined: list[FileBlock] = []
    tags: list[FileBlock] = []
    for block in blocks:
        if block.kind == "heading":
            joined += (*tags, block)
            tags = []
        elif _is_tag(block, source):
            tags.append(block)
        else:
            joined.append(_joined((*tags, block)) if tags else block)
            tags = []
    return [*joined, *tags]


def _is_tag(block: FileBlock, source: Unwrapped) -> bool:
    if block.end - block.start > LONGEST_TAG_LINES:
        return False
    written = "\n".join(source.structure[block.start : block.end]).strip()
    return written.startswith("<!--") and written.endswith("-->") and "<!--" not in written[4:]


def _joined(blocks: Sequence[FileBlock]) -> FileBlock:
    return FileBlock("prose", blocks[0].start, blocks[-1].end, parts=tuple(blocks))


def _group(group: Sequence[FileBlock]) -> FileBlock:
    item = group[0]
    if len(group) == 1:
        return item
    parts = item.parts or (item,)
    return replace(item, end=group[-1].end, parts=tuple(chain(parts, group[1:])))
