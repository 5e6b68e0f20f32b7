"""Markdown and MDX: source lines -> blocks, by the block structure that markdown-it finds."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import chain, pairwise

from markdown_it import MarkdownIt
from markdown_it.token import Token

from ingest.readers.markup.wrappers import FENCE, LABEL, Unwrapped, closes, unwrapped
from ingest.readers.parsed_file import FileBlock, ParsedFile, covering
from ingest.readers.search_text import clean_label

LISTS = ("bullet_list_open", "ordered_list_open")
LEAVES = ("code_block", "paragraph_open", "heading_open", "hr")
ITEM = re.compile(r"^( *)(?:[-*+]|\d{1,9}[.)])(?: |$)")
HTML_ITEM = re.compile(r"^\s*<(?:tr|li|dt)\b", re.IGNORECASE)
HTML_HEADING = re.compile(r"\s*<h([1-6])\b[^>]*>(.*?)</h\1\s*>[ \t]*(?:\n|\Z)", re.I | re.DOTALL)
LONGEST_TAG_LINES = 40
HTML_CELL = re.compile(r"<(t[dh])\b", re.IGNORECASE)


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
    """Yield a heading and the rest of raw HTML; it may be cut before a row or an item."""
    lines, written = source.visible, source.structure
    if heading := HTML_HEADING.match("\n".join(lines[start:end])):
        first, start = start, start + heading[0].rstrip("\n").count("\n") + 1
        label = clean_label(heading[2])
        first = _with_labels(first, lines)
        yield FileBlock("heading", first, start, level=int(heading[1]), label=label)
    if start < end:
        cuts = [i for i in range(start + 1, end) if HTML_ITEM.match(written[i])]
        edges = [start, *cuts, end]
        head = next((cut for cut in cuts[:2] if _names_columns(written[start:cut])), start)
        names = next((i for i in range(start, head) if lines[i].strip()), start)
        rows = (
            FileBlock("prose", a, b, head=(names, head) if a >= head else (0, 0))
            for a, b in pairwise(edges)
        )
        yield FileBlock("prose", start, end, parts=tuple(rows) if cuts else ())


def _names_columns(lines: Sequence[str]) -> bool:
    cells = {cell[1].lower() for line in lines for cell in HTML_CELL.finditer(line)}
    return cells == {"th"}


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
