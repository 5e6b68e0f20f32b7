"""What a chunk holds: text for people, links, releases, or orders to other programs."""

import pytest

from ingest.chunks.chunker import chunk_document
from ingest.chunks.kinds import with_kinds
from ingest.readers.loader import load

LINKS = "* [Ledger restart](ledger.md)\n* [Ledger is stuck](stuck.md)\n* [Limits](limits.md)\n"
RELEASES = "# {}\n\n## 4.2.0\n\n- retries are 9\n\n## 4.1.0 (2024-05-01)\n\n- retries are 7\n"


def kinds(path: str, text: str) -> list[str]:
    document = load(path, text.encode())
    return [c.kind for c in with_kinds(document, chunk_document(document, lambda _text: True))]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("SUMMARY.md", f"# Summary\n\n{LINKS}"),
        ("_Sidebar.md", "- [[Home]]\n- [[Deploy the courier|Deploy]]\n- [[Limits]]\n"),
        ("contents.md", f"# All pages\n\n{LINKS}"),
        ("index.md", "# Ledger\n\n```{toctree}\nrestart\nstuck\n```\n"),
    ],
)
def test_a_page_of_links_to_other_pages_is_navigation(path: str, text: str) -> None:
    assert set(kinds(path, text)) == {"navigation"}


def test_the_prose_of_a_page_of_navigation_is_text() -> None:
    many = LINKS * 20
    text = f"# Ledger\n\nCall the ledger team before a restart.\n\n## Pages\n\n{many}"
    assert kinds("README.md", text)[0] == "page"
    assert kinds("README.md", text)[-1] == "navigation"


@pytest.mark.parametrize(
    "text",
    [
        f"# Ledger\n\nCall the ledger team, which knows all of this, before a restart.\n\n{LINKS}",
        "# Dashboards\n\n"
        + "".join(f"* [Board {n}](https://boards.example.com/{n})\n" for n in range(5)),
        "# See\n\n[The checklist](list.md)\n",
    ],
)
def test_a_page_that_says_something_is_none(text: str) -> None:
    assert set(kinds("page.md", text)) == {"page"}


@pytest.mark.parametrize(
    ("path", "title"), [("CHANGELOG.md", "Changelog"), ("notes/push.md", "What is new in push")]
)
def test_headings_that_are_versions_or_dates_make_a_change_log(path: str, title: str) -> None:
    assert set(kinds(path, RELEASES.format(title))) == {"change log"}


@pytest.mark.parametrize(
    ("path", "text"),
    [
        (
            "changes.md",
            "# Changes of a schema\n\n## Add a column\n\nTell them.\n\n## Drop it\n\nAsk.\n",
        ),
        (
            "upgrade.md",
            "# Upgrade\n\n## Before\n\nStop.\n\n## To 4.2 from 4.1 in one step\n\nStart.\n",
        ),
    ],
)
def test_a_page_about_changes_is_no_change_log(path: str, text: str) -> None:
    assert set(kinds(path, text)) == {"page"}


def test_orders_to_other_programs_are_known_by_the_name_that_those_look_for() -> None:
    assert kinds("tools/AGENTS.md", "# Agents\n\nRun `make nuke`.\n") == ["orders"]
    assert kinds("agents.md", "# Agents\n\nThe build agents run on Linux.\n") == ["page"]
