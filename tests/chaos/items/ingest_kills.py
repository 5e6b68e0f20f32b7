"""An ingest is killed at random points; its index is compared with one made from nothing."""

import re
import shutil
import subprocess
import time
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

from tests.chaos.catalogue import item
from tests.chaos.pages import change_pages, page, service
from tests.chaos.processes import Process, until
from tests.chaos.stored_index import differences, stored_index
from tests.chaos.system import System
from tests.chaos.trial import Trial
from tests.ingest.repo.remotes import DocsRemote

GROUP = "Ingest"
LINK = "https://git.example.com/d/{commit}/{path}#L{first}-L{last}"
_LINK = re.compile(r"https://git\.example\.com/d/([0-9a-f]+)/(.+)#L(\d+)-L(\d+)")


def settings_of(remote: DocsRemote) -> dict[str, Any]:
    """Settings of ingests from the remote, without Slack and without a limit on deletions."""
    return {
        "FOOTNOTE_DOCS_REPO": remote.url,
        "FOOTNOTE_LINK_TEMPLATE": LINK,
        "FOOTNOTE_MAX_DELETED_SHARE": 1,
        "SLACK_BOT_TOKEN": None,
        "SLACK_APP_TOKEN": None,
    }


def remote_of(system: System, pages: int) -> tuple[DocsRemote, set[int]]:
    remote = DocsRemote(system.folder)
    for number in range(pages):
        remote.write(f"{service(number)}.md", page(number))
    remote.commit()
    return remote, set(range(pages))


def search(
    trial: Trial, system: System, remote: DocsRemote, settings: dict[str, Any]
) -> Counter[str]:
    """Search a few times, and open every link: does it show what is quoted?"""
    seen: Counter[str] = Counter()
    for number in trial.chance.sample(range(30), trial.pick(3, 1)):
        done = system.command("search", "--json", f"limit of {service(number)}", **settings)
        seen["searches"] += 1
        seen["searches_failed"] += done.code != 0
        for passage in done.json.get("passages", []):
            right = opens(remote, passage)
            seen["links"] += right is not None
            seen["links_wrong"] += right is False
    return seen


def opens(remote: DocsRemote, passage: dict[str, Any]) -> bool | None:
    """Return True if the link opens the quoted lines; None for a passage without a link."""
    link = _LINK.fullmatch(passage.get("url") or "")
    if not link:
        return None
    lines = shown(remote.work, link[1], link[2])[int(link[3]) - 1 : int(link[4])]
    return squeezed(passage["text"]) in squeezed("\n".join(lines))


@cache
def shown(repo: Path, commit: str, path: str) -> list[str]:
    """Return the lines of a page at a commit; none if the commit does not have it."""
    command = ["git", "-C", str(repo), "show", f"{commit}:{path}"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.split("\n")


def squeezed(text: str) -> str:
    return re.sub(r"\W+", " ", text).strip()


def left_behind(data: Path) -> list[str]:
    """Return files and folders that no ingest needs."""
    folders = [path for path in data.iterdir() if path.name.startswith("index-")]
    odd = [
        path
        for path in data.iterdir()
        if path.name.startswith(("clone.", "current.")) or path.suffix in (".tmp", ".new")
    ]
    clone = data / "clone"
    odd += [*clone.rglob("*.lock"), *clone.rglob("tmp_*"), *folders[1:]]
    return sorted(str(path.relative_to(data)) for path in odd)


@item(
    GROUP,
    breaks="SIGKILL at random points of an ingest, a quarter with a rebuild of the index",
    holds="the next ingest makes the index equal to a fresh one; no search fails meanwhile",
    minutes=12,
    quick=True,
)
def ingest_kills(trial: Trial) -> None:
    with trial.system() as system:
        remote, pages = remote_of(system, trial.pick(180, 40))
        settings = settings_of(remote)
        begun = time.monotonic()
        system.command("ingest", "--json", data="killed", **settings)
        whole = time.monotonic() - begun
        killed = system.data("killed")
        seen: Counter[str] = Counter()
        unequal, left = list[str](), list[str]()
        kills = trial.pick(64, 1)
        while seen["kills"] < kills:
            change_pages(remote.work, pages, trial.chance, 0.4)
            remote.commit()
            if trial.chance.random() < trial.pick(0.25, 0):
                rebuilt = settings.get("FOOTNOTE_EMBEDDER_INT8") != "true"
                settings["FOOTNOTE_EMBEDDER_INT8"] = "true" if rebuilt else "false"
            for _ in range(trial.chance.randint(1, trial.pick(4, 2))):
                env = system.env("killed", **settings)
                process = system.start("ingest", ["ingest"], env)
                seen["kills"] += kill_within(process, 0.1 + trial.chance.random() * whole)
            seen += search(trial, system, remote, settings | {"FOOTNOTE_DATA_DIR": killed})
            done = system.command("ingest", "--json", data="killed", **settings)
            seen["ingests_failed"] += done.code != 0
            system.command("ingest", "--json", data="fresh", **settings)
            fresh = stored_index(system.data("fresh"))
            unequal += differences(stored_index(killed), fresh)
            left += left_behind(killed)
            shutil.rmtree(system.data("fresh"))
            seen["rounds"] += 1
            trial.progress(f"{dict(seen)}, unequal: {unequal}")
        shutil.rmtree(killed)
        seen["unequal"], seen["left_behind"] = len(unequal), len(left)
        none = ("searches_failed", "ingests_failed", "unequal", "left_behind", "links_wrong")
        names = ("rounds", "kills", "searches", "links", *none)
        trial.row(
            "ingest killed by SIGKILL, then one to its end",
            **dict[str, Any]({name: seen[name] for name in names}),
            which=sorted({*unequal, *left})[:4],
            most=dict.fromkeys(none, 0),
        )


def kill_within(process: Process, seconds: float) -> bool:
    """Kill a process after so long; return False if it ended before."""
    ended = until(lambda: not process.alive, seconds, 0.01)
    process.kill()
    return not ended


@item(
    GROUP,
    breaks="searches while 95 % of 500 pages change, after a kill, and after the next run",
    holds="every link opens the quoted lines, at each moment",
    minutes=4,
)
def links(trial: Trial) -> None:
    with trial.system() as system:
        remote, pages = remote_of(system, 500)
        settings = settings_of(remote)
        begun = time.monotonic()
        system.command("ingest", "--json", **settings)
        whole = time.monotonic() - begun
        change_pages(remote.work, pages, trial.chance, 0.95)
        remote.commit()
        process = system.start("ingest", ["ingest"], system.env(**settings))
        during: Counter[str] = Counter()
        begun = time.monotonic()
        while process.alive and time.monotonic() - begun < whole * 0.7:
            during += search(trial, system, remote, settings)
        _links_row(trial, "links during an ingest", during)
        process.kill()
        _links_row(trial, "links after an ingest was killed", _several(trial, system, remote))
        system.command("ingest", "--json", **settings)
        _links_row(trial, "links after the next ingest", _several(trial, system, remote))


def _several(trial: Trial, system: System, remote: DocsRemote) -> Counter[str]:
    seen: Counter[str] = Counter()
    for _ in range(5):
        seen += search(trial, system, remote, settings_of(remote))
    return seen


def _links_row(trial: Trial, done: str, seen: Counter[str]) -> None:
    none = dict.fromkeys(("links_wrong", "searches_failed"), 0)
    figures: dict[str, Any] = {
        name: seen[name] for name in ("searches", "searches_failed", "links", "links_wrong")
    }
    trial.row(done, **figures, most=none, least={"links": 1})
