"""Rows of documents -> StoredDocuments, and DocumentInfos -> the columns of rows."""

import json
from dataclasses import dataclass
from datetime import datetime
from functools import lru_cache
from typing import Any

from ingest.documents import DocumentInfo


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A stored document, with the values that show whether it has to be read again."""

    number: int
    prefix: str
    """Prefix of its chunk ids."""
    signature: str
    info: DocumentInfo


def select(condition: str) -> str:
    """Return the statement for the documents that meet a condition."""
    return (
        "SELECT number, path, prefix, signature, title, owner, tags, updated_at,"  # noqa: S608  # only literals
        f" iif(standing > 0, version, NULL), language FROM documents WHERE {condition}"
    )


@lru_cache(maxsize=65_536)  # a search with filters reads all rows after each change of one
def stored(columns: tuple[Any, ...]) -> StoredDocument:
    """The columns of ``select`` -> a StoredDocument."""
    number, path, prefix, signature, title, owner, tags, updated_at, version, language = columns
    return StoredDocument(
        number=number,
        prefix=prefix,
        signature=signature,
        info=DocumentInfo(
            path=path,
            title=title,
            owner=owner,
            tags=tuple(json.loads(tags)),
            updated_at=datetime.fromisoformat(updated_at) if updated_at else None,
            version=version,
            language=language,
        ),
    )


def columns(info: DocumentInfo) -> tuple[str | None, ...]:
    """Title, owner, tags, time of the last change, and what the document itself states."""
    updated_at = info.updated_at.isoformat() if info.updated_at else None
    stated = json.dumps([info.version, info.language]) if info.version or info.language else None
    return info.title, info.owner, json.dumps(info.tags), updated_at, stated
