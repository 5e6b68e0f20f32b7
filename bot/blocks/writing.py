"""Nodes -> standard Markdown for a ``markdown`` block, which reads back as the same nodes."""

import re
from collections.abc import Iterator
from functools import lru_cache

from bot.blocks.nodes import (
    HARD_BREAK,
    Code,
    Heading,
    Listing,
    Node,
    Paragraph,
    Quote,
    Rule,
    Run,
    Runs,
    Table,
)

_BACKSLASH = re.compile(r"\\(?=[!-/:-@\[-`{-~\n]|$)")
_UNDERSCORE = re.compile(r"(?<![^\W_])_|_(?![^\W_])")
_STAR = re.compile(r"(?<!\s)\*|\*(?!\s)")
_TILDE = re.compile(r"(?<=[^\s(])~|~(?=~)|~$")
_ENTITY = re.compile(r"&(?=#?\w+;)")
_LINE_START = re.compile(
    r"^(?P<number>\d{1,9})(?=[.)](?:\s|$))"
    r"|^(?=#{1,6}(?:\s|$)|>|[-+](?:\s|$)|(?:-\s*){3,}$|=+\s*$|[-:|][-:| ]*$)",
    re.MULTILINE,
)
_SPACE = re.compile(r"\s+")
_TASK = re.compile(r"^\\\[([ xX])\\\] ")


def write_markdown(node: Node) -> str:
    """One block, without a line end after it."""
    match node:
        case Paragraph(runs):
            return _runs(runs)
        case Heading(level, runs):
            return f"{'#' * level} {_runs(runs).replace(chr(10), ' ')}"
        case Code(text, language):
            return _fenced(text, language)
        case Quote(children):
            inner = "\n\n".join(map(write_markdown, children))
            return "\n".join(f"> {line}" if line else ">" for line in inner.split("\n"))
        case Listing():
            return _listing(node)
        case Table(header, rows):
            rule = "|" + "---|" * len(header)
            return "\n".join([_row(header), rule, *map(_row, rows)])
        case Rule():
            return "---"


def _fenced(text: str, language: str) -> str:
    ticks = max((len(run) for run in re.findall("`+", text)), default=0)
    fence = "`" * max(3, ticks + 1)
    language = re.sub(r"[^\w+#.-]", "", language)
    return f"{fence}{language}\n{text}\n{fence}" if text else f"{fence}{language}\n{fence}"


def _listing(listing: Listing) -> str:
    items = []
    for number, item in enumerate(listing.items, listing.start or 0):
        marker = listing.marker if listing.start is None else f"{number}{listing.marker}"
        items.append(_item(f"{marker} ", item, listing.tight))
    return ("\n" if listing.tight else "\n\n").join(items)


def _item(marker: str, children: tuple[Node, ...], tight: bool) -> str:
    text = ""
    for before, child in zip((None, *children), children, strict=False):
        written = write_markdown(child)
        if before:
            text += "\n" if tight and _interrupts(child, before) else "\n\n"
        elif isinstance(child, Paragraph):
            # A task's box stays a box; Slack draws it.
            written = _TASK.sub(r"[\1] ", written)
        text += written
    first, *rest = text.split("\n")
    indent = " " * len(marker)
    return "\n".join(
        [(marker + first).rstrip(" "), *(indent + line if line else "" for line in rest)]
    )


def _interrupts(node: Node, before: Node) -> bool:
    """Whether a node is read as one of its own right after the lines of another."""
    match node:
        case Paragraph():
            return isinstance(before, Code)
        case Listing(_, start):
            return start in (None, 1) and not isinstance(before, Listing)
    return not isinstance(node, Rule)


def _row(cells: tuple[Runs, ...]) -> str:
    texts = (_SPACE.sub(_on_one_line, _runs(cell, in_table=True)) for cell in cells)
    return "| " + " | ".join(texts) + " |"


def _on_one_line(space: re.Match[str]) -> str:
    return " " if "\n" in space[0] else space[0]


# While a long list is cut, its items are written again and again.
@lru_cache(maxsize=1_024)
def _runs(runs: Runs, in_table: bool = False) -> str:
    """Runs with their delimiters opened and closed where the marks change."""
    out: list[str] = []
    open_marks: tuple[str, ...] = ()
    for group in _links(runs):
        marks = group[0].marks
        shared = 0
        while shared < min(len(open_marks), len(marks)) and open_marks[shared] == marks[shared]:
            shared += 1
        out.extend(reversed(open_marks[shared:]))
        out.extend(marks[shared:])
        open_marks = marks
        at_line_start = not out or out[-1].endswith("\n")
        words = "".join(_escaped(run, in_table, at_line_start) for run in group)
        out.append(f"[{words}]({_destination(group[0].url)})" if group[0].url else words)
    out.extend(reversed(open_marks))
    text = "".join(out)
    return text.replace("|", r"\|") if in_table else text


def _links(runs: Runs) -> Iterator[list[Run]]:
    """Neighbours that stand under one link; a citation is a link of its own."""
    group: list[Run] = []
    for run in runs:
        same = group and run.url and not run.cites and not group[0].cites
        if same and (run.url, run.marks) == (group[0].url, group[0].marks):
            group.append(run)
            continue
        if group:
            yield group
        group = [run]
    if group:
        yield group


def _destination(url: str) -> str:
    return re.sub(r"&(?=#?\w+;)", "&amp;", url)


def _escaped(run: Run, in_table: bool, at_line_start: bool) -> str:
    if run.code:
        return _code_span(run.text)
    text = _BACKSLASH.sub(r"\\\\", run.text)
    text = text.replace("`", r"\`").replace("[", r"\[").replace("]", r"\]")
    text = _STAR.sub(r"\*", text)
    text = _UNDERSCORE.sub(r"\_", text)
    text = _TILDE.sub(r"\~", text)
    text = _ENTITY.sub("&amp;", text).replace("<", "&lt;")
    head, line_end, rest = text.partition("\n")
    if not at_line_start:
        text = head + line_end + _LINE_START.sub(_escape_line_start, rest)
    else:
        text = _LINE_START.sub(_escape_line_start, text)
    return text.replace(HARD_BREAK, " " if in_table else "\\\n")


def _escape_line_start(match: re.Match[str]) -> str:
    return f"{match['number']}\\" if match["number"] else "\\"


def _code_span(text: str) -> str:
    ticks = {len(run) for run in re.findall("`+", text)}
    fence = "`" * next(n for n in range(1, len(ticks) + 2) if n not in ticks)
    spaced = (
        text.startswith("`")
        or text.endswith("`")
        or (text[:1] == text[-1:] == " " and text.strip(" "))
    )
    pad = " " if spaced else ""
    return f"{fence}{pad}{text}{pad}{fence}"
