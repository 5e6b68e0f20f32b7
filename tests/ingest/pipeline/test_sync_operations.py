"""Operations and expectations of scripted histories that no shared case needs today."""

from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.cases import carry_out
from tests.ingest.pipeline.sync import Outcome, Play
from tests.ingest.pipeline.sync_expectations import Seen, unmet
from tests.ingest.pipeline.test_sync_cases import played
from tests.ingest.sync_operations import OPERATIONS

LONG = "".join(f"# Part {n}\n\nPart {n} is long. {'It goes on. ' * 60}\n\n" for n in range(4))


def commit(**op: Any) -> list[dict[str, Any]]:
    return [op, {"op": "commit", "message": "change"}]


@pytest.fixture(scope="module")
def first(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Seen]:
    """One page after its first ingest, and what it is compared with: nothing indexed at B."""
    with ExitStack() as stack:
        play = Play(tmp_path_factory.mktemp("sync"), stack, {}, "main")
        for op in [
            *commit(op="write", path="docs/pay.md", text="# Pay\n\nRestart the worker.\n"),
            {"op": "ingest", "label": "A"},
        ]:
            carry_out(OPERATIONS, op, play)
        play.outcomes["B"] = Outcome("ok")
        yield Seen(play, play.outcomes["A"])


def test_many_pages_come_and_go(tmp_path: Path) -> None:
    many = {"path": "docs/p{i:02d}.md", "from": 1, "to": 12}
    ops = [
        *commit(op="write_many", text="# Page {i}\n\nSentence {i}.\n", **many),
        {"op": "ingest", "label": "A"},
        *commit(op="generate", path="docs/long.md", rule=LONG),
        {"op": "ingest", "label": "B"},
        *commit(op="prepend", path="docs/long.md", text="In front.\n\n"),
        {"op": "ingest", "label": "C"},
        *commit(op="write", path="docs/long.md", text=LONG[:700]),
        {"op": "leave_file", "path": ".git/shallow.lock"},
        {"op": "ingest", "label": "D"},
        *commit(op="delete_many", path="docs/p{i:02d}.md", **{"from": 2, "to": 12}),
        {"op": "ingest", "label": "E"},
        {"op": "ingest", "label": "F", "confirm_large_deletion": True},
        {"op": "lose_state"},
        {"op": "ingest", "label": "G"},
    ]
    sound = {"result": "ok", "ids_contiguous": True, "lines_follow_file": True, "revision": "HEAD"}
    expect = {
        "A": {**sound, "present": ["p01", "p12"], "writes": 12, "embedded_chunks_max": 12},
        "B": {**sound, "ids_contiguous": ["long"], "embedded_paths": ["docs/long.md"]},
        "C": {**sound, "texts_present": ["In front."], "embedded_chunks_max": 2},
        "D": {**sound, "fewer_chunks_than": "C", "lines_follow_file": ["docs/long.md"]},
        "E": {"result": "refused", "error_class": "large_deletion", "index_unchanged_since": "D"},
        "F": {**sound, "absent": ["p02", "p12"], "writes": 11, "note": "the operator said yes"},
        "G": {**sound, "text_count": {"Sentence 1.": 1}, "error_text_contains_if_error": ["x"]},
    }
    assert played(expect, tmp_path, "docs", ops) == []


def test_branches_are_merged_and_another_one_is_followed(tmp_path: Path) -> None:
    ops = [
        *commit(op="write", path="docs/pay.md", text="# Pay\n\nOn the main branch.\n"),
        {"op": "tag", "name": "v1"},
        {"op": "branch", "name": "next"},
        *commit(op="write", path="docs/next.md", text="# Next\n\nOn the next branch.\n"),
        {"op": "checkout", "name": "main"},
        {"op": "ingest", "label": "A"},
        {"op": "configure", "ref": "next"},
        {"op": "ingest", "label": "B"},
        {"op": "configure", "ref": "main"},
        {"op": "merge", "name": "next"},
        {"op": "ingest", "label": "C"},
    ]
    both = {"result": "ok", "present": ["pay", "next"]}
    expect = {
        "A": {"result": "ok", "absent": ["next"]},
        "B": both,
        "C": {**both, "revision": "HEAD"},
    }
    assert played(expect, tmp_path, "docs", ops, {"ref": "main"}) == []


@pytest.mark.parametrize(
    "expected",
    [
        *({"writes": 2}, {"embedded_chunks_max": 0}, {"ids_contiguous": ["other"]}),
        *({"fewer_chunks_than": "A"}, {"index_unchanged_since": "B"}, {"present": ["other"]}),
        *({"texts_present": ["other"]}, {"result": "partial"}, {"hits_contain": ["pay-0"]}),
    ],
    ids=str,
)
def test_what_does_not_hold_is_told(first: Seen, expected: dict[str, Any]) -> None:
    [fault] = unmet(first, expected)
    assert fault.startswith(next(iter(expected)))
