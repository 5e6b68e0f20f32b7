"""Checkout and stored documents -> the documents to write and those to delete.

Only files with changed bytes, date or owner are read. A document that has become unreadable is
deleted.
"""

import logging
import traceback
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import dataclass, field, replace

from ingest.chunks.chunker import chunk_document, chunk_prefix
from ingest.documents import Chunk, DocumentInfo, Skipped
from ingest.errors import FootnoteError, LargeDeletion
from ingest.invisible import visible_line
from ingest.pipeline.includes import IncludedFile, Includes, is_included
from ingest.readers.credentials import masked
from ingest.readers.include_directives import to_text
from ingest.readers.loader import EMPTY, Document, UnreadableDocument, load
from ingest.repo import Checkout, File
from ingest.store.document_tables import StoredDocument
from ingest.store.include_tables import Shown, StoredIncludes

log = logging.getLogger(__name__)

SMALL_DELETION = 5
"""Fewer documents than this may always be deleted, unless they are all of them."""


@dataclass(frozen=True, slots=True)
class ChangedDocument:
    """A document to write."""

    info: DocumentInfo
    prefix: str
    signature: str
    chunks: tuple[Chunk, ...]
    masked_lines: tuple[int, ...] = ()
    """The line of each credential that was replaced by a mark."""
    impossible: tuple[str, ...] = ()
    """Dates in its front matter that do not exist and are left out."""
    includes: StoredIncludes = StoredIncludes()


@dataclass(slots=True)
class Plan:
    """The difference between the docs and the index."""

    changed: list[ChangedDocument] = field(default_factory=list)
    deleted: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)
    included: set[str] = field(default_factory=set)
    """Paths of files that are indexed because pages show them."""
    shown: list[Shown] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    """Included files that are not read."""


