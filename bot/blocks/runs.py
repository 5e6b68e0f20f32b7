"""Runs: the words of a paragraph, each with its style, its link or the chunk that it cites."""

from dataclasses import dataclass, replace
from itertools import groupby
from typing import Literal

Style = Literal["bold", "italic", "strike"]


@dataclass(frozen=True, slots=True)
class Run:
    """Characters of one style."""

    text: str
    styles: tuple[Style, ...] = ()
    code: bool = False
    url: str | None = None
    cites: str | None = None
    """The chunk id, where the run is a citation."""


Runs = tuple[Run, ...]


def merged(runs: Runs) -> Runs:
    """The same runs, with neighbours of one style joined and empty runs left out."""
    out: list[Run] = []
    for style, group in groupby(runs, lambda run: (run.styles, run.code, run.url, run.cites)):
        if style[3]:
            out.extend(group)
        elif text := "".join(run.text for run in group):
            out.append(Run(text, *style))
    return tuple(out)


def stripped(runs: Runs) -> Runs:
    """The same runs without white space at both ends; code keeps its own."""
    out = list(merged(runs))
    while out and not out[0].code and not out[0].text.lstrip():
        del out[0]
    while out and not out[-1].code and not out[-1].text.rstrip():
        del out[-1]
    if out and not out[0].code:
        out[0] = replace(out[0], text=out[0].text.lstrip())
    if out and not out[-1].code:
        out[-1] = replace(out[-1], text=out[-1].text.rstrip())
    return tuple(out)
