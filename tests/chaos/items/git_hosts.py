"""The git host is away, silent, rewritten or replaced; git itself is left alone or damaged."""

import os
import shutil
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from tests.chaos.catalogue import item
from tests.chaos.pages import page, remote_with_pages, service
from tests.chaos.processes import Process, until
from tests.chaos.system import Done, System
from tests.chaos.trial import Trial
from tests.ingest.repo.remotes import git, silent_server
from tests.waiting import free_port

GROUP = "The git host"
GIT_SECONDS = 8
OFFLINE: dict[str, Any] = {
    "SLACK_BOT_TOKEN": None,
    "SLACK_APP_TOKEN": None,
    "FOOTNOTE_GIT_TIMEOUT": GIT_SECONDS,
}


class Host:
    """A docs repository, and ingests from it that are handed in as rows."""

    def __init__(self, trial: Trial, system: System) -> None:
        self.trial, self.system = trial, system
        self.remote = remote_with_pages(system.folder, 12)

    def ingest(self, done: str, *, fails: bool = False, url: str = "", **settings: Any) -> Done:
        """Ingest once; a failure has to be one line, and the index answers in any case."""
        more = OFFLINE | {"FOOTNOTE_DOCS_REPO": url or self.remote.url} | settings
        begun = time.monotonic()
        run = self.system.command("ingest", "--json", data="git", **more)
        seconds = round(time.monotonic() - begun, 1)
        query = ("search", "--json", f"limit of {service(5)}")
        passages = self.system.command(*query, data="git", **more).json.get("passages", [])
        said = run.said.strip().splitlines()
        self.trial.row(
            done,
            failed=int(run.code != 0),
            seconds=seconds,
            passages=len(passages),
            tracebacks=run.said.count("Traceback"),
            said=said[-1][-200:] if said else "",
            most={"failed": int(fails), "tracebacks": 0, "seconds": 60},
            least={"passages": 1} | ({"failed": 1} if fails else {}),
        )
        return run

    def change(self, more: str) -> None:
        self.remote.write(f"{service(5)}.md", page(5, f"\n{more}\n"))
        self.remote.commit()


@item(
    GROUP,
    breaks="the host away, history rewritten, branch deleted, repository replaced or emptied",
    holds="a failed ingest is one line; the old index answers; the next ingest heals",
    minutes=3,
)
def git_hosts(trial: Trial) -> None:
    with trial.system() as system:
        host = Host(trial, system)
        remote = host.remote
        away = remote.bare.with_name("away.git")
        host.ingest("first ingest")
        remote.bare.rename(away)
        host.ingest("host away", fails=True)
        away.rename(remote.bare)
        host.ingest("host back")
        pages = remote.texts(".")
        remote.replace_history(pages | {f"{service(5)}.md": page(5, "\nAnother history.\n")})
        remote.collect_garbage()
        host.ingest("history rewritten, the old one pruned")
        git(remote.bare, "branch", "docs", "main")
        host.ingest("another branch", FOOTNOTE_DOCS_BRANCH="docs")
        git(remote.bare, "branch", "-D", "docs")
        host.ingest("that branch deleted", fails=True, FOOTNOTE_DOCS_BRANCH="docs")
        host.ingest("default branch again")
        remote.bare.rename(away)
        git(system.folder, "init", "--quiet", "--bare", str(remote.bare))
        host.ingest("replaced by an empty repository", fails=True)
        shutil.rmtree(remote.bare)
        away.rename(remote.bare)
        for number in range(12):
            remote.delete(f"{service(number)}.md")
        remote.commit()
        host.ingest("all pages but one deleted", fails=True)
        git(remote.work, "revert", "--no-edit", "HEAD")
        remote.push()
        host.ingest("that commit reverted")