class _ReaderFault(UnreadableDocument):
    """A document on which a reader or the chunker fails."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"malformed: {type(cause).__name__} while reading")
        self.cause = cause


def make_plan(
    checkout: Checkout,
    stored: Mapping[str, StoredDocument],
    directives: Mapping[str, StoredIncludes],
    damaged: Collection[str],
    fits: Callable[[str], bool],
    progress: Callable[[int], None],
) -> Plan:
    """Read the documents that have changed, or that are stored only in part (``damaged``).

    ``fits`` tells whether the embedder reads the whole of a text.
    """
    prefixes = _prefixes([file.path for file in checkout.files])
    plan = Plan(skipped=list(checkout.skipped))
    includes = Includes(checkout, stored, directives)
    readable = set()
    fault: Exception | None = None
    for done, file in enumerate(checkout.files):
        progress(done)
        before = stored.get(file.path)
        prefix = prefixes[file.path]
        same = before is not None and (before.signature, before.prefix) == (
            _signature(file),
            prefix,
        )
        if not same or file.path in damaged:
            data = checkout.read(file)
            try:
                plan.changed.append(_read(file, data, prefix, fits, includes))
            except UnreadableDocument as error:
                plan.skipped.append(Skipped(masked(file.path)[0], error.reason))
                if isinstance(error, _ReaderFault):
                    fault = fault or error.cause
                continue
        readable.add(file.path)
    includes.find()
    for path, changed in _included(includes, checkout, stored, directives, damaged, fits, prefixes):
        plan.included.add(path)
        if changed:
            plan.changed.append(changed)
    readable |= plan.included
    plan.skipped = [s for s in plan.skipped if s.path not in includes.followed | plan.included]
    plan.shown, plan.warnings = includes.shown, list(includes.warnings())
    if fault and not readable:  # no document can be read, so no document is the cause
        raise fault
    plan.deleted = [path for path in stored if path not in readable]
    return plan


def _included(
    includes: Includes,
    checkout: Checkout,
    stored: Mapping[str, StoredDocument],
    directives: Mapping[str, StoredIncludes],
    damaged: Collection[str],
    fits: Callable[[str], bool],
    prefixes: Mapping[str, str],
) -> Iterator[tuple[str, ChangedDocument | None]]:
    """Yield the path of each included file that can be read, with the document if it changes."""
    used = {*prefixes, *prefixes.values()}
    for path, included in sorted(includes.files.items()):
        prefix = chunk_prefix(path)
        while prefix in used:
            prefix = path if path not in used else f"{prefix}_"
        used |= {path, prefix}
        before = stored.get(path)
        wanted = (included.signature, prefix)
        if before and (before.signature, before.prefix) == wanted and path not in damaged:
            changed = None
            known = directives.get(path)
            missing = known.missing if known else ()
        else:
            data = checkout.read(included.file)
            try:
                changed = _read(included.file, data, prefix, fits, includes, included)
            except UnreadableDocument as error:
                includes.note_unread(path, [error.reason])
                continue
            missing = changed.includes.missing
        includes.note_unread(path, missing)
        yield path, changed


def _read(
    file: File,
    data: bytes,
    prefix: str,
    fits: Callable[[str], bool],
    includes: Includes,
    included: IncludedFile | None = None,
) -> ChangedDocument:
    """Read a document; an unexpected error skips this document only."""
    try:
        if included:
            document = load(file.path, data, included.showing)
            return _changed(file, document, prefix, included.signature, fits)
        includes.note(file.path, None)
        document = load(file.path, data)
        includes.note(file.path, document)
        return _changed(file, document, prefix, _signature(file), fits)
    except FootnoteError:
        raise
    except Exception as error:
        kind, frame = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
        # The error's own words may quote the document, secrets included.
        log.error("%s is skipped: %s in %s:%s", file.path, kind, frame.filename, frame.lineno)  # noqa: TRY400
        raise _ReaderFault(error) from error


def _changed(
    file: File, document: Document, prefix: str, signature: str, fits: Callable[[str], bool]
) -> ChangedDocument:
    info = DocumentInfo(
        path=file.path,
        title=document.title,
        updated_at=file.updated_at or document.date,
        owner=document.owner or visible_line(file.owner or "") or None,
        tags=document.tags,
    )
    chunks = [
        replace(chunk, id=f"{prefix}-{chunk.number}") for chunk in chunk_document(document, fits)
    ]
    if not chunks:
        raise UnreadableDocument(EMPTY)
    return ChangedDocument(
        info,
        prefix,
        signature,
        tuple(chunks),
        document.masked_lines,
        document.impossible,
        StoredIncludes(to_text(document.includes), document.missing),
    )


def _signature(file: File) -> str:
    """A text that changes whenever the stored rows of a file have to."""
    return f"{file.fingerprint} {file.updated_at} {file.owner}"


def _prefixes(paths: Collection[str]) -> dict[str, str]:
    """Prefix of the chunk ids of each document, by path.

    ``limits.txt.md`` beside ``limits.txt`` keeps its suffix, or both would have the same ids.
    """
    names = set(paths)
    return {path: path if (prefix := chunk_prefix(path)) in names else prefix for path in paths}


def refuse_large_deletion(
    plan: Plan, checkout: Checkout, answering: Mapping[str, StoredDocument], largest_share: float
) -> None:
    """Raise LargeDeletion if a mistake in repo or settings is likelier than a clean-up."""
    remaining = {file.path for file in checkout.files} - {s.path for s in plan.skipped}
    remaining |= plan.included
    moved = {file.fingerprint for file in checkout.files if file.path not in answering}
    lost = [
        path
        for path, document in answering.items()
        if path not in remaining
        and document.signature.split()[0] not in moved
        and not is_included(document.signature)
    ]
    if not lost or (len(lost) < SMALL_DELETION and remaining):
        return
    pages = [each for each in answering.values() if not is_included(each.signature)]
    if len(lost) > largest_share * len(pages):
        raise LargeDeletion(
            f"This run would delete {len(lost)} of {len(pages)} pages, so nothing was changed:"
            " check the docs repo, its branch and root, and what is included, or run"
            " `footnote ingest --confirm-large-deletion`.",
            deleted=len(lost),
            stored=len(pages),
        )
