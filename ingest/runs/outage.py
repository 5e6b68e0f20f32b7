"""Failed runs since the last good one -> an Outage: its begin, cause and next try."""

from dataclasses import dataclass
from datetime import timedelta
from typing import Any

PAUSES = (1.0, 5.0, 15.0, 60.0)
"""Minutes until the next try, after the first failed run, the second and so on."""

_CAUSES = {
    "fetch_failed": "the docs repo cannot be read",
    "timeout": "the docs repo does not answer in time",
    "auth_failed": "the docs repo refuses the credentials",
    "ref_missing": "the docs repo does not have the branch, tag or commit",
    "root_missing": "the docs repo does not have the docs root",
    "local_clone_corrupt": "the clone of the docs repo is damaged",
    "no_repository": "the clone of the docs repo is damaged",
    "not_trusted": "git does not trust the docs repo",
    "not_a_folder": "there is no docs repo at its address",
    "transport_refused": "the address of the docs repo cannot be used",
    "too_large": "the docs repo has too many files or folders",
    "LargeDeletion": "it would delete a large share of the pages, which needs a confirmation",
    "SelfTestFailed": "the rebuilt index does worse in its self-test",
    "StoreAway": "the Chroma server cannot be reached",
    "DataFolderError": "the data folder cannot be written",
    "IndexDamaged": "the index is damaged",
    "EmbedderError": "the embedding model fails",
    "SettingsError": "a setting is missing or wrong",
}
_MAY_HEAL = (
    *("fetch_failed", "timeout", "local_clone_corrupt", "no_repository", "not_a_folder"),
    *("StoreAway", "DataFolderError", "IndexDamaged"),
)
"""Kinds of errors that may go away although nobody changes settings or docs."""


@dataclass(frozen=True, slots=True)
class Outage:
    """Failed runs without a good one after them."""

    since: str
    """Time of the first one's end."""
    attempts: int
    kind: str
    """Of the last error: name of its class, or the ``kind`` of a DocsRepoError."""
    next_try_at: str | None = None
    """Time of the next try before the next night's run, or None."""

    @property
    def may_heal(self) -> bool:
        """True if another try may succeed although nobody changes anything."""
        return self.kind in _MAY_HEAL

    @property
    def cause(self) -> str:
        """Return the cause in words that hold no text of an error, host or address."""
        return _CAUSES.get(self.kind, "there is an error that the log names")

    @property
    def pause(self) -> timedelta:
        return timedelta(minutes=PAUSES[min(self.attempts, len(PAUSES)) - 1])

    def to_json(self) -> dict[str, Any]:
        return {
            "since": self.since,
            "attempts": self.attempts,
            "cause": self.cause,
            "next_try_at": self.next_try_at,
        }
