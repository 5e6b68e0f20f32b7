"""reStructuredText: docutils tells sections and comments, indentation the blocks between them.

What is shown stays as written, whatever directives and roles a page uses: of an unknown directive
(Sphinx has hundreds) docutils keeps no more than its source anyway. Nothing outside the page is
read.
"""

import re
from collections.abc import Iterator, Sequence

from docutils import nodes
from docutils.core import publish_doctree

from ingest.readers.reading import Block, Reading
from ingest.readers.text import paragraphs

SETTINGS: dict[str, object] = {
    "_disable_config": True,
    "file_insertion_enabled": False,
    "raw_enabled": False,
    "report_level": 5,
    "halt_level": 6,
    "warning_stream": False,
    "doctitle_xform": False,
    "sectsubtitle_xform": False,
    "docinfo_xform": False,
    "smart_quotes": False,
}
LARGEST = 150_000
"""Characters up to which docutils is asked; some of its constructs take time by the square."""
COMMENT = re.compile(r"^(\s*)\.\.(?:\s|$)")
NAVIGATION = re.compile(r"^\s*\.\.\s+(?:toctree|contents|index|highlight|meta)::")
CODE = re.compile(r"^\.\.\s+(?:code-block|code|sourcecode|parsed-literal|prompt|doctest)::")
OPTION = re.compile(r"^\s+:[\w-]+:")
ITEM = re.compile(r"^(?:[-*+•]|\(?(?:\d+|#|[a-zA-Z])[.)])\s")
BEGINS = (ITEM, re.compile(r"^\.\.\s"))
"""What ends a block of its own kind without a blank line between them."""
TABLE = re.compile(r"^(?:\+[-=+]{3,}\+|={2,}(?:\s+={2,})+)\s*$")
GRID_HEAD = re.compile(r"^\+=[=+]*\+\s*$|^={2,}(?:\s+={2,})+\s*$")
RULE = re.compile(r"^([^\w\s])\1*\s*$")


def read_rst(lines: Sequence[str]) -> Reading:
    """Read a page; a very large one by its paragraphs only."""
    if sum(map(len, lines)) > LARGEST:
        return Reading("rst", tuple(lines), tuple(paragraphs(lines)))
    document = publish_doctree("\n".join(lines), settings_overrides=SETTINGS)
    shown = _without_unseen(lines, document)
    headings = list(_headings(document, shown))
    blocks: list[Block] = []
    position = 0
    for heading in [*headings, Block("heading", len(shown), len(shown))]:
        if heading.start >= position:
            blocks.extend(_blocks(shown, position, heading.start))
            blocks.append(heading)
            position = heading.end
    return Reading("rst", tuple(shown), tuple(blocks[:-1]))


def _headings(document: nodes.document, lines: Sequence[str]) -> Iterator[Block]:
    for section in document.findall(nodes.section):
        title = section.next_node(nodes.title)
        under = title.line if title is not None else None
        if title is None or not under or under < 2:
            continue
        over = under > 2 and RULE.match(lines[under - 3]) and lines[under - 3] == lines[under - 1]
        level = 1
        parent = section.parent
        while isinstance(parent, nodes.section):
            level, parent = level + 1, parent.parent
        start = under - 3 if over else under - 2
        yield Block("heading", start, under, level=level, label=" ".join(title.astext().split()))


def _without_unseen(lines: Sequence[str], document: nodes.document) -> list[str]:
    """Blank out comments, and directives that only lead elsewhere."""
    shown = list(lines)
    starts = [i for i, line in enumerate(lines) if NAVIGATION.match(line)]
    for comment in document.findall(nodes.comment):
        last = min(comment.line or 0, len(lines))
        first = comment.rawsource.split("\n", 1)[0].strip()
        earliest = last - comment.rawsource.count("\n") - 4
        for index in range(last - 1, max(-1, earliest), -1):
            if COMMENT.match(lines[index]) and lines[index].lstrip(" .\t").startswith(first):
                starts.append(index)
                break
    for start in starts:
        for index in range(start, _end_of_body(lines, start, len(lines))):
            shown[index] = ""
    return shown


def _end_of_body(lines: Sequence[str], start: int, end: int) -> int:
    """Where what is indented below a line ends."""
    margin = _indent(lines[start])
    for index in range(start + 1, end):
        if lines[index].strip() and _indent(lines[index]) <= margin:
            return index
    return end


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: Sequence[str], start: int, end: int) -> Iterator[Block]:
    """Blocks of the outermost level between two headings."""
    index = start
    while index < end:
        if not lines[index].strip():
            index += 1
            continue
        stop = _end_of_block(lines, index, end)
        yield _block(lines, index, stop)
        index = stop


def _end_of_block(lines: Sequence[str], start: int, end: int) -> int:
    """After the paragraph that begins here and everything indented below it."""
    table = TABLE.match(lines[start])
    index = start + 1
    while index < end:
        line = lines[index]
        if not line.strip():
            rest = next((i for i in range(index, end) if lines[i].strip()), end)
            if rest == end or _indent(lines[rest]) == 0:
                return index
            index = rest
        elif not table and any(mark.match(line) and mark.match(lines[start]) for mark in BEGINS):
            return index
        index += 1
    return end


def _block(lines: Sequence[str], start: int, end: int) -> Block:
    if CODE.match(lines[start]):
        header = 1
        while start + header < end and OPTION.match(lines[start + header]):
            header += 1
        blank = start + header < end and not lines[start + header].strip()
        return Block("code", start, end, header=header + blank)
    if TABLE.match(lines[start]):
        ends = (i for i in range(start + 1, end) if GRID_HEAD.match(lines[i]))
        head = next(ends, start)
        return Block("table", start, end, header=head + 1 - start if head > start else 0)
    parts = tuple(_parts(lines, start, end))
    return Block("prose", start, end, parts=parts if len(parts) > 1 else ())


def _parts(lines: Sequence[str], start: int, end: int) -> Iterator[Block]:
    """Paragraphs inside a block."""
    first = start
    for index in range(start + 1, end):
        if lines[index].strip() and not lines[index - 1].strip():
            yield Block("prose", first, index)
            first = index
    yield Block("prose", first, end)
