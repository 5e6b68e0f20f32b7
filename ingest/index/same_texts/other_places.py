"""Rows of a result -> the other places where their text stands, too."""

from collections import defaultdict
from collections.abc import Callable, Sequence

from ingest.documents import Place
from ingest.store.document_tables import DocumentTables
from ingest.store.edition_tables import Member

MOST = 10
"""Maximum number of places that are named."""


def places_of(
    tables: DocumentTables, rows: Sequence[int], may_see: Callable[[str], bool]
) -> dict[int, tuple[Place, ...]]:
    """Return the places of each row: the newest first, and only those that the asker may see."""
    members = [member for member in tables.editions.members(rows) if may_see(member.path)]
    by_row = {member.row: member for member in members}
    same: defaultdict[int, list[Member]] = defaultdict(list)
    kin: defaultdict[int, list[Member]] = defaultdict(list)
    for member in sorted(members, key=lambda each: (each.standing, each.path, each.lines)):
        same[member.content].append(member)
        if member.kin is not None:
            kin[member.kin].append(member)
    found: dict[int, tuple[Place, ...]] = {}
    for row in rows:
        own = by_row.get(row)
        if own is None:
            found[row] = ()
            continue
        alike = {m.row: m for m in (*same[own.content], *(kin[own.kin] if own.kin else ()))}
        others = (m for m in alike.values() if m.document != own.document)
        found[row] = tuple(_place(m, own) for m in others)[:MOST]
    return found


def _place(member: Member, own: Member) -> Place:
    return Place(
        member.path,
        member.lines,
        member.id,
        member.version,
        differs=member.content != own.content,
    )
