"""What happens in a scripted git history: in the remote, around the ingests, and the ingests."""

import json
import os
from datetime import UTC, datetime, timedelta

from ingest.index import folders as index_folders
from ingest.runs.record import IngestRuns
from ingest.runs.state import read_state
from tests.cases import Json, one_of, series, table
from tests.ingest.pipeline.sync import KILL_POINTS, Outcome, Play
from tests.ingest.repo.remotes import git, https_server, silent_server


def init(_play: Play, default_branch: str) -> None:
    """Done when the play began."""


def write(play: Play, path: str, text: str) -> None:
    play.remote.write(path, text)


def write_many(play: Play, path: str, text: str, from_: int, to: int) -> None:
    for file in series({"path": path, "text": text}, from_, to):
        play.remote.write(**file)


def generate(play: Play, path: str, rule: str) -> None:
    play.remote.write(path, rule)


def prepend(play: Play, path: str, text: str) -> None:
    play.remote.write(path, text + (play.remote.work / path).read_text(encoding="utf-8"))


def delete(play: Play, path: str) -> None:
    play.remote.delete(path)


def delete_many(play: Play, path: str, from_: int, to: int) -> None:
    for each in series(path, from_, to):
        play.remote.delete(each)


def rename(play: Play, from_: str, to: str) -> None:
    play.remote.rename(from_, to)


def symlink(play: Play, path: str, target: str) -> None:
    file = play.remote.work / path
    file.unlink(missing_ok=True)
    file.symlink_to(target)


def chmod(play: Play, path: str, mode: str) -> None:
    (play.remote.work / path).chmod(int(mode, 8))


def touch(play: Play, path: str) -> None:
    os.utime(play.remote.work / path, (0, 0))


def commit(play: Play, message: str, date: str | None = None) -> None:
    play.remote.commit(message, date)


def branch(play: Play, name: str) -> None:
    git(play.remote.work, "checkout", "--quiet", "-b", name)
    play.remote.push()


def checkout(play: Play, name: str) -> None:
    git(play.remote.work, "checkout", "--quiet", name)


def merge(play: Play, name: str) -> None:
    git(play.remote.work, "merge", "--quiet", "--no-ff", "--no-edit", name)
    play.remote.push()


def tag(play: Play, name: str) -> None:
    git(play.remote.work, "tag", name)
    git(play.remote.work, "push", "--quiet", "origin", f"refs/tags/{name}")


def revert_last(play: Play) -> None:
    git(play.remote.work, "revert", "--no-edit", "HEAD")
    play.remote.push()


def force_push(
    play: Play, reset_to: str = "", orphan: bool = False, files: dict[str, str] | None = None
) -> None:
    if orphan:
        play.remote.replace_history(files or {})
    else:
        git(play.remote.work, "reset", "--quiet", "--hard", reset_to)
        play.remote.push()


def remote_gc(play: Play) -> None:
    play.remote.collect_garbage()


def delete_remote_branch(play: Play, name: str) -> None:
    git(play.remote.bare, "symbolic-ref", "HEAD", "refs/heads/other")
    git(play.remote.bare, "update-ref", "-d", f"refs/heads/{name}")


def rename_default_branch(play: Play, from_: str, to: str) -> None:
    git(play.remote.work, "branch", "-m", from_, to)
    play.remote.push()
    git(play.remote.bare, "symbolic-ref", "HEAD", f"refs/heads/{to}")
    git(play.remote.bare, "update-ref", "-d", f"refs/heads/{from_}")


def remote_down(play: Play) -> None:
    play.remote.bare.rename(play.folder / "away")


def remote_up(play: Play) -> None:
    (play.folder / "away").rename(play.remote.bare)


def remote_hangs(play: Play) -> None:
    port = play.stack.enter_context(silent_server())
    play.url, play.timeout = f"https://127.0.0.1:{port}/docs.git", 0.5


def remote_auth_refuses(play: Play, url_with_token: str) -> None:
    server = https_server(play.remote.bare, play.folder, None)
    url, _ = play.stack.enter_context(server)
    login = url_with_token.removeprefix("https://").partition("@")[0]
    play.url = url.replace("https://", f"https://{login}@")


