"""A remote, a data folder, and ingests in between: what a scripted git history is played with."""

import json
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ingest.data_folder import own_data_folder
from ingest.documents import IngestReport, Passage
from ingest.errors import DataFolderBusy, DocsRepoError, FootnoteError, LargeDeletion
from ingest.index import Index, open_index
from ingest.index import folders as index_folders
from ingest.pipeline.run import IngestProgress
from ingest.runs.record import IngestRuns
from ingest.runs.runner import Runner
from ingest.runs.state import read_state
from ingest.settings import IndexSettings
from ingest.store.vectors import Store, open_store
from tests.cases import Json, Unknown
from tests.conftest import ROOT
from tests.ingest.embedding.hashing import HashingEmbedder
from tests.ingest.repo.remotes import DocsRemote
from tests.waiting import PATIENCE

KILLED = """
import os, sys
from ingest.pipeline import target
from tests.ingest.pipeline.sync import killed_ingest

def kill(*_):
    os._exit(9)

if sys.argv[1] == "first_store_deleted":
    target.Target.delete_orphans = kill
killed_ingest(*sys.argv[2:], lambda progress: kill() if progress.stage == "embed" else None)
"""
KILL_POINTS = ("first_batch", "first_store_deleted")


def killed_ingest(settings: str, model: str, listen: Callable[[IngestProgress], None]) -> None:
    """In a process of its own, which the listener ends."""
    read = IndexSettings(**json.loads(settings))
    embedder = HashingEmbedder(model)
    index = open_index(read, embedder)
    with own_data_folder(read.data_dir):
        runs = IngestRuns(read.data_dir)
        runs.take_over()
        Runner(read, index, runs, embedder).run(runs.begin("command"), {}, listen)


@dataclass
class Config:
    """What an operator sets; ``branch`` and ``ref`` name what is followed."""

    branch: str | None = None
    ref: str | None = None
    docs_root: str = "docs"
    embedding_model: str = "1"


@dataclass
class Outcome:
    """One ingest, and what the index holds after it."""

    result: str
    error: str = ""
    error_class: str = ""
    report: IngestReport | None = None
    embedded: list[str] = field(default_factory=list)
    """Texts that were embedded."""
    passages: dict[str, Passage] = field(default_factory=dict)
    vectors: dict[str, bytes] = field(default_factory=dict)
    pages: dict[str, str] = field(default_factory=dict)
    """Day of the last change by path."""
    hits: list[str] = field(default_factory=list)
    """Ids that a query found."""
    revision: str | None = None
    head: str = ""
    files: dict[str, str] = field(default_factory=dict)
    """Text by path in the docs, as at the newest commit."""
    state: dict[str, Any] = field(default_factory=dict)

    @property
    def chunks(self) -> dict[str, str]:
        return {id: passage.text for id, passage in self.passages.items()}

    @property
    def said(self) -> str:
        """The error, or the warnings of a run that came to its end."""
        return " ".join([self.error, *(self.report.warnings if self.report else ())])


class Play:
    """A remote, a data folder, and the ingests in between."""

    def __init__(self, folder: Path, stack: ExitStack, config: Json, default_branch: str) -> None:
        self.folder, self.stack = folder, stack
        self.remote = DocsRemote(folder, default_branch)
        self.data = folder / "data"
        self.config = Config()
        self.url, self.timeout = self.remote.url, 30.0
        self.embedder = HashingEmbedder()
        self.now = datetime.now(UTC)
        self.outcomes: dict[str, Outcome] = {}
        self.configure(**config)

    @property
    def settings(self) -> IndexSettings:
        return IndexSettings(
            docs_repo=self.url,
            docs_branch=self.config.branch or self.config.ref,
            docs_root=self.config.docs_root,
            data_dir=self.data,
            git_timeout=self.timeout,
        )

    def configure(self, **changed: Any) -> None:
        if unknown := changed.keys() - vars(self.config).keys():
            raise Unknown(f"config {sorted(unknown)} is not known to the tests")
        self.config = Config(**{**vars(self.config), **changed})
        self.config.docs_root = self.config.docs_root.removeprefix(".")
        if "embedding_model" in changed:
            self.embedder = HashingEmbedder(self.config.embedding_model)

    def ingest_killed(self, point: str) -> Outcome:
        settings = self.settings.model_dump_json(
            include={"docs_repo", "docs_branch", "docs_root", "data_dir", "git_timeout"}
        )
        done = subprocess.run(
            [sys.executable, "-c", KILLED, point, settings, self.config.embedding_model],
            cwd=ROOT,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 9
        return Outcome("killed")

    def ingest_two(self) -> Outcome:
        """The second begins while the first is surely under way."""
        under_way, go_on = threading.Event(), threading.Event()

        def listen(progress: IngestProgress) -> None:
            under_way.set()
            assert go_on.wait(PATIENCE)

        first: list[Outcome] = []
        thread = threading.Thread(target=lambda: first.append(self.run({}, listen)))
        thread.start()
        assert under_way.wait(PATIENCE)
        second = self.run({})
        go_on.set()
        thread.join()
        return Outcome(" ".join(sorted([first[0].result, second.result])), second.error)

    def run(self, options: Json, listen: Callable[[IngestProgress], None] | None = None) -> Outcome:
        """One ingest as ``footnote ingest`` does it, with an embedder that remembers."""
        embedder = self.embedder
        embedder.texts.clear()
        try:
            with self.opened() as index, own_data_folder(self.data):
                runs = IngestRuns(self.data)
                runs.take_over()
                runner = Runner(self.settings, index, runs, embedder)
                report = runner.run(runs.begin("command"), options, listen)
        except DataFolderBusy as error:
            return Outcome("skipped", str(error))
        except LargeDeletion as error:
            return Outcome("refused", str(error), "large_deletion")
        except FootnoteError as error:
            kind = error.kind if isinstance(error, DocsRepoError) else type(error).__name__
            return Outcome("error", str(error), kind)
        result = "partial" if report.failed else "ok"
        return Outcome(result, report=report, embedded=list(embedder.texts))

    def publish(self, label: str, outcome: Outcome) -> None:
        """Keep the outcome, with what the index and the docs hold now."""
        self.outcomes[label] = outcome
        outcome.revision = read_state(self.settings)["revision"]
        outcome.head = self.remote.head
        outcome.files = self.remote.texts(self.config.docs_root)
        with self.opened() as index:
            for info in index.documents() if outcome.revision else ():
                page = index.document(info.path)
                assert page
                changed = info.updated_at
                outcome.pages[info.path] = changed.date().isoformat() if changed else ""
                outcome.passages |= {passage.id: passage for passage in page.passages}
        if store := self.store():
            with store:
                ids = list(store.hashes())
                found = store.vectors(ids)
            outcome.vectors = {id: vector.tobytes() for id, (_, vector) in found.items()}
            if outcome.result not in ("killed", "error"):
                assert outcome.vectors.keys() == outcome.passages.keys()

    def search(self, query: str, k: int = 20) -> list[str]:
        """Ids found by meaning and keyword, of the index as it is now."""
        with self.opened() as index:
            return [passage.id for passage in index.search(query, k=k).passages]

    def store(self) -> Store | None:
        live = index_folders.live(self.data)
        return open_store(live.chroma, None, "footnote") if live else None

    @contextmanager
    def opened(self) -> Iterator[Index]:
        index = open_index(self.settings, self.embedder)
        try:
            yield index
        finally:
            index.close()
