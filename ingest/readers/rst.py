"""reStructuredText -> sections, by their underlines, and blocks, by their indentation.

Directives and roles are shown as written, and included files are not read. Docutils is not used: it
only keeps the source of an unknown directive (Sphinx has hundreds), takes quadratic time, and reads
nothing of a document that nests deeply.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

from ingest.readers.parsed_file import FileBlock, ParsedFile
from ingest.readers.search_text import clean_label

LABEL = re.compile(r"\.\.\s++_[^\s:][^:]*+:\s*+$")
RULE = re.compile(r"^([!-/:-@\[-`{-~])\1*[ \t]*$")
SHORTEST_RULE = 4
"""Characters; a shorter rule has to be as long as its title."""
EXPLICIT = re.compile(r"^\s*\.\.(?:\s|$)")
COMMENT = re.compile(r"^\s*\.\.(?:$|\s+(?!\[[^\]]+\]|_|\||__|[^\s:]+(?::[^\s:]+)*[ ]?::(?:\s|$)))")
NAVIGATION = re.compile(r"^\s*\.\.\s+(?:toctree|contents|index|highlight|meta)::")
CODE = re.compile(r"^\s*\.\.\s+(?:code-block|code|sourcecode|parsed-literal|prompt|doctest)::")
FIELD = re.compile(r"^:[^:\s][^:]*:(?:\s|$)")
OPTION = re.compile(r"^\s+:[\w-]+:")
ITEM = re.compile(r"^(?:[-*+•]|\(?(?:\d+|#|[a-zA-Z])[.)])\s")
BULLET = re.compile(r"^(?:[-*+•|]|>>>)\s")
BEGINS = (ITEM, re.compile(r"^\.\.\s"))
"""A block that begins like this ends one that begins alike, even without a blank line."""
TABLE = re.compile(r"^(?:\+[-=+]{3,}\+|={2,}(?:\s+={2,})+)\s*$")
GRID_HEAD = re.compile(r"^\+=[=+]*\+\s*$|^={2,}(?:\s+={2,})+\s*$")


def read_rst(lines: Sequence[str]) -> ParsedFile:
    """Read a document."""
    visible = _without_invisible(lines)
    blocks: list[FileBlock] = []
    position = 0
    for heading in [*_headings(visible), FileBlock("heading", len(visible), len(visible))]:
        heading = _with_labels(heading, visible)
        blocks.extend(_blocks(visible, position, heading.start))
        blocks.append(heading)
        position = heading.end
    return ParsedFile("rst", tuple(visible), tuple(blocks[:-1]))


def has_titles(lines: Sequence[str]) -> bool:
    """Return True if a text has an underlined title."""
    return next(_headings(lines), None) is not None


def _with_labels(heading: FileBlock, lines: Sequence[str]) -> FileBlock:
    """Extend a heading to the labels above it: they belong to it."""
    start = above = heading.start
    while above and (not lines[above - 1].strip() or LABEL.match(lines[above - 1])):
        above -= 1
        start = above if lines[above].strip() else start
    return replace(heading, start=start)


def _headings(lines: Sequence[str]) -> Iterator[FileBlock]:
    """Yield headings; a heading's depth is the order in which its kind of rule first occurs."""
    depths: dict[tuple[str, bool], int] = {}
    depth = index = 0
    while index < len(lines) - 1:
        over = bool(RULE.match(lines[index])) and _is_title(lines, index + 1, lines[index])
        if not over and not (_may_begin(lines, index) and _is_title(lines, index)):
            index += 1
            continue
        title = index + over
        depth = depths.setdefault((lines[title + 1][0], over), depth + 1)
        label = clean_label(lines[title].strip(), "rst")
        yield FileBlock("heading", index, title + 2, level=depth, label=label)
        index = title + 2


