"""Files that were left out -> one sentence, when many of them look like pages.

A page is what people write for people: a file of a format for prose without a reader, or one of a
format that is read whose content could not be. Pictures, code, data and what the settings exclude
are not pages.
"""

from collections import Counter
from collections.abc import Iterable

from ingest.documents import Skipped
from ingest.readers.kinds.recognition import READ, UNREAD, suffix_of

LARGEST_SHARE = 0.1
"""Share of the pages that may be left out without a word."""
_UNREADABLE = {"huge", "encoding", "binary", "malformed", "lfs", "unreadable"}
"""First words of the reasons why a page cannot be read."""
_NAMED = 5


def is_lost_page(skipped: Skipped) -> bool:
    """Return True for a file that was left out although it looks like a page."""
    reason, suffix = skipped.reason.partition(":")[0], suffix_of(skipped.path)
    if reason == "unsupported":
        return suffix in UNREAD
    return reason in _UNREADABLE and (suffix in READ or reason == "malformed")


NO_PAGES = (
    "0 documents are indexed: the docs root has no readable page"
    " (see FOOTNOTE_DOCS_ROOT and FOOTNOTE_DOCS_INCLUDE)."
)


def left_out(skipped: Iterable[Skipped], documents: int) -> str:
    """Return the sentence, or an empty text if few pages were left out."""
    lost = [file for file in skipped if is_lost_page(file)]
    pages = len(lost) + documents
    if len(lost) <= LARGEST_SHARE * pages:
        return ""
    suffixes = Counter(suffix_of(file.path) or "no suffix" for file in lost)
    named = [f"{suffix} ({count})" for suffix, count in suffixes.most_common(_NAMED)]
    more = [f"{len(suffixes) - _NAMED} other formats"] * (len(suffixes) > _NAMED)
    were = "was" if len(lost) == 1 else "were"
    return (
        f"{pages} files look like pages, {len(lost)} {were} left out: {', '.join(named + more)}."
        " `footnote ingest --dry-run` says why: save them in a format that is read, such as"
        " Markdown, or name them in FOOTNOTE_DOCS_EXCLUDE."
    )
