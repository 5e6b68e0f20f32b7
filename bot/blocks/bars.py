"""Table rows with bars in their cells: ``kubectl get pods | grep api`` stays one command.

Markdown ends a cell at every bar, even within code, and drops the cells that its header has no
column for. Here a bar in code does not end a cell, and the last cell keeps the text of surplus
cells.
"""

import re
from typing import SupportsIndex

from markdown_it.rules_block import StateBlock, table

from agent.grounding import code_spans

_BAR = re.compile(r"(?<!\\)\|")
_SIGN = re.compile(r"\\.|\|")
_RULE = re.compile(r"[-:|][-:| \t]*")
_DASHES = re.compile("-+")


def table_with_bars(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Read Markdown's table, with each bar escaped that does not end a cell."""
    rule = ""
    if first + 1 < last:
        rule = state.src[
            state.bMarks[first + 1] + state.tShift[first + 1] : state.eMarks[first + 1]
        ]
    if silent or not _RULE.fullmatch(rule):
        return table(state, first, last, silent)
    source = state.src
    rows = state.env.get("rows")
    if not isinstance(rows, _Rows):
        rows = state.env["rows"] = _Rows(source)
    rows.header = state.bMarks[first] + state.tShift[first]
    rows.columns = len(_DASHES.findall(rule))
    state.src = rows
    try:
        return table(state, first, last, silent)
    finally:
        state.src = source


class _Rows(str):
    """A source whose rows have their bars escaped when they are cut out of it.

    So only the rows that a table takes are read, however many lines follow.
    """

    header: int
    """Index of the first row, which may have any number of cells."""
    columns: int

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        text = super().__getitem__(key)
        if not isinstance(key, slice):
            return text
        return _escaped(text, len(text) if key.start == self.header else self.columns)


def _escaped(row: str, columns: int) -> str:
    """Escape the bars that do not end a cell: in code, and after the last column."""
    bars: list[int] = []
    ends = at = 0
    edge = len(row.rstrip())
    for start, end in [*code_spans(row), (len(row), len(row))]:
        for sign in _SIGN.finditer(row, at, start):
            if sign[0] == "|" and sign.start() and sign.end() != edge:
                ends += 1
                bars += [sign.start()] if ends >= columns else []
        bars += [bar.start() for bar in _BAR.finditer(row, start, end)]
        at = end
    parts = [row[start:end] for start, end in zip([0, *bars], [*bars, len(row)], strict=True)]
    return "\\".join(parts)
