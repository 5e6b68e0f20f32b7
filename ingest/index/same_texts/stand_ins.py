"""A question and the documents that may answer it -> the chunk that stands for each group.

Nearly equal chunks of a page's editions are one candidate. The current edition stands for them, or
the edition in the version that the question names. A translation stands for its page if the
question is in its language, otherwise the original does.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
import numpy.typing as npt

from ingest.editions.languages import asked_language, language_of
from ingest.editions.version_numbers import asked_version
from ingest.store.edition_tables import EditionRow

Numbers = npt.NDArray[np.int64]
Flags = npt.NDArray[np.bool_]

_FAR = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Choice:
    """The documents and chunks that may be returned for one question."""

    allowed: Flags | None
    """By document number; None for all."""
    behind: Flags
    """By document number: another edition of its page leads."""
    leading: Numbers
    """By document number: the document that leads among its page's editions."""
    pages: Numbers
    """By document number: number of its page."""
    rows: Numbers
    """Rows that have kin, ascending."""
    standing_for: Numbers
    """For each of them the row that stands for it."""
    version: str | None = None
    """Version that the question may name."""

    @property
    def hidden(self) -> Numbers:
        """Rows for which another row stands."""
        hidden: Numbers = self.rows[self.rows != self.standing_for]
        return hidden

    def stand_in(self, rows: Collection[int]) -> dict[int, int]:
        """Row -> the row that stands for it, itself if it has no kin."""
        asked = np.fromiter(rows, dtype=np.int64, count=len(rows))
        if not len(self.rows):
            return dict(zip(rows, rows, strict=True))
        at = np.minimum(np.searchsorted(self.rows, asked), len(self.rows) - 1)
        found = np.where(self.rows[at] == asked, self.standing_for[at], asked)
        return dict(zip(rows, found.tolist(), strict=True))

    def kin_of(self, rows: Collection[int]) -> list[tuple[int, list[int]]]:
        """The rows for which each of these stands, but for itself."""
        found = []
        for row in rows:
            own = self.rows[self.standing_for == row]
            if len(own) > 1:
                found.append((row, [other for other in own.tolist() if other != row]))
        return found

    def allows(self, document: int) -> bool:
        return self.allowed is None or (
            document < len(self.allowed) and bool(self.allowed[document])
        )

    def is_behind(self, document: int) -> bool:
        return document < len(self.behind) and bool(self.behind[document])

    def page_of(self, document: int) -> int:
        return int(self.pages[document]) if document < len(self.pages) else -document

    def leader_of(self, document: int) -> int:
        return int(self.leading[document]) if document < len(self.leading) else document


@dataclass(frozen=True)
class Editions:
    """The editions of all pages, and the groups of their chunks, at one generation."""

    pages: Numbers
    standing: Numbers
    languages: npt.NDArray[np.str_]
    versions: npt.NDArray[np.str_]
    """The four by document number; a page's number is that of one of its documents."""
    rows: Numbers
    kin: Numbers
    documents: Numbers
    """Rows that have kin, ascending; the number that kin share; the document of each."""
    original: str | None = None
    _choices: dict[tuple[str | None, str | None], Choice] = field(default_factory=dict)

    @staticmethod
    def of(
        rows: Iterable[EditionRow],
        kin: Collection[tuple[int, int, int]],
        original: str | None,
        largest: int,
    ) -> "Editions":
        """``rows``: documents with other editions; all others up to ``largest`` have none."""
        size = largest + 1
        pages, standing = np.arange(size), np.zeros(size, dtype=np.int64)
        languages, versions = [""] * size, [""] * size
        first: dict[str, int] = {}
        for row in rows:
            pages[row.number] = first.setdefault(row.page or row.path, row.number)
            standing[row.number] = row.standing
            languages[row.number] = row.language or ""
            versions[row.number] = row.version or ""
        columns = np.array(list(kin), dtype=np.int64).reshape(-1, 3)
        return Editions(
            pages,
            standing,
            np.array(languages),
            np.array(versions),
            columns[:, 0],
            columns[:, 1],
            columns[:, 2],
            original,
        )

    def choice(self, question: str, documents: Collection[int] | None) -> Choice:
        """Choose for a question among these documents; None means all."""
        version = asked_version(question, self._named_versions)
        language = self._language(question)
        if documents is not None:
            return self._chosen(version, language, documents)
        if (version, language) not in self._choices:
            self._choices[version, language] = self._chosen(version, language, None)
        return self._choices[version, language]

    def _language(self, question: str) -> str | None:
        """The tag of the translations that serve a question; None for the originals."""
        if not self._tags or self.original is None:
            return None
        asked = asked_language(question, self.original, {*self._tags.values()})
        return next((tag for tag, spoken in self._tags.items() if spoken == asked), None)

    @cached_property
    def _named_versions(self) -> set[str]:
        return {*self.versions.tolist()} - {""}

    @cached_property
    def _tags(self) -> dict[str, str]:
        """Language by tag, of all translations; the tag with the most documents comes first."""
        tags, counts = np.unique(self.languages[self.languages != ""], return_counts=True)
        return {
            tag: language_of(tag) or tag.partition("-")[0]
            for tag in tags[np.argsort(-counts, kind="stable")].tolist()
        }

    def _chosen(
        self, version: str | None, language: str | None, documents: Collection[int] | None
    ) -> Choice:
        allowed = np.ones(len(self.pages), dtype=np.bool_)
        if documents is not None:
            allowed = np.zeros(len(self.pages), dtype=np.bool_)
            allowed[[number for number in documents if number < len(allowed)]] = True
        standing = (
            np.where(self.versions == version, -1, self.standing) if version else self.standing
        )
        has_translations = bool(self._tags)
        if has_translations:
            allowed = allowed & self._speaks(language, allowed)
        best = np.full(len(self.pages), _FAR)
        np.minimum.at(best, self.pages[allowed], standing[allowed])
        leads = allowed & (standing == best[self.pages])
        leading = np.arange(len(self.pages))
        by_page = np.full(len(self.pages), -1)
        by_page[self.pages[leads]] = np.flatnonzero(leads)
        leading = np.where(allowed & (by_page[self.pages] >= 0), by_page[self.pages], leading)
        choice = Choice(
            allowed=None if documents is None and not has_translations else allowed,
            behind=allowed & (standing > best[self.pages]),
            leading=leading,
            pages=self.pages,
            rows=self.rows,
            standing_for=self.rows,
            version=version,
        )
        return replace(choice, standing_for=self._standing_for(allowed, standing))

    def _speaks(self, language: str | None, allowed: Flags) -> Flags:
        """Documents in the language, and the originals of pages that have none in it."""
        speaks = self.languages == (language or "")
        is_original = self.languages == ""
        translated = np.zeros(len(self.pages), dtype=np.bool_)
        translated[self.pages[speaks & allowed]] = True
        has_original = np.zeros(len(self.pages), dtype=np.bool_)
        has_original[self.pages[is_original & allowed]] = True
        result: Flags = np.where(
            translated[self.pages], speaks, np.where(has_original[self.pages], is_original, True)
        )
        return result

    def _standing_for(self, allowed: Flags, standing: Numbers) -> Numbers:
        if not len(self.rows):
            return self.rows
        own = np.where(allowed[self.documents], standing[self.documents], _FAR)
        order = np.lexsort((self.rows, own, self.kin))
        _kin, first, inverse = np.unique(self.kin[order], return_index=True, return_inverse=True)
        result = np.empty_like(self.rows)
        result[order] = self.rows[order][first[inverse]]
        return result
