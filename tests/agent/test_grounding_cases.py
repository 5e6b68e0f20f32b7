"""The shared grounding cases: question, chunks and a model's answer -> a verdict on each span."""

import importlib.util
import json
from pathlib import Path
from typing import Any

import pytest

from agent.citations import ground_json
from agent.citations.matching import occurs

MARK = "(⚠ "


def _cases(shared: Path) -> list[dict[str, Any]]:
    file = shared / "cases" / "dev" / "grounding.jsonl"
    expand = _reference_rules(shared).expand
    return [expand(json.loads(line)) for line in file.read_text(encoding="utf-8").splitlines()]


def _reference_rules(shared: Path) -> Any:
    spec = importlib.util.spec_from_file_location("check", shared / "cases" / "check.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _ground(given: dict[str, Any]) -> dict[str, Any]:
    return ground_json(
        {
            "question": given["question"],
            "passages": given["chunks"],
            "answer": given["answer"],
            "thread_ids": given.get("thread_ids", []),
            "context": given.get("context", ""),
        }
    )


def _about(span: str, unsupported: list[str]) -> bool:
    """Whether a marked span is this one, a part of it, or the whole it stands in."""
    return any(occurs(span, each) or occurs(each, span) for each in unsupported)


def _faults(case: dict[str, Any]) -> list[str]:
    expect = case["expect"]
    found = _ground(case["input"])
    marked = [each["span"] for each in found["unsupported"]]
    faults = []
    for citation in expect.get("citations", []):
        stays = citation["id"] in found["citations"]
        gone = citation["id"] in found["removed"] and f"[{citation['id']}]" not in found["text"]
        wanted = {"keep": stays, "remove": gone, "mismatch": gone or bool(marked)}
        if not wanted[citation["verdict"]]:
            faults.append(f"citation {citation}")
    for span in expect.get("spans", []):
        wanted_mark = {"ok": False, "flag": True, "not_detectable": False}.get(span["verdict"])
        if wanted_mark is not None and _about(span["text"], marked) is not wanted_mark:
            faults.append(f"span {span}")
    if "marks_total" in expect and not (
        len(marked) == found["text"].count(MARK) == expect["marks_total"]
    ):
        faults.append(f"marks {marked}")
    if "uncited" in expect and (found["verdict"] == "uncited") is not expect["uncited"]:
        faults.append(f"verdict {found['verdict']}")
    if not set(found["citations"]) <= set(expect.get("cites_allowed", found["citations"])):
        faults.append(f"cites {found['citations']}")
    return faults


@pytest.mark.parametrize("strength", ["must", "should"])
def test_every_shared_case_is_met(shared: Path, strength: str) -> None:
    cases = [case for case in _cases(shared) if case["strength"] == strength]
    assert cases
    faults = {case["id"]: found for case in cases if (found := _faults(case))}
    assert faults == {}
