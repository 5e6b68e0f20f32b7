"""Checkout against stored rows -> the pages to write and the pages to delete.

Only files whose bytes, date or owner changed are read. A page that cannot be read any more is gone.
"""

import logging
import traceback
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, field, replace

from ingest.chunks.chunker import chunk_document, chunk_prefix
from ingest.documents import Chunk, DocumentInfo, Skipped
from ingest.errors import FootnoteError, LargeDeletion
from ingest.readers.loader import UnreadableDocument, load
from ingest.repo import Checkout, File
from ingest.store.pages import StoredDocument

log = logging.getLogger(__name__)

SMALL_DELETION = 5
"""Fewer pages than this may always go, unless they are all there are."""


@dataclass(frozen=True, slots=True)
class ChangedPage:
    """A page that has to be written."""

    info: DocumentInfo
    prefix: str
    signature: str
    chunks: tuple[Chunk, ...]
    masked: int = 0
    """Credentials in it, which are indexed as a mark only."""
    impossible: tuple[str, ...] = ()
    """Dates in its front matter that no calendar has, and that are left out."""


@dataclass(slots=True)
class Plan:
    """The difference between the docs and the index."""

    changed: list[ChangedPage] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)


class _Stumble(UnreadableDocument):
    """A page that a part of ours cannot cope with."""

    def __init__(self, cause: Exception) -> None:
        super().__init__(f"malformed: {type(cause).__name__} while reading")
        self.cause = cause


def make_plan(
    checkout: Checkout,
    stored: Mapping[str, StoredDocument],
    damaged: Collection[str],
    fits: Callable[[str], bool],
    heard: Callable[[int], None],
) -> Plan:
    """Read what changed, or what is stored only in part (``damaged``)."""
    prefixes = _prefixes([file.path for file in checkout.files])
    plan = Plan(skipped=list(checkout.skipped))
    kept = set()
    fault: Exception | None = None
    for done, file in enumerate(checkout.files):
        heard(done)
        page = stored.get(file.path)
        prefix = prefixes[file.path]
        same = page is not None and (page.signature, page.prefix) == (_signature(file), prefix)
        if not same or file.path in damaged:
            data = checkout.read(file)
            try:
                plan.changed.append(_read(file, data, prefix, fits))
            except UnreadableDocument as error:
                plan.skipped.append(Skipped(file.path, error.reason))
                if isinstance(error, _Stumble):
                    fault = fault or error.cause
                continue
        kept.add(file.path)
    if fault and not kept:  # not one page can be read: no page is to blame
        raise fault
    plan.gone = [path for path in stored if path not in kept]
    return plan


def _read(file: File, data: bytes, prefix: str, fits: Callable[[str], bool]) -> ChangedPage:
    """Whatever the bytes of a page make anybody trip over costs this page only."""
    try:
        return _page(file, data, prefix, fits)
    except FootnoteError:
        raise
    except Exception as error:
        kind, place = type(error).__name__, traceback.extract_tb(error.__traceback__)[-1]
        # The error's own words may quote the page, secrets included.
        log.error("%s is skipped: %s in %s:%s", file.path, kind, place.filename, place.lineno)  # noqa: TRY400
        raise _Stumble(error) from error


def _page(file: File, data: bytes, prefix: str, fits: Callable[[str], bool]) -> ChangedPage:
    document = load(file.path, data)
    info = DocumentInfo(
        path=file.path,
        title=document.title,
        updated_at=file.updated_at or document.date,
        owner=document.owner or file.owner,
        tags=document.tags,
    )
    chunks = [
        replace(chunk, id=f"{prefix}-{chunk.number}") for chunk in chunk_document(document, fits)
    ]
    if not chunks:
        raise UnreadableDocument("empty: the page has no text")
    return ChangedPage(
        info, prefix, _signature(file), tuple(chunks), document.masked, document.impossible
    )


def _signature(file: File) -> str:
    """Changes when anything that is stored of a file may have."""
    return f"{file.fingerprint} {file.updated_at} {file.owner}"


def _prefixes(paths: Collection[str]) -> dict[str, str]:
    """What each page's ids begin with.

    ``limits.txt.md`` beside ``limits.txt`` keeps its suffix, else their ids would meet.
    """
    names = set(paths)
    return {path: path if (prefix := chunk_prefix(path)) in names else prefix for path in paths}


def refuse_large_deletion(
    plan: Plan, checkout: Checkout, answering: Mapping[str, StoredDocument], largest_share: float
) -> None:
    """Stop where a mistake in the repo or the settings is likelier than a clean-up."""
    remaining = {file.path for file in checkout.files} - {s.path for s in plan.skipped}
    moved = {file.fingerprint for file in checkout.files if file.path not in answering}
    lost = [
        path
        for path, document in answering.items()
        if path not in remaining and document.signature.split()[0] not in moved
    ]
    if not lost or (len(lost) < SMALL_DELETION and remaining):
        return
    if len(lost) > largest_share * len(answering):
        raise LargeDeletion(
            f"This run would delete {len(lost)} of {len(answering)} pages, so nothing was changed:"
            " check the docs repo, its branch and root, and what is included, or run"
            " `footnote ingest --confirm-large-deletion`.",
            deleted=len(lost),
            stored=len(answering),
        )
