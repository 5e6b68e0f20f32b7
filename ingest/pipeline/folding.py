"""At the end of an ingest: which documents are editions of one page, and which texts are the same.

Paths, front matter and ``versions.json`` -> editions of all documents; chunks of the pages that
have changed -> groups of nearly the same text. A run that changes nothing reads nothing but the
``versions.json`` of the docs.
"""

import json
from collections import defaultdict
from collections.abc import Collection
from dataclasses import replace
from functools import lru_cache

from ingest.editions.edition import Stated
from ingest.editions.lay_outs import lay_out, version_folders
from ingest.editions.near_copies import EditionChunk, grouped
from ingest.index.snapshot import EDITIONS
from ingest.repo import Checkout
from ingest.store.document_tables import DocumentTables
from ingest.store.edition_tables import EditionRow

MOST_RELEASED = 1_000
"""Maximum number of versions that are read of one ``versions.json``."""

Family = tuple[str, str | None]
"""Page and language."""


def fold(tables: DocumentTables, checkout: Checkout) -> None:
    """Bring the editions and the groups of their chunks up to date.

    A document that was written has no page until then, nor have those whose edition was deleted.
    """
    before = json.loads(tables.meta().get(EDITIONS, "null"))
    is_known = (
        before
        and before.get("documents") == tables.counts()[0]  # fewer if one was deleted
        and before["released"] == _released(checkout, before["folders"])
    )
    if is_known and not tables.editions.are_stale():
        return
    rows = tables.editions.rows()
    paths = [row.path for row in rows]
    folders = sorted(version_folders(paths))
    released = _released(checkout, folders)
    stated = {row.path: Stated(*row.stated) for row in rows if any(row.stated)}
    laid_out = lay_out(paths, stated, lru_cache(tables.editions.opening), released)
    families: defaultdict[Family, list[EditionRow]] = defaultdict(list)
    moved: list[tuple[str, str | None, str | None, int, int]] = []
    stale: set[Family] = set()
    for row in rows:
        is_now = laid_out.editions[row.path]
        page, version, language = is_now.page, is_now.version, is_now.language
        new = replace(row, page=page, version=version, language=language, standing=is_now.standing)
        families[page, language].append(new)
        if new != row:
            moved.append((page, version, language, new.standing, row.number))
            stale.add((page, language))
    kin: dict[int, int | None] = {}
    related = {document for _row, _kin, document in tables.editions.kin()}
    for family in stale:
        own = families[family]
        if len(own) > 1 or own[0].number in related:
            kin |= _kin(tables, sorted(own, key=lambda row: row.standing))
    note = {
        "documents": len(rows),
        "folders": folders,
        "released": released,
        "original": laid_out.original,
    }
    tables.editions.write(moved, kin, {EDITIONS: json.dumps(note)})


def _kin(tables: DocumentTables, family: list[EditionRow]) -> dict[int, int | None]:
    """Kin of the chunks of a page's editions in one language, where it is not the stored one."""
    chunks = tables.editions.texts([row.number for row in family])
    heads: dict[int, int] = {}
    if len(family) > 1:
        place = {row.number: row.standing for row in family}
        chunks.sort(key=lambda chunk: place[chunk[1]])
        heads = grouped(
            EditionChunk(row, document, heading, text, content)
            for row, document, heading, text, content, _kin in chunks
        )
    members = defaultdict(set)
    for row, document, *_ in chunks:
        members[heads.get(row, row)].add(document)
    wanted = {
        row: head if len(members[head := heads.get(row, row)]) > 1 else None for row, *_ in chunks
    }
    return {row: wanted[row] for row, *_, kin in chunks if wanted[row] != kin}


def _released(checkout: Checkout, folders: Collection[str]) -> dict[str, list[str]]:
    """Versions that the ``versions.json`` of each folder lists; other files are ignored."""
    found = {}
    for folder in folders:
        data = checkout.find("/".join(filter(None, (checkout.docs_root, folder, "versions.json"))))
        try:
            listed = json.loads(data or b"null")
        except (ValueError, RecursionError):
            continue
        if isinstance(listed, list) and all(isinstance(name, str) for name in listed):
            found[folder] = listed[:MOST_RELEASED]
    return found
