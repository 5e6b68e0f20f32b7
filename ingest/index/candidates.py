"""Rows that match a query by meaning or by words -> candidates, each text once.

A row for which another edition stands is replaced by it. Copies on other pages stay candidates,
since each counts for its page, until all are ranked: then the first is kept.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from ingest.index.matrix import best
from ingest.index.ranking import Scores
from ingest.index.same_texts.stand_ins import Choice
from ingest.index.snapshot import Snapshot
from ingest.store.document_tables import DocumentTables
from ingest.store.edition_tables import ChunkFacts
from ingest.store.vectors import Vectors

MORE = 1.25
"""Factor by which more rows are read than are needed, since some may be copies."""
AGAIN = 4
"""Factor by which the number of rows grows if they have too few texts."""
SCARCE = 0.75
"""Share of the texts that are needed; with fewer, more rows are read."""
FEW = 60
"""With at most this many results, those that differ between editions follow at the end."""
JUST_BEHIND = 0.999
"""Factor for a score that has to be lower than another one."""


@dataclass(slots=True)
class Candidates:
    """The candidates of one query, with what is known about them."""

    snapshot: Snapshot
    tables: DocumentTables
    choice: Choice
    excluded: Collection[int]
    """Rows that the caller has seen: their texts are left out, wherever they are."""
    facts: dict[int, ChunkFacts] = field(default_factory=dict)
    _seen: set[int] | None = None

    def by_meaning(self, aim: Vectors, depth: int) -> Scores:
        """Similarity by row, for the rows with the nearest ``depth`` texts."""
        matrix = self.snapshot.matrix
        similarities = matrix.similarities(aim)
        allowed = self._lines()
        limit = round(depth * MORE)
        while True:
            nearest = best(similarities, limit, allowed)
            rows = {int(matrix.rows[line]): float(similarities[line]) for line in nearest}
            kept = self._distinct(rows, depth)
            if len(nearest) < limit or len(self._contents(kept)) >= SCARCE * depth:
                return Scores.of(kept, is_cut=len(nearest) == limit or len(kept) < len(rows))
            limit *= AGAIN

    def by_words(
        self, phrases: Sequence[str], depth: int, documents: Collection[int] | None
    ) -> Scores:
        """Score by row, for the rows with the ``depth`` texts that match best."""
        share = 1 - len(self.choice.hidden) / max(1, self.snapshot.chunks)
        limit = round((depth + len(self.excluded)) * MORE / max(share, 1 / AGAIN**2))
        while True:
            matching = self.tables.keywords.match(phrases, limit, documents)
            stand_in = self.choice.stand_in([row for row, _score in matching])
            scores: dict[int, float] = {}
            for row, score in matching:
                scores.setdefault(stand_in[row], score)
            kept = self._distinct(scores, depth)
            if len(matching) < limit or len(self._contents(kept)) >= SCARCE * depth:
                return Scores.of(kept, is_cut=len(matching) == limit or len(kept) < len(scores))
            limit *= AGAIN

    def each_text_once(self, ranked: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        """The ranked rows without those whose text comes before, on another page."""

        def order(item: tuple[int, float]) -> tuple[float, bool, str, int]:
            row, score = item
            facts = self.facts[row]
            # Equal texts have equal scores, but for the last digits.
            return -round(score, 4), self.choice.is_behind(facts.document), facts.path, row

        first: dict[int, tuple[int, float]] = {}
        for item in sorted(ranked, key=order):
            first.setdefault(self.facts[item[0]].content, item)
        return list(first.values())

    def leading(self, ranked: Sequence[tuple[int, float]], texts: int) -> list[int]:
        """The first rows, until they have this many texts."""
        contents: set[int] = set()
        rows: list[int] = []
        for row, _score in ranked:
            contents.add(self.facts[row].content)
            if len(contents) > texts:
                break
            rows.append(row)
        return rows

    def documents(
        self, phrases: Sequence[str], depth: int, documents: Collection[int] | None
    ) -> Scores:
        """Score by document, for the pages that match best: of each the edition that leads."""
        limit = depth
        while True:
            matching = self.tables.keywords.match_documents(phrases, limit, documents)
            scores: dict[int, float] = {}
            for document, score in sorted(matching.items(), key=lambda item: -item[1]):
                leader = self.choice.leader_of(document)
                if self.choice.allows(leader) and len(scores) < depth:
                    scores.setdefault(leader, score)
            if len(matching) < limit or len(scores) >= SCARCE * depth:
                return Scores.of(scores, is_cut=len(matching) == limit)
            limit *= AGAIN

    def behind_current(self, ranked: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        """Put what only another edition says behind what the leading edition of its page says."""
        page = {row: self.choice.page_of(self.facts[row].document) for row, _score in ranked}
        behind = {row for row in page if self.choice.is_behind(self.facts[row].document)}
        if not behind:
            return list(ranked)
        lowest: dict[int, float] = {}
        for row, score in ranked:
            if row not in behind:
                lowest.setdefault(page[row], score)
        scores = {
            row: min(score, JUST_BEHIND * lowest.get(page[row], score)) if row in behind else score
            for row, score in ranked
        }
        return sorted(scores.items(), key=lambda item: (-item[1], item[0] in behind, item[0]))

    def differing(self, ranked: Sequence[tuple[int, float]]) -> list[tuple[int, float]]:
        """Texts of other editions that nearly equal a result: where there is room, they follow."""
        if not ranked or len(ranked) > FEW:
            return []
        kin = self.choice.kin_of([row for row, _score in ranked])
        self._look_up([row for _row, others in kin for row in others])
        known = {self.facts[row].content for row, _score in ranked} | self._seen_contents()
        lowest = ranked[-1][1]
        found: list[tuple[int, float]] = []
        for _row, others in kin:
            for row in sorted(others, key=self._newest_first):
                facts = self.facts.get(row)
                if facts and self.choice.allows(facts.document) and facts.content not in known:
                    known.add(facts.content)
                    found.append((row, JUST_BEHIND * lowest))
        return found

    def _newest_first(self, row: int) -> tuple[int, int]:
        facts = self.facts.get(row)
        if facts is None:
            return 0, row
        return int(self.snapshot.editions.standing[facts.document]), row

    def _distinct(self, scores: Mapping[int, float], depth: int) -> dict[int, float]:
        """The best rows until they have ``depth`` texts, without those that are not allowed."""
        self._look_up(scores)
        seen = self._seen_contents()
        contents: set[int] = set()
        kept: dict[int, float] = {}
        for row, score in scores.items():
            facts = self.facts.get(row)
            if facts is None or facts.content in seen or not self.choice.allows(facts.document):
                continue
            if facts.content not in contents and len(contents) == depth:
                break
            contents.add(facts.content)
            kept[row] = score
        return kept

    def _contents(self, rows: Collection[int]) -> set[int]:
        return {self.facts[row].content for row in rows}

    def _seen_contents(self) -> set[int]:
        if self._seen is None:
            self._look_up(self.excluded)
            self._seen = {self.facts[row].content for row in self.excluded if row in self.facts}
        return self._seen

    def _look_up(self, rows: Collection[int]) -> None:
        if missing := [row for row in rows if row not in self.facts]:
            self.facts |= self.tables.editions.facts(missing)

    def _lines(self) -> npt.NDArray[np.bool_] | None:
        """Lines of the matrix that may be returned; None for all."""
        matrix, hidden = self.snapshot.matrix, self.choice.hidden
        if self.choice.allowed is None and not len(hidden) and not self.excluded:
            return None
        lines = np.ones(len(matrix.rows), dtype=np.bool_)
        if (allowed := self.choice.allowed) is not None:
            known = matrix.documents < len(allowed)
            lines &= known & allowed[np.where(known, matrix.documents, 0)]
        if len(hidden):
            lines &= ~np.isin(matrix.rows, hidden, assume_unique=True)
        for line in matrix.positions(list(self.excluded)):
            if line is not None:
                lines[line] = False
        return lines
