"""The docs of a trial: each page states one number, so that an answer to another question shows."""

import random
from pathlib import Path

from tests.ingest.repo.remotes import DocsRemote

PAGES = 60


def service(number: int) -> str:
    return f"service-{number:03d}"


def limit_of(number: int) -> int:
    return 17 * number + 1717


def page(number: int, more: str = "") -> str:
    name = service(number)
    return (
        f"# {name}\n\n## Limit\n\nThe limit of {name} is {limit_of(number)} requests a second.\n\n"
        f"## Restart\n\nRestart {name} with `svc restart {name}`.\n{more}"
    )


def write_pages(folder: Path, pages: int = PAGES, more: str = "") -> Path:
    """Write a page for each service, and the runbook of the sandbox's alert."""
    folder.mkdir(parents=True, exist_ok=True)
    for number in range(pages):
        (folder / f"{service(number)}.md").write_text(page(number, more))
    (folder / "PaymentsSignatureFailures.md").write_text(
        "# PaymentsSignatureFailures\n\nThe runbook of this alert: rotate the signing key.\n"
    )
    return folder


def change_pages(folder: Path, pages: set[int], chance: random.Random, share: float) -> None:
    """Change a share of the pages so that lines move; delete some pages, and add some."""
    for number in sorted(pages):
        luck = chance.random()
        file = folder / f"{service(number)}.md"
        if luck < share:
            notes = "".join(
                f"Note {chance.random():.6f}.\n\n" for _ in range(chance.randrange(1, 9))
            )
            parts = "".join(
                f"\n## Part {part}\n\nDetail {chance.random():.8f} of {service(number)}.\n"
                for part in range(chance.randrange(1, 5))
            )
            title, rest = page(number, parts).split("\n", 1)
            file.write_text(f"{title}\n\n{notes}{rest}")
        elif luck < share + 0.04:
            file.unlink()
            pages.discard(number)
    for number in range(300):
        if number not in pages and chance.random() < 0.04:
            pages.add(number)
            (folder / f"{service(number)}.md").write_text(page(number))


def remote_with_pages(folder: Path, pages: int) -> DocsRemote:
    """Return a git host whose repository has the first pages."""
    remote = DocsRemote(folder)
    write_pages(remote.work, pages)
    remote.commit()
    return remote
