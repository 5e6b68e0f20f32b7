"""The tests use every part of a shared case: an unknown part fails, and the message names it."""

import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.agent.grounding import test_grounding_cases as grounding
from tests.bot.blocks import rendered as render
from tests.bot.question import test_event_cases as events
from tests.bot.question.play import OPERATIONS as EVENT_OPERATIONS
from tests.bot.question.play import Envelope
from tests.bot.reading import test_alert_cases as alerts
from tests.cases import (
    FOLDER,
    Json,
    Unknown,
    Unmet,
    call,
    carry_out,
    each,
    expanded,
    faults,
    one_of,
    opened,
    parameters,
    require,
    table,
)
from tests.ingest.pipeline import sync_expectations as sync
from tests.ingest.pipeline.sync import Play
from tests.ingest.readers import test_docs_cases as docs
from tests.ingest.sync_operations import OPERATIONS as SYNC_OPERATIONS
from tests.ingest.trees import OPERATIONS as DOCS_OPERATIONS
from tests.ratchet import FAILS_TODAY
from tests.reports import kind_of

LINE: Json = {
    "id": "events-one",
    "family": "events",
    "title": "",
    "strength": "must",
    "input": {},
    "expect": {},
    "why": "",
    "source": [],
    "folder": Path(),
}


def unknown(name: str) -> "pytest.RaisesExc[Unknown]":
    return pytest.raises(Unknown, match=re.escape(name))


@pytest.mark.parametrize(
    "checks",
    [alerts.CHECKS, events.CHECKS, render.CHECKS, docs.CHECKS, sync.EXPECTATIONS, grounding.CHECKS],
    ids=["alerts", "events", "render", "docs", "sync", "grounding"],
)
def test_an_expectation_that_nobody_knows_fails(checks: Json) -> None:
    with unknown("shines_in_the_dark"):
        faults({"shines_in_the_dark": True}, checks, None)


@pytest.mark.parametrize("operations", [EVENT_OPERATIONS, SYNC_OPERATIONS, DOCS_OPERATIONS])
def test_an_operation_that_nobody_knows_fails(operations: Json) -> None:
    with unknown("paint"):
        carry_out(operations, {"op": "paint", "path": "a.md"}, None)


def test_a_field_more_or_less_fails_by_its_name() -> None:
    with unknown("colour"):
        carry_out(SYNC_OPERATIONS, {"op": "delete", "path": "a.md", "colour": "red"}, None)
    with unknown("path"):
        carry_out(SYNC_OPERATIONS, {"op": "delete"}, None)
    with unknown("weight"):
        call(Envelope, {"event": {}, "event_id": "Ev1", "weight": 3})
    with unknown("mood"):
        faults({"find": [{"path": "a", "text": "b", "mood": "glad"}]}, docs.CHECKS, None)
    with unknown("extra"):
        opened({**LINE, "extra": 1})


def test_a_value_that_nobody_knows_fails() -> None:
    for value in ("maybe", True):
        with unknown(repr(value)):
            one_of(value, "allowed", "expected")
    with unknown("'could'"):
        opened({**LINE, "strength": "could"})
    with unknown("$shuffle"):
        expanded({"$shuffle": []})


def test_a_setting_that_nobody_knows_fails(tmp_path: Path) -> None:
    with ExitStack() as stack, unknown("mirror"):
        Play(tmp_path, stack, {"docs_root": "docs", "mirror": "elsewhere"}, "main")


def test_each_object_of_a_list_is_checked_and_all_faults_are_told() -> None:
    def sum_is(seen: int, of: list[int]) -> Iterator[str]:
        if sum(of) != seen:
            yield f"{sum(of)}"

    wanted = {"sum_is": [{"of": [1, 2]}, {"of": [3]}, {"of": [4, 4]}]}
    assert faults(wanted, table(each(sum_is)), 3) == ["sum_is: 8"]
    with pytest.raises(Unmet, match="one\ntwo"):
        require(["one", "two"])


def test_every_family_and_every_report_has_tests_that_run_it(shared: Path) -> None:
    families = {file.stem for file in FOLDER.glob("*/*.jsonl")}
    assert families <= {"alerts", "events", "render", "docs", "sync", "grounding"}
    for folder in (FOLDER / "reports").glob("*/"):
        assert kind_of(folder)


def test_a_case_that_fails_today_is_marked_to_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(FAILS_TODAY, "events-two", "a reason")
    one, two = parameters("events", [("events-one", {}), ("events-two", {})])
    assert not one.marks
    [mark] = two.marks
    assert mark.name == "xfail"
    assert mark.kwargs == {"raises": Unmet, "strict": True, "reason": "a reason"}
