"""The reading side of the index: a query -> passages, by meaning and by words."""

from ingest.documents import DEFAULT_BUDGET
from ingest.index.index import Index, open_index
from ingest.index.index_status import IndexStatus
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
