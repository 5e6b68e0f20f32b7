"""Plays a scripted git history and looks at the index after each ingest."""

import json
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ingest.documents import IngestReport
from ingest.errors import DataFolderBusy, DocsRepoError, FootnoteError, LargeDeletion
from ingest.index import Index, open_index
from ingest.index import folders as index_folders
from ingest.ownership import own_data_folder
from ingest.pipeline import Progress
from ingest.runner import Runner
from ingest.runs import Runs
from ingest.settings import IndexSettings
from ingest.state import read_state
from ingest.store import open_store
from tests.ingest.hashing import HashingEmbedder
from tests.ingest.remotes import DocsRemote, git, https_server, silent_server
from tests.waiting import PATIENCE

ROOT = Path(__file__).resolve().parents[2]

Op = dict[str, Any]


@dataclass
class Outcome:
    """One ingest, and what the index holds after it."""

    result: str
    error: str = ""
    error_class: str = ""
    report: IngestReport | None = None
    embedded: list[str] = field(default_factory=list)
    """Texts that were embedded."""
    chunks: dict[str, str] = field(default_factory=dict)
    """Text by id."""
    pages: dict[str, str] = field(default_factory=dict)
    """Day of the last change by path."""
    revision: str | None = None
    head: str = ""
    state: dict[str, Any] = field(default_factory=dict)


KILLED = """
import os, sys
from pathlib import Path
from ingest import target
from ingest.pipeline import Progress
from tests.ingest.sync import killed_ingest

def kill(*_):
    os._exit(9)

if sys.argv[1] == "first_store_deleted":
    target.Target.delete_orphans = kill
killed_ingest(
    Path(sys.argv[2]), sys.argv[3], sys.argv[4],
    lambda progress: kill() if progress.stage == "embed" else None,
)
"""


def killed_ingest(
    data: Path, docs_repo: str, model: str, listen: Callable[[Progress], None]
) -> None:
    settings = IndexSettings(docs_repo=docs_repo, docs_root="docs", data_dir=data)
    embedder = HashingEmbedder(model)
    index = open_index(settings, embedder)
    with own_data_folder(data):
        runs = Runs(data)
        runs.take_over()
        Runner(settings, index, runs, embedder).run(runs.begin("command"), {}, listen)


