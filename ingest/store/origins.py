"""The revision beside each document: written with its rows, dropped when a whole ingest has ended.

A document without an origin of its own has the one in the metadata of the index.
"""

import json
import sqlite3
from collections.abc import Collection
from functools import lru_cache

from ingest.documents import Origin, Revision

LATER_COLUMNS = (("documents", "origin", "TEXT"),)
"""Columns that files of this schema may lack, since they were added later."""
_OF_INDEX = "(SELECT value FROM meta WHERE key = '{}')"
COLUMNS = f"origin, {_OF_INDEX.format('revision')}, {_OF_INDEX.format('docs_root')}"
"""Columns of a document's row, for ``origin_of``: one statement reads both at the same moment."""


def origin_of(own: str | None, revision: str | None, docs_root: str | None) -> Origin | None:
    """Return a document's own origin, else that of the index; None if no ingest has ended."""
    return _own(own) or _of_index(revision, docs_root)


def settle(db: sqlite3.Connection, older: Collection[str]) -> None:
    """Give all documents the origin that the metadata will hold, but for ``older`` ones.

    An older document could not be written: it keeps its origin, or the one in the metadata now.
    """
    paths = (json.dumps(list(older)),)
    db.execute(
        "UPDATE documents SET origin = json_object('revision', json(revision.value),"
        " 'docs_root', docs_root.value) FROM meta AS revision, meta AS docs_root"
        " WHERE revision.key = 'revision' AND docs_root.key = 'docs_root'"
        " AND origin IS NULL AND path IN (SELECT value FROM json_each(?))",
        paths,
    )
    db.execute(
        "UPDATE documents SET origin = NULL WHERE origin IS NOT NULL"
        " AND path NOT IN (SELECT value FROM json_each(?))",
        paths,
    )


@lru_cache
def _own(text: str | None) -> Origin | None:
    try:
        own = json.loads(text or "")
        return Origin(Revision(**own["revision"]), own["docs_root"])
    except (KeyError, ValueError, TypeError):
        return None


@lru_cache
def _of_index(revision: str | None, docs_root: str | None) -> Origin | None:
    try:
        return Origin(Revision(**json.loads(revision or "")), docs_root or "")
    except (ValueError, TypeError):
        return None
