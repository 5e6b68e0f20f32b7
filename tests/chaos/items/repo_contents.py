"""What lies in a docs repository: odd names, odd texts, huge files, very many files."""

import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench.measure import disk_mb
from tests.chaos.catalogue import item
from tests.chaos.items.git_hosts import OFFLINE, Host
from tests.chaos.pages import page, service
from tests.chaos.processes import until
from tests.chaos.system import System
from tests.chaos.trial import Trial
from tests.ingest.repo.remotes import git

GROUP = "Contents of the repository"
BOMB = "".join(
    f"{name}: &{name} [{', '.join([f'*{inner}' if inner else 'x'] * 9)}]\n"
    for name, inner in zip("abcdef", ("", *"abcde"), strict=True)
)
NAMES = (
    "Case.md", "case.md", "new\nline.md", "quote\"'`$(touch x).md", "-rf.md", "n" * 240 + ".md",
    "e\u0301.md", "\u00e9.md",
)  # fmt: skip
TEXTS = {
    "lfs.md": b"version https://git-lfs.github.com/spec/v1\noid sha256:"
    + b"a" * 64
    + b"\nsize 9\n",
    "nul.md": b"# Nul\n\n\0\0\0 text\n",
    "utf16.md": "# UTF-16\n\nText here.\n".encode("utf-16"),
    "latin.md": "# Latin\n\nStraße und Überlauf\n".encode("latin-1"),
    "empty.md": b"",
    "line.md": b"# One line\n\n" + b"word " * 1_000_000,
    "quotes.md": b"# Quotes\n\n" + b"> " * 5_000 + b"x\n\n" + b"- " * 3_000 + b"y\n",
    "brackets.md": b"# Brackets\n\n" + b"[" * 50_000 + b"](" * 20_000 + b"\n",
    "stars.md": b"# Stars\n\n" + b"*a **b " * 20_000 + b"\n",
    "table.md": b"# Table\n\n" + b"|a" * 3_000 + b"|\n" + b"|-" * 3_000 + b"|\n",
    "cells.ipynb": b'{"cells": [{"cell_type": "markdown", "source": 5}, null]}',
    "deep.ipynb": b"[" * 200_000,
    "alias.md": b"---\na: &a [*a]\n---\n# Alias\n\nText.\n",
    "bomb.md": f"---\n{BOMB}tags: *f\n---\n# Bomb\n\nText.\n".encode(),
    "deep.html": b"<div>" * 20_000 + b"deep" + b"</div>" * 20_000,
}


@item(
    GROUP,
    breaks="symlink loops, LFS, odd names and encodings, bombs in YAML, HTML and notebooks",
    holds="the ingest ends in a minute; what cannot be read is skipped with a reason",
    minutes=2,
)
def contents(trial: Trial) -> None:
    with trial.system() as system:
        host = Host(trial, system)
        work = host.remote.work
        (work / "loop-a.md").symlink_to("loop-b.md")
        (work / "loop-b.md").symlink_to("loop-a.md")
        (work / "outside.md").symlink_to("/etc/passwd")
        (work / "folder").mkdir()
        (work / "folder" / "up").symlink_to("..")
        for number, name in enumerate(NAMES):
            (work / name).write_text(f"# Name {number}\n\nA page with an odd name, {number}.\n")
        for name, text in TEXTS.items():
            (work / name).write_bytes(text)
        Path(os.fsdecode(os.fsencode(work) + b"/bad-\xff.md")).write_text("# Bad\n\nA name.\n")
        host.remote.commit()
        host.ingest("odd names, links, texts and bombs", FOOTNOTE_GIT_TIMEOUT=60)
        for shape in ("--depth=1", "--filter=blob:none"):
            clone = system.folder / f"clone{shape}"
            git(system.folder, "clone", "--quiet", shape, host.remote.url, str(clone))
            host.ingest(f"from a clone made with {shape}", url=clone.as_uri(),
                        FOOTNOTE_GIT_TIMEOUT=60)  # fmt: skip


def _hex_page(file: Path) -> None:
    lines = "\n\n".join(os.urandom(30).hex() for _ in range(6_000))
    file.write_text(f"# Dump\n\n{lines}\n")


def _giant(file: Path) -> None:
    with file.open("w") as text:
        for number in range(2_000_000):
            text.write(f"line {number} {os.urandom(40).hex()}\n")


HUGE: dict[str, tuple[Callable[[Path], None], float]] = {
    "one page of 6,000 short paragraphs": (_hex_page, 60),
    "one page of 180 MB": (_giant, 60),
}


@item(
    GROUP,
    breaks="one page that is a dump, one of 180 MB",
    holds="each ingest ends in a minute; the huge page is skipped before it is fetched",
    minutes=4,
)
def huge_pages(trial: Trial) -> None:
    for done, (write, seconds) in HUGE.items():
        with trial.system() as system:
            host = Host(trial, system)
            host.ingest(f"before {done}")
            before = disk_mb(system.data("git"))
            write(host.remote.work / "huge.md")
            host.remote.commit()
            url = host.remote.url
            usual = OFFLINE | {"FOOTNOTE_DOCS_REPO": url, "FOOTNOTE_GIT_TIMEOUT": 120}
            begun = time.monotonic()
            run = system.command("ingest", "--json", data="git", seconds=400, **usual)
            trial.row(
                done,
                code=run.code,
                seconds=round(time.monotonic() - begun),
                more_mb=round(disk_mb(system.data("git")) - before),
                skipped=[str(each)[:90] for each in run.json.get("skipped", [])][:2],
                most={"code": 0, "seconds": seconds, "more_mb": 40},
            )


@item(
    GROUP,
    breaks="a repository of 100,000 files, 10,000 of them pages",
    holds="the first ingest takes at most 10 minutes and 1 GB, the next one at most one",
    minutes=8,
)
def many_files(trial: Trial) -> None:
    files = 100_000
    with trial.system() as system:
        host = Host(trial, system)
        work = host.remote.work
        for number in range(files):
            folder = work / f"f{number // 1000:03d}"
            folder.mkdir(exist_ok=True)
            suffix = "txt.bak" if number % 10 else "md"
            text = f"# Page {number}\n\nFact {number * 7} of page {number}.\n"
            (folder / f"p{number:06d}.{suffix}").write_text(text)
        (work / f"{service(5)}.md").write_text(page(5))
        host.remote.commit()
        for done, seconds in (("first ingest", 600), ("next ingest", 60)):
            took, memory, code = _measured_ingest(system, host)
            trial.row(
                f"{files:,} files, a tenth of them pages: {done}",
                code=code,
                seconds=round(took),
                memory_mb=memory,
                most={"code": 0, "seconds": seconds, "memory_mb": 1_000},
            )
        shutil.rmtree(work)


def _measured_ingest(system: System, host: Host) -> tuple[float, float, int | None]:
    """Return seconds, most memory and exit code of one ingest."""
    url, most = host.remote.url, {"FOOTNOTE_MAX_DELETED_SHARE": 1, "FOOTNOTE_GIT_TIMEOUT": 300}
    env = system.env("many", FOOTNOTE_DOCS_REPO=url, **most)
    process = system.start("ingest", ["ingest"], env)
    begun, memory = time.monotonic(), 0.0

    def ended() -> bool:
        nonlocal memory
        usage = process.usage()
        memory = max(memory, usage.memory if usage else 0.0)
        return not process.alive

    until(ended, 1_500, 0.5)
    took = time.monotonic() - begun
    process.kill()
    return took, memory, process.code