class Play:
    """A remote, a data folder, and the ingests in between."""

    def __init__(self, folder: Path, script: dict[str, Any], stack: ExitStack) -> None:
        self.folder = folder
        self.stack = stack
        first = script["ops"][0]
        branch = first["default_branch"] if first["op"] == "init" else "main"
        self.remote = DocsRemote(folder, branch)
        self.data = folder / "data"
        self.root = script.get("docs_root", "docs")
        self.config: dict[str, Any] = dict(script.get("config", {}))
        self.url = self.remote.url
        self.timeout = 30.0
        self.embedder = HashingEmbedder()
        self.now = datetime.now(UTC)
        self.outcomes: dict[str, Outcome] = {}

    @property
    def settings(self) -> IndexSettings:
        return IndexSettings(
            docs_repo=self.url,
            docs_branch=self.config.get("branch"),
            docs_root=self.config.get("docs_root", self.root),
            data_dir=self.data,
            git_timeout=self.timeout,
        )

    def do(self, op: Op) -> None:
        getattr(self, "_" + op["op"])(op)

    # What happens in the remote.

    def _init(self, op: Op) -> None:
        """Done when the play began."""

    def _write(self, op: Op) -> None:
        self.remote.write(op["path"], op["text"])

    def _delete(self, op: Op) -> None:
        self.remote.delete(op["path"])

    def _rename(self, op: Op) -> None:
        self.remote.rename(op["from"], op["to"])

    def _symlink(self, op: Op) -> None:
        file = self.remote.work / op["path"]
        file.unlink(missing_ok=True)
        file.symlink_to(op["target"])

    def _chmod(self, op: Op) -> None:
        (self.remote.work / op["path"]).chmod(int(op["mode"], 8))

    def _touch(self, op: Op) -> None:
        os.utime(self.remote.work / op["path"], (0, 0))

    def _commit(self, op: Op) -> None:
        self.remote.commit(op["message"], op.get("date"))

    def _branch(self, op: Op) -> None:
        git(self.remote.work, "checkout", "--quiet", "-b", op["name"])
        self.remote.push()

    def _revert_last(self, op: Op) -> None:
        git(self.remote.work, "revert", "--no-edit", "HEAD")
        self.remote.push()

    def _force_push(self, op: Op) -> None:
        if op.get("orphan"):
            self.remote.replace_history(op["files"])
        else:
            git(self.remote.work, "reset", "--quiet", "--hard", op["reset_to"])
            self.remote.push()

    def _remote_gc(self, op: Op) -> None:
        self.remote.collect_garbage()

    def _delete_remote_branch(self, op: Op) -> None:
        git(self.remote.bare, "symbolic-ref", "HEAD", "refs/heads/other")
        git(self.remote.bare, "update-ref", "-d", f"refs/heads/{op['name']}")

    def _rename_default_branch(self, op: Op) -> None:
        git(self.remote.work, "branch", "-m", op["from"], op["to"])
        self.remote.push()
        git(self.remote.bare, "symbolic-ref", "HEAD", f"refs/heads/{op['to']}")
        git(self.remote.bare, "update-ref", "-d", f"refs/heads/{op['from']}")

    # What happens in between and around.

    def _remote_down(self, op: Op) -> None:
        self.remote.bare.rename(self.folder / "away")

    def _remote_up(self, op: Op) -> None:
        (self.folder / "away").rename(self.remote.bare)

    def _remote_hangs(self, op: Op) -> None:
        port = self.stack.enter_context(silent_server())
        self.url, self.timeout = f"https://127.0.0.1:{port}/docs.git", 0.5

    def _remote_auth_refuses(self, op: Op) -> None:
        server = https_server(self.remote.bare, self.folder, None)
        url, _ = self.stack.enter_context(server)
        login = op["url_with_token"].removeprefix("https://").partition("@")[0]
        self.url = url.replace("https://", f"https://{login}@")

    def _corrupt(self, op: Op) -> None:
        for file in (self.data / "clone" / "objects").rglob("*"):
            if file.is_file():
                file.chmod(0o644)
                file.write_bytes(file.read_bytes()[:40] + b"\0" * 40)

    def _partial_clone_left_behind(self, op: Op) -> None:
        clone = self.data / "clone"
        clone.mkdir(parents=True)
        git(clone, "init", "--quiet", "--bare", ".")
        (clone / "objects" / "pack" / "tmp_pack_1a2b3c").write_bytes(b"PACK\0\0")
        (clone / "shallow.lock").touch()

    def _local_clone_edit(self, op: Op) -> None:
        file = self.data / "clone" / op["path"]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(op["text"])

    def _inject_orphan(self, op: Op) -> None:
        live = index_folders.live(self.data)
        assert live
        vector = self.embedder.embed([op["text"]])
        with open_store(live.chroma, self.settings, "footnote") as store:
            store._collection.add(ids=[op["id"]], embeddings=vector, metadatas=[{"hash": "x"}])

    def _stale_lock(self, op: Op) -> None:
        """What a process that died leaves: the lock's file, its name in it, a run under way."""
        then = (datetime.now(UTC) - timedelta(hours=op["age_h"])).timestamp()
        owner = {"pid": 999_999, "host": "gone", "command": "footnote run", "since": "yesterday"}
        (self.data / "owner.lock").touch()
        (self.data / "owner.json").write_text(json.dumps(owner))
        os.utime(self.data / "owner.lock", (then, then))
        runs = Runs(self.data)
        runs.begin("schedule")
        runs.note("listener", "999999")

    def _block_runs(self, op: Op) -> None:
        for _ in range(op["count"]):
            Runs(self.data).skip("schedule", "the process was busy")

    def _clock_forward(self, op: Op) -> None:
        self.now += timedelta(hours=op["hours"], minutes=1)

    def _embedder_fails_on(self, op: Op) -> None:
        self.embedder.refuses = op["contains"]

    def _embedder_recovers(self, op: Op) -> None:
        self.embedder.refuses = None

    def _configure(self, op: Op) -> None:
        if "embedding_model" in op:
            self.embedder = HashingEmbedder(op["embedding_model"])
        self.config |= op

    # What is done with it.

    def _ingest(self, op: Op) -> None:
        if point := op.get("kill_after"):
            self._ingest_killed(point)
            outcome = Outcome("killed")
        else:
            outcome = self.run({"confirm_large_deletion": op.get("confirm_large_deletion", False)})
        self._look(outcome)
        self.outcomes[op["label"]] = outcome

    def _ingest_killed(self, point: str) -> None:
        model = self.embedder.fingerprint.removeprefix("hashing-")
        done = subprocess.run(
            [sys.executable, "-c", KILLED, point, str(self.data), self.url, model],
            cwd=ROOT,
            check=False,
            timeout=PATIENCE,
        )
        assert done.returncode == 9

    def _ingest_parallel(self, op: Op) -> None:
        """The second begins while the first is surely under way."""
        under_way, go_on = threading.Event(), threading.Event()

        def listen(progress: Progress) -> None:
            under_way.set()
            assert go_on.wait(PATIENCE)

        first: list[Outcome] = []
        thread = threading.Thread(target=lambda: first.append(self.run({}, listen)))
        thread.start()
        assert under_way.wait(PATIENCE)
        second = self.run({})
        go_on.set()
        thread.join()
        self.outcomes["_".join(op["labels"])] = Outcome(
            " ".join(sorted([first[0].result, second.result])), second.error
        )

    def _query(self, op: Op) -> None:
        index = open_index(self.settings, self.embedder)
        hits = [passage.id for passage in index.search(op["text"], k=5).passages]
        index.close()
        self.outcomes[op["label"]] = Outcome("ok", chunks=dict.fromkeys(hits, ""))

    def _read_status(self, op: Op) -> None:
        state = read_state(self.settings, self.now)
        self.outcomes[op["label"]] = Outcome("ok", state=state)

    def run(
        self, options: dict[str, Any], listen: Callable[[Progress], None] | None = None
    ) -> Outcome:
        """One ingest as ``footnote ingest`` does it, with an embedder that remembers."""
        embedder = self.embedder
        embedder.texts.clear()
        index = open_index(self.settings, embedder)
        try:
            with own_data_folder(self.data):
                runs = Runs(self.data)
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
        finally:
            index.close()
        result = "partial" if report.failed else "ok"
        return Outcome(result, report=report, embedded=list(embedder.texts))

    def _look(self, outcome: Outcome) -> None:
        index = open_index(self.settings, self.embedder)
        outcome.revision = read_state(self.settings)["revision"]
        outcome.head = self.remote.head
        for info in index.documents() if outcome.revision else ():
            page = index.page(info.path)
            assert page
            outcome.pages[info.path] = info.updated_at.date().isoformat() if info.updated_at else ""
            outcome.chunks |= {passage.id: passage.text for passage in page.passages}
        index.close()
        if live := index_folders.live(self.data):
            with open_store(live.chroma, self.settings, "footnote") as store:
                stored = store.hashes()
            if outcome.result not in ("killed", "error"):
                assert stored.keys() == outcome.chunks.keys()

    def search(self, query: str) -> list[str]:
        """Ids found by meaning and keyword, of the index as it is now."""
        index: Index = open_index(self.settings, self.embedder)
        try:
            return [passage.id for passage in index.search(query, k=20).passages]
        finally:
            index.close()
