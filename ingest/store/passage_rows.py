"""Rows of chunks and their documents -> Passages."""

import json
from collections.abc import Sequence
from typing import Any

from ingest.documents import Passage
from ingest.store import origins


def select(condition: str) -> str:
    """Return the statement for the chunks that meet a condition."""
    return (
        "SELECT row, id, path, chunks.title, heading, first_line, last_line, text, hash,"  # noqa: S608  # only literals
        " iif(standing > 0, version, NULL), language,"
        f" {origins.COLUMNS} FROM chunks JOIN documents ON number = document WHERE {condition}"
    )


def passage(columns: Sequence[Any]) -> Passage:
    """The columns of ``select`` without the row number -> a Passage."""
    id_, path, title, heading, first, last, text, hash_, version, language, *origin = columns
    return Passage(
        id=id_,
        path=path,
        title=title,
        heading=tuple(json.loads(heading)),
        lines=(first, last),
        text=text,
        hash=hash_,
        version=version,
        language=language,
        origin=origins.origin_of(*origin),
    )
