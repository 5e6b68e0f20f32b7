"""A docs repo and its index, for tests of what an ingest makes of changes."""

from collections.abc import Callable
from pathlib import Path

from ingest.documents import IngestReport, SearchResult
from ingest.index import folders as index_folders
from ingest.index import open_index
from ingest.pipeline.run import IngestProgress, run_ingest
from ingest.settings import IndexSettings
from ingest.store.document_tables import DocumentTables
from ingest.store.vectors import open_store
from tests.ingest.embedding.hashing import HashingEmbedder

PAY = "# Pay\n\nRestart the payout worker first.\n"
LEDGER = "# Ledger\n\nThe ledger is append only.\n"
ONCALL = "# Readme\n\nPage the secondary after 15 minutes.\n"


class Docs:
    """A folder of docs and the index made of it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / "docs"
        self.folder.mkdir(exist_ok=True)
        self.settings = IndexSettings(docs_repo=str(self.folder), data_dir=folder / "data")
        self.embedder = HashingEmbedder()
        self.index = open_index(self.settings, self.embedder)

    def write(self, path: str, text: str) -> None:
        file = self.folder / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    def delete(self, path: str) -> None:
        (self.folder / path).unlink()

    def ingest(
        self,
        progress: Callable[[IngestProgress], None] | None = None,
        confirm_large_deletion: bool = False,
    ) -> IngestReport:
        self.embedder.texts.clear()
        return run_ingest(
            self.settings,
            self.index,
            self.embedder,
            progress=progress,
            confirm_large_deletion=confirm_large_deletion,
        )

    def search(self, query: str) -> SearchResult:
        return self.index.search(query)

    def ids(self) -> set[str]:
        """Ids of both stores, which have to be the same."""
        folder = index_folders.live(self.settings.data_dir)
        assert folder is not None
        rows = DocumentTables(folder.database)
        with open_store(folder.chroma, None, "footnote") as store:
            vectors = store.hashes()
        assert vectors == {id_: hash_ for id_, (_path, hash_) in rows.hashes().items()}
        rows.close()
        return set(vectors)

    def texts(self) -> str:
        return "\n".join(
            passage.text
            for info in self.index.documents()
            if (page := self.index.document(info.path))
            for passage in page.passages
        )
