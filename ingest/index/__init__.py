"""A query -> passages, by meaning and by words: the reading side of the store."""

from ingest.index.index import DEFAULT_BUDGET, Index, IndexStatus, open_index

__all__ = ["DEFAULT_BUDGET", "Index", "IndexStatus", "open_index"]
