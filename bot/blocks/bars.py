"""Rows of a table whose cells hold bars: ``kubectl get pods | grep api`` stays one command.

Markdown ends a cell at every bar, even within code, and drops the cells that its header has no
column for. Here a bar in code is code, and what is too much stays in the last cell.
"""

import re
from typing import SupportsIndex

from markdown_it.rules_block import StateBlock, table

from agent.grounding import code_spans

BAR = "\ufdd0"
"""Stands for a bar that ends no cell, as long as cells are read. A character of no language."""
_BAR = re.compile(r"(?<!\\)\|")
_SIGN = re.compile(r"\\.|\|")
_RULE = re.compile(r"[-:|][-:| \t]*")


def with_bars(text: str) -> str:
    """The text as it was before its bars were put out of sight."""
    return text.replace(BAR, "|")


def table_with_bars(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Markdown's table, read with the bars out of sight that end no cell."""
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
    rows.header, rows.columns = (
        state.bMarks[first] + state.tShift[first],
        len(re.findall("-+", rule)),
    )
    state.src = rows
    try:
        return table(state, first, last, silent)
    finally:
        state.src = source


class _Rows(str):
    """A source whose rows, when they are cut out of it, have their bars out of sight.

    So only those are looked at that a table takes, however many lines follow.
    """

    header: int
    """Where the first row begins: no bar of it is too much."""
    columns: int

    def __getitem__(self, key: SupportsIndex | slice) -> str:
        text = super().__getitem__(key)
        if not isinstance(key, slice):
            return text
        return _bars_kept(text, len(text) if key.start == self.header else self.columns)


def _bars_kept(row: str, columns: int) -> str:
    hidden: list[int] = []
    ends = at = 0
    edge = len(row.rstrip())
    for start, end in [*code_spans(row), (len(row), len(row))]:
        for sign in _SIGN.finditer(row, at, start):
            if sign[0] == "|" and sign.start() and sign.end() != edge:
                ends += 1
                hidden += [sign.start()] if ends >= columns else []
        hidden += [bar.start() for bar in _BAR.finditer(row, start, end)]
        at = end
    signs = list(row)
    for place in hidden:
        signs[place] = BAR
    return "".join(signs)
