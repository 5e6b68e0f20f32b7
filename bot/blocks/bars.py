"""Rows of a table whose cells hold bars: ``kubectl get pods | grep api`` stays one command.

Markdown ends a cell at every bar, even within code, and drops the cells that its header has no
column for. Here a bar in code is code, and what is too much stays in the last cell.
"""

import re

from markdown_it.rules_block import StateBlock, table

BAR = "\ufdd0"
"""Stands for a bar that ends no cell, as long as cells are read. A character of no language."""
_CODE_OR_BAR = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|\\.|\|")
_RULE = re.compile(r"[-:|][-:| \t]*")


def with_bars(text: str) -> str:
    """The text as it was before its bars were put out of sight."""
    return text.replace(BAR, "|")


def table_with_bars(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Markdown's table, read with the bars out of sight that end no cell."""
    rule = _line(state, first + 1) if first + 1 < last else ""
    if silent or not _RULE.fullmatch(rule):
        return table(state, first, last, silent)
    source = state.src
    columns = len(re.findall("-+", rule))
    rows, at = [], 0
    for line in range(first, last):
        if not (row := _line(state, line)):
            break
        begin = state.bMarks[line] + state.tShift[line]
        rows += [source[at:begin], _bars_kept(row, columns if line > first else len(row))]
        at = begin + len(row)
    state.src = "".join([*rows, source[at:]])
    found = table(state, first, last, silent)
    # Lines below the table, or all of them where there is none, are read as they were.
    end = state.bMarks[state.line] if found else 0
    state.src = state.src[:end] + source[end:]
    return found


def _line(state: StateBlock, line: int) -> str:
    return state.src[state.bMarks[line] + state.tShift[line] : state.eMarks[line]]


def _bars_kept(row: str, columns: int) -> str:
    ends = 0

    def kept(match: re.Match[str]) -> str:
        nonlocal ends
        if match[1]:
            return re.sub(r"(?<!\\)\|", BAR, match[0])
        is_edge = match.start() == 0 or match.end() == len(row.rstrip())
        if match[0] != "|" or is_edge:
            return match[0]
        ends += 1
        return match[0] if ends < columns else BAR

    return _CODE_OR_BAR.sub(kept, row)
