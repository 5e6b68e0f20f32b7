"""The files of a plan -> documents with their chunks, one at a time.

A document is needed twice: for its words and, later, for its vectors. In between it lies in a
temporary file, since the chunks of all documents would fill the memory.
"""

import logging
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace

from ingest.chunks.chunker import chunk_document
from ingest.chunks.kinds import with_kinds
from ingest.documents import Chunk, DocumentInfo, Skipped
from ingest.errors import FootnoteError
from ingest.invisible import visible_line
from ingest.pipeline.includes import Includes
from ingest.pipeline.plan import PlannedFile
from ingest.pipeline.spool import Spool
from ingest.readers.credentials import masked
from ingest.readers.includes.shown_part import to_text
from ingest.readers.loader import EMPTY, Document, UnreadableDocument, load
from ingest.repo import Checkout
from ingest.store.include_tables import NOTHING, StoredIncludes

log = logging.getLogger(__name__)

_LINES_NAMED = 10
"""Maximum number of lines with credentials that a warning names."""


@dataclass(frozen=True, slots=True)
class ReadDocument:
    """A document to write."""

    info: DocumentInfo
    prefix: str
    signature: str
    chunks: tuple[Chunk, ...]
    masked_lines: tuple[int, ...] = ()
    """The line of each credential that was replaced by a mark."""
    impossible: tuple[str, ...] = ()
    """Dates in its front matter that do not exist and are left out."""
    includes: StoredIncludes = NOTHING


class _ReaderFault(UnreadableDocument):
    """A document on which a reader or the chunker fails."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"malformed: {type(cause).__name__} while reading")
        self.cause = cause


class Reading:
    """Reads documents of one checkout, and remembers those that cannot be read."""

    def __init__(
        self,
        checkout: Checkout,
        fits: Callable[[str], bool],
        spool: Spool[ReadDocument],
        includes: Includes,
    ) -> None:
        """``fits`` tells whether the embedder reads the whole of a text."""
        self._checkout = checkout
        self._includes = includes
        self._fits = fits
        self._spool = spool
        self.unreadable: dict[str, Skipped] = {}
        """Files that are no documents, by path."""
        self._fault: Exception | None = None
        self._warnings: dict[str, list[str]] = {}

    @property
    def warnings(self) -> list[str]:
        """Faults of documents that are indexed nevertheless."""
        return [line for lines in self._warnings.values() for line in lines]

    def document(self, planned: PlannedFile) -> ReadDocument | None:
        """Read a document; return None, and note the reason, if it cannot be read."""
        path = planned.file.path
        if path in self.unreadable:
            return None
        if spooled := self._spool.take(path):
            return spooled
        try:
            document = self._read(planned)
        except UnreadableDocument as error:
            self.unreadable[path] = Skipped(masked(path)[0], error.reason)
            if planned.showing:
                self._includes.note_missing(path, [error.reason])
            if isinstance(error, _ReaderFault):
                self._fault = self._fault or error.cause
            return None
        if planned.showing:
            self._includes.note_missing(path, document.includes.missing)
        if lines := list(_warnings(document)):
            self._warnings[path] = lines
        return document

    def first(self, planned: PlannedFile) -> ReadDocument | None:
        """Like ``document``, for a document that is needed again later."""
        document = self.document(planned)
        if document:
            self._spool.put(planned.file.path, document)
        return document

    def check(self) -> None:
        """Raise the error of a reader if no document can be read: then no document is the cause."""
        if self._fault and self.unreadable.keys() >= {file.path for file in self._checkout.files}:
            raise self._fault

    def _read(self, planned: PlannedFile) -> ReadDocument:
        """Read a document; an unexpected error skips this document only."""
        file, data = planned.file, self._checkout.read(planned.file)
        try:
            if not planned.showing:
                self._includes.note(file.path, None)
            document = load(file.path, data, planned.showing)
            if not planned.showing:
                self._includes.note(file.path, document)
            return _read_document(planned, document, self._fits)
        except FootnoteError:
            raise
        except Exception as error:
            kind, frame = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
            # The error's own words may quote the document, secrets included.
            log.error("%s is skipped: %s in %s:%s", file.path, kind, frame.filename, frame.lineno)  # noqa: TRY400
            raise _ReaderFault(error) from error


def _read_document(
    planned: PlannedFile, document: Document, fits: Callable[[str], bool]
) -> ReadDocument:
    file, prefix = planned.file, planned.prefix
    info = DocumentInfo(
        path=file.path,
        title=document.title,
        updated_at=file.updated_at or document.date,
        owner=document.owner or visible_line(file.owner or "") or None,
        tags=document.tags,
        version=document.version,
        language=document.language,
    )
    chunks = [
        replace(chunk, id=f"{prefix}-{chunk.number}")
        for chunk in with_kinds(document, chunk_document(document, fits))
    ]
    if not chunks:
        raise UnreadableDocument(EMPTY)
    return ReadDocument(
        info,
        prefix,
        planned.signature,
        tuple(chunks),
        document.masked_lines,
        document.impossible,
        StoredIncludes(to_text(document.includes), document.missing),
    )


def _warnings(document: ReadDocument) -> Iterator[str]:
    if lines := sorted(set(document.masked_lines)):
        named = ", ".join(map(str, lines[:_LINES_NAMED])) + ", …" * (len(lines) > _LINES_NAMED)
        yield (
            f"{document.info.path} seems to hold credentials (line {named}): they are masked in"
            " the index; remove them from the docs and revoke them."
        )
    for date in document.impossible:
        yield (
            f"{document.info.path} is indexed without the date in its front matter, which does"
            f" not exist ({date[:60]}): correct it."
        )
