"""A query -> passages, by meaning and by words: the reading side of the store."""

from ingest.index.index import DEFAULT_BUDGET, Index, IndexStatus, open_index
from ingest.store.chroma import probe_server
from ingest.store.terms import query_terms

__all__ = [
    "DEFAULT_BUDGET",
    "Index",
    "IndexStatus",
    "open_index",
    "probe_server",
    "query_terms",
]
