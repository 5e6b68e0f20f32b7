"""Notes in threads that cite a document which has changed: one note with the diff.

Record of an answer -> text of its cited chunks, stored while a note may follow -> compared whenever
the index has changed, in whatever process -> a note. Text that was only moved counts as unchanged.
"""

import hashlib
import logging
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import sqlalchemy as sa

from bot.journal.claims import Journal
from bot.journal.database import insert
from bot.journal.records import AnswerRecord, CitedChunkText
from bot.notices.change_note import Change, change_note, contains_text, find_successor
from bot.notices.once import Announcements
from ingest.documents import Passage
from ingest.index import Index

log = logging.getLogger(__name__)

_OVERLAP_SECONDS = 60.0
_GONE = "gone"

Thread = tuple[str, str, str]


@dataclass(frozen=True, slots=True)
class _Cited:
    """A chunk that an answer cites, with its hash at that time."""

    id: str
    path: str
    hash: str


class Changes:
    """Stores the text of cited chunks, and compares it with the present docs."""

    def __init__(
        self,
        journal: Journal,
        index: Index,
        announcements: Announcements,
        wanted: Callable[[str], bool],
        days: int,
    ) -> None:
        """``wanted`` tells if a channel wants change notes; ``days`` limits the threads' age."""
        self._journal, self._index = journal, index
        self._announcements = announcements
        self._wanted = wanted
        self._seconds = days * 86_400.0
        self._remembered = 0.0
        self._seen: object = None

    def tend(self) -> None:
        """Store newly cited text; if the index has changed, post notes."""
        if not self._seconds:
            return
        self._remember()
        status = self._index.status()
        state = (status.revision, status.ingested_at)
        if status.ingested_at is None:
            return
        if state != self._seen or self._announcements.unfinished("change "):
            self._announce()
            self._seen = state

    def _remember(self) -> None:
        """Store the text of newly cited chunks, before an ingest can replace it."""
        now = time.time()
        since = max(self._remembered - _OVERLAP_SECONDS, now - self._seconds)
        cited = {c.hash: (c.id, r.at) for r in self._answers(since) for c in _citations(r)}
        passages = self._passages([ident for ident, _ in cited.values()]) if cited else {}
        with self._journal.session() as session:
            for hash_, (ident, at) in cited.items():
                passage = passages.get(ident)
                if passage is not None and passage.hash == hash_:
                    values = {"text": passage.text, "url": passage.url, "at": at}
                    if not insert(session, CitedChunkText, hash=hash_, **values):
                        session.merge(CitedChunkText(hash=hash_, **values))
        self._remembered = now

    def _announce(self) -> None:
        """Post a note in every thread with changes that were not announced there."""
        since = time.time() - self._seconds
        threads: dict[Thread, dict[str, _Cited]] = defaultdict(dict)
        for record in self._answers(since):
            thread = (record.team, record.channel, record.thread_ts)
            threads[thread].update((cited.hash, cited) for cited in _citations(record))
        changes = self._changes({h: c for cited in threads.values() for h, c in cited.items()})
        for thread, cited in threads.items():
            # A thread that also cites the new text knows it already.
            of_thread = {
                hash_: changes[hash_]
                for hash_ in cited
                if hash_ in changes and _now(changes[hash_]) not in cited
            }
            if of_thread:
                self._post(thread, of_thread)
        with self._journal.session() as session:
            session.execute(sa.delete(CitedChunkText).where(CitedChunkText.at < since))

    def _post(self, thread: Thread, changes: Mapping[str, Change]) -> None:
        prefix = f"change {' '.join(thread)} "
        pairs = {f"{hash_} {_now(change)}": change for hash_, change in changes.items()}
        announced = self._announcements.announced(prefix)
        fresh = [pair for pair in pairs if pair not in announced]
        if not fresh:
            return
        name = prefix + hashlib.sha256("\n".join(sorted(fresh)).encode()).hexdigest()[:16]
        if self._announcements.claim(name, fresh):
            revision = self._index.status().revision
            at = revision.label if revision and revision.commit else None
            note = change_note([pairs[pair] for pair in fresh], at)
            self._announcements.post(name, thread[1], note, thread[2])

    def _changes(self, cited: Mapping[str, _Cited]) -> dict[str, Change]:
        """Changes by hash of the cited chunk, for chunks whose old text is stored."""
        if not cited:
            return {}
        same = self._passages([chunk.id for chunk in cited.values()])
        gone = [c for c in cited.values() if c.id not in same or same[c.id].hash != c.hash]
        with self._journal.session() as session:
            query = sa.select(CitedChunkText).where(CitedChunkText.hash.in_([c.hash for c in gone]))
            texts = {row.hash: row for row in session.scalars(query)}
        changes = ((c, self._change(c, texts[c.hash])) for c in gone if c.hash in texts)
        return {chunk.hash: change for chunk, change in changes if change is not None}

    def _change(self, cited: _Cited, old: CitedChunkText) -> Change | None:
        """Return the change of a chunk, or None if its text still exists somewhere."""
        document = self._index.document(cited.path)
        if document is None or document.info.path != cited.path:
            hits = self._index.search(old.text, k=5).passages
            moved = any(hit.hash == cited.hash or contains_text(old.text, [hit]) for hit in hits)
            return (
                None
                if moved
                else Change(cited.path, old.text, old.url, None, document_deleted=True)
            )
        if contains_text(old.text, document.passages):
            return None
        return Change(cited.path, old.text, old.url, find_successor(old.text, document.passages))

    def _answers(self, since: float) -> Iterator[AnswerRecord]:
        for record in self._journal.answers(since=since, limit=None):
            if record.reply_ts and record.citations and self._wanted(record.channel):
                yield record

    def _passages(self, ids: Sequence[str]) -> dict[str, Passage]:
        return {passage.id: passage for passage in self._index.passages(ids)}


def _citations(record: AnswerRecord) -> list[_Cited]:
    return [_Cited(str(c["id"]), str(c["path"]), str(c["hash"])) for c in record.citations]


def _now(change: Change) -> str:
    return change.new.hash if change.new else _GONE