def _truncate_packs(clone: Path) -> None:
    for pack in clone.glob("objects/pack/*.pack"):
        pack.chmod(0o644)
        os.truncate(pack, pack.stat().st_size // 2)


def _remove_refs(clone: Path) -> None:
    shutil.rmtree(clone / "refs", ignore_errors=True)
    (clone / "packed-refs").unlink(missing_ok=True)


DAMAGES: dict[str, Callable[[Path], object]] = {
    "HEAD removed": lambda clone: (clone / "HEAD").unlink(missing_ok=True),
    "packs truncated": _truncate_packs,
    "refs removed": _remove_refs,
    "config is not a configuration": lambda clone: (clone / "config").write_text("[[["),
    "objects removed": lambda clone: shutil.rmtree(clone / "objects"),
}


@item(
    GROUP,
    breaks="the clone in the data folder, in five ways, each with a new commit at the host",
    holds="the next ingest heals the clone",
    minutes=2,
)
def damaged_clone(trial: Trial) -> None:
    with trial.system() as system:
        host = Host(trial, system)
        host.ingest("first ingest, its clone is damaged next")
        for name, damage in DAMAGES.items():
            damage(system.data("git") / "clone")
            host.change(name)
            host.ingest(f"clone damaged: {name}")


@item(
    GROUP,
    breaks="hosts that refuse, do not exist, are silent, or stop in the middle of a fetch",
    holds="each ingest ends in a minute with one line; nothing is left, the next one heals",
    minutes=3,
)
def silent_hosts(trial: Trial) -> None:
    with trial.system() as system:
        host = Host(trial, system)
        host.ingest("first ingest, its host is silent next")
        with silent_server() as port:
            host.ingest("silent host", fails=True, url=f"https://127.0.0.1:{port}/docs.git")
        refusing = f"https://127.0.0.1:{free_port()}/docs.git"
        host.ingest("refusing host", fails=True, url=refusing)
        host.ingest("unknown host", fails=True, url="https://docs.invalid/docs.git")
        ssh = script(system, "ssh", "exec sleep 611")
        url = "ssh://git@docs.invalid/docs.git"
        host.ingest("silent ssh", fails=True, url=url, GIT_SSH_COMMAND=ssh)
        left = leftover_processes(system)
        trial.row("processes left by a silent ssh", left=len(left), most={"left": 0})
        end_all(left)
        host.change("After the silent hosts.")
        host.ingest("a host that answers again")


def script(system: System, name: str, body: str) -> Path:
    file = system.folder / name
    file.write_text(f"#!/bin/sh\n{body}\n")
    file.chmod(0o755)
    return file


def leftover_processes(system: System) -> list[int]:
    """Return processes whose command line names the folder of this trial's ssh, or its host."""
    left = []
    for place in Path("/proc").iterdir():
        if place.name.isdigit():
            try:
                words = (place / "cmdline").read_bytes().decode(errors="replace").split("\0")
                environment = (place / "environ").read_bytes()
            except OSError:
                continue
            ours = str(system.folder).encode() in environment
            if ours and ("docs.invalid" in " ".join(words) or words[:2] == ["sleep", "611"]):
                left.append(int(place.name))
    return left


def end_all(pids: list[int]) -> None:
    for pid in pids:
        os.kill(pid, signal.SIGKILL)


@item(
    GROUP,
    breaks="SIGKILL of an ingest while git waits for a silent host, three times",
    holds="git and ssh end with it",
    minutes=1,
)
def orphans(trial: Trial) -> None:
    with trial.system() as system:
        ssh = script(system, "ssh", "exec sleep 611")
        url = "ssh://git@docs.invalid/docs.git"
        env = system.env(FOOTNOTE_DOCS_REPO=url, GIT_SSH_COMMAND=ssh)
        seen = sum(_orphaned(system, env) for _ in range(3))
        until(lambda: not leftover_processes(system), 5)
        left = leftover_processes(system)
        trial.row(
            "ingest killed while its git host is silent",
            kills=seen,
            processes_left=len(left),
            most={"processes_left": 0},
            least={"kills": 3},
        )
        end_all(left)


def _orphaned(system: System, env: dict[str, str]) -> bool:
    """Kill an ingest once its git and ssh run."""
    before = len(leftover_processes(system))
    process = system.start("ingest", ["ingest"], env)
    running = until(lambda: len(leftover_processes(system)) >= before + 2, 30, 0.1)
    process.kill()
    return bool(running)


@item(
    GROUP,
    breaks="the host away at the minute of the nightly run, and back a minute later",
    holds="the run is tried again within 15 minutes; status says that it failed",
    minutes=18,
)
def retry(trial: Trial) -> None:
    with trial.system() as system:
        remote = remote_with_pages(system.folder, 12)
        at = time.gmtime(time.time() + 120)
        settings: dict[str, Any] = {
            "FOOTNOTE_DOCS_REPO": remote.url,
            "FOOTNOTE_INGEST_AT": time.strftime("%H:%M", at),
            "FOOTNOTE_TIMEZONE": "UTC",
            "FOOTNOTE_ADMIN_CHANNEL": "C0INCIDENT",
        }
        bot = system.run(**settings)
        first = system.indexed()["id"]
        remote.write(f"{service(5)}.md", page(5, "\nNew in the night.\n"))
        remote.commit()
        away = remote.bare.with_name("away.git")
        remote.bare.rename(away)
        until(lambda: (system.last_run() or {"id": 0})["id"] > first, 240, 0.5)
        failed = system.last_run() or {}
        status = system.command("status", **settings).out
        time.sleep(60)  # the minute that the host is away
        away.rename(remote.bare)
        begun = time.monotonic()
        healed = until(lambda: (system.last_run() or {}).get("state") == "done", 15 * 60, 1)
        messages = system.slack.messages("C0INCIDENT")
        trial.row(
            "host away for a minute at the nightly run",
            failed_run=failed.get("state"),
            healed_after_s=round(time.monotonic() - begun) if healed else None,
            status_says=int("fail" in status.lower()),
            messages_in_slack=sum(bool(message.get("bot_id")) for message in messages),
            log=bot.complaints()[:3],
            most={"healed_after_s": 15 * 60},
            least={"status_says": 1},
        )


@item(
    GROUP,
    breaks="two ingests from the terminal and five from Slack at once, beside a bot and without",
    holds="one after the other; each caller learns how it went",
    minutes=3,
)
def together(trial: Trial) -> None:
    with trial.system() as system:
        remote = remote_with_pages(system.folder, 200)
        settings: dict[str, Any] = {"FOOTNOTE_DOCS_REPO": remote.url}
        for data, beside in (("bot", True), ("alone", False)):
            bot = system.run(data, **settings) if beside else None
            env = system.env(data, **settings)
            pair = [system.start(f"{data}-{n}", ["ingest", "--json"], env) for n in range(2)]
            for _ in range(5 if beside else 0):
                command = {"user": "U0ONCALL", "channel": "C0GENERAL", "text": "reindex"}
                system.slack.post("command", **command)
            until(partial(_all_ended, pair), 240, 0.2)
            last = system.indexed(data)
            texts = [process.text() for process in pair]
            trial.row(
                f"two ingests at once, {'beside a running bot' if beside else 'without a bot'}",
                unfinished=sum(process.alive for process in pair),
                codes=[process.code for process in pair],
                silent=sum(not text.strip() for text in texts),
                tracebacks=sum(text.count("Traceback") for text in texts),
                last_run=last.get("state"),
                not_done=int(last.get("state") != "done"),
                most=dict.fromkeys(("unfinished", "silent", "tracebacks", "not_done"), 0),
            )
            if bot:
                bot.end()


def _all_ended(processes: list[Process]) -> bool:
    return not any(process.alive for process in processes)