def corrupt(play: Play, what: str) -> None:
    one_of(what, "local_clone_objects")
    for file in (play.data / "clone" / "objects").rglob("*"):
        if file.is_file():
            file.chmod(0o644)
            file.write_bytes(file.read_bytes()[:40] + b"\0" * 40)


def partial_clone_left_behind(play: Play) -> None:
    clone = play.data / "clone"
    clone.mkdir(parents=True)
    git(clone, "init", "--quiet", "--bare", ".")
    (clone / "objects" / "pack" / "tmp_pack_1a2b3c").write_bytes(b"PACK\0\0")
    (clone / "shallow.lock").touch()


def leave_file(play: Play, path: str, text: str = "") -> None:
    """In the local clone, which is bare: what lies in ``.git`` elsewhere lies in the folder."""
    local_clone_edit(play, path.removeprefix(".git/"), text)


def local_clone_edit(play: Play, path: str, text: str) -> None:
    file = play.data / "clone" / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def lose_state(play: Play) -> None:
    """All that an ingest remembers is gone; the vectors and the clone stay."""
    live = index_folders.live(play.data)
    assert live
    for file in (live.database, play.data / index_folders.POINTER, *play.data.glob("runs.sqlite*")):
        file.unlink(missing_ok=True)


def inject_orphan(play: Play, id: str, text: str) -> None:
    vector = play.embedder.embed([text])
    store = play.store()
    assert store
    with store:
        store._collection.add(ids=[id], embeddings=vector, metadatas=[{"hash": "x"}])


def stale_lock(play: Play, age_h: float) -> None:
    """What a process that died leaves: the lock's file, its name in it, a run under way."""
    then = (datetime.now(UTC) - timedelta(hours=age_h)).timestamp()
    owner = {"pid": 999_999, "host": "gone", "command": "footnote run", "since": "yesterday"}
    (play.data / "owner.lock").touch()
    (play.data / "owner.json").write_text(json.dumps(owner))
    os.utime(play.data / "owner.lock", (then, then))
    runs = IngestRuns(play.data)
    runs.begin("schedule")
    runs.publish("listener", "999999")


def block_runs(play: Play, count: int) -> None:
    for _ in range(count):
        IngestRuns(play.data).skip("schedule", "the process was busy")


def clock_forward(play: Play, hours: float) -> None:
    play.now += timedelta(hours=hours, minutes=1)


def embedder_fails_on(play: Play, contains: str) -> None:
    play.embedder.refuses = contains


def embedder_recovers(play: Play) -> None:
    play.embedder.refuses = None


def configure(play: Play, **changed: object) -> None:
    play.configure(**changed)


def ingest(
    play: Play, label: str, kill_after: str = "", confirm_large_deletion: bool = False
) -> None:
    if one_of(kill_after, "", *KILL_POINTS):
        outcome = play.ingest_killed(kill_after)
    else:
        outcome = play.run({"confirm_large_deletion": confirm_large_deletion})
    play.publish(label, outcome)


def ingest_parallel(play: Play, labels: list[str]) -> None:
    play.publish(label_of({"labels": labels}), play.ingest_two())


def query(play: Play, label: str, text: str) -> None:
    play.publish(label, Outcome("ok", hits=play.search(text, k=5)))


def read_status(play: Play, label: str) -> None:
    play.publish(label, Outcome("ok", state=read_state(play.settings, play.now)))


def label_of(op: Json) -> str:
    """Under which its outcome is kept; empty for what has none."""
    return str(op.get("label") or "_".join(op.get("labels", ())))


OPERATIONS = table(
    *(init, write, write_many, generate, prepend, delete, delete_many, rename, symlink, chmod),
    *(touch, commit, branch, checkout, merge, tag, revert_last, force_push, remote_gc),
    *(delete_remote_branch, rename_default_branch, remote_down, remote_up, remote_hangs),
    *(remote_auth_refuses, corrupt, partial_clone_left_behind, leave_file, local_clone_edit),
    *(lose_state, inject_orphan, stale_lock, block_runs, clock_forward, embedder_fails_on),
    *(embedder_recovers, configure, ingest, ingest_parallel, query, read_status),
)