def _is_title(lines: Sequence[str], index: int, above: str | None = None) -> bool:
    """Return True for a title with a rule below it, equal to ``above`` if that is given."""
    title, below = lines[index], lines[index + 1] if index + 1 < len(lines) else ""
    if not title.strip() or not RULE.match(below) or RULE.match(title):
        return False
    if above is None and (title[0].isspace() or BULLET.match(title) or EXPLICIT.match(title)):
        return False
    length = len(below.rstrip())
    same = above is None or above.rstrip() == below.rstrip()
    return same and length >= min(len(title.strip()), SHORTEST_RULE)


def _may_begin(lines: Sequence[str], index: int) -> bool:
    """Return True unless the line continues a paragraph."""
    above = lines[index - 1] if index else ""
    ends = not above.strip() or above[0].isspace() or RULE.match(above)
    return bool(ends or any(mark.match(above) for mark in BEGINS))


def _without_invisible(lines: Sequence[str]) -> list[str]:
    """Blank comments, fields at the top, and directives for navigation."""
    visible = list(lines)
    index = next((i for i, line in enumerate(lines) if line.strip()), len(lines))
    while index < len(lines) and FIELD.match(lines[index]):
        end = _end_of_body(lines, index)
        visible[index:end] = [""] * (end - index)
        index = end
    while index < len(lines):
        line = lines[index]
        if COMMENT.match(line) or NAVIGATION.match(line):
            # Two dots before an empty line are a comment without text.
            empty = line.strip() == ".." and not "".join(lines[index + 1 : index + 2]).strip()
            end = index + 1 if empty else _end_of_body(lines, index)
            visible[index:end] = [""] * (end - index)
            index = end
        elif CODE.match(line) or _introduces_code(line):
            index = _end_of_body(lines, index)
        else:
            index += 1
    return visible


def _end_of_body(lines: Sequence[str], start: int) -> int:
    """Return the end of the lines that are indented below a line."""
    margin = _indent(lines[start])
    for index in range(start + 1, len(lines)):
        if lines[index].strip() and _indent(lines[index]) <= margin:
            return index
    return len(lines)


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip())


def _blocks(lines: Sequence[str], start: int, end: int) -> Iterator[FileBlock]:
    """Yield the blocks of the outermost level between two headings."""
    index = start
    while index < end:
        if not lines[index].strip():
            index += 1
            continue
        stop = _end_of_block(lines, index, end)
        yield _block(lines, index, stop)
        index = stop


def _end_of_block(lines: Sequence[str], start: int, end: int) -> int:
    """Return the end of the paragraph that begins here, with everything indented below it."""
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


def _block(lines: Sequence[str], start: int, end: int) -> FileBlock:
    if CODE.match(lines[start]):
        header = 1
        while start + header < end and OPTION.match(lines[start + header]):
            header += 1
        blank = start + header < end and not lines[start + header].strip()
        return FileBlock("code", start, end, header=header + blank)
    if TABLE.match(lines[start]):
        ends = (i for i in range(start + 1, end) if GRID_HEAD.match(lines[i]))
        head = next(ends, start)
        return FileBlock("table", start, end, header=head + 1 - start if head > start else 0)
    parts = tuple(_parts(lines, start, end))
    return FileBlock("prose", start, end, parts=parts if len(parts) > 1 else ())


def _parts(lines: Sequence[str], start: int, end: int) -> Iterator[FileBlock]:
    """Yield the paragraphs inside a block; one indented below ``::`` is code."""
    first, margin = start, None
    for index in range(start + 1, end + 1):
        if index < end and (lines[index - 1].strip() or not lines[index].strip()):
            continue
        indent = _indent(lines[first])
        is_code = margin is not None and indent > margin
        if not is_code:
            last = next(line for line in reversed(lines[first:index]) if line.strip())
            item = ITEM.match(last.lstrip())
            introduces = CODE.match(lines[first]) or _introduces_code(last)
            margin = indent + (item.end() if item else 0) if introduces else None
        yield FileBlock("code" if is_code else "prose", first, index)
        first = index


def _introduces_code(line: str) -> bool:
    return line.rstrip().endswith("::") and not EXPLICIT.match(line)
