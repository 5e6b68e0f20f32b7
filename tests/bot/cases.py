"""The shared acceptance cases, with their generator rules expanded."""

import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

_CASES = Path(os.environ.get("FOOTNOTE_SHARED", Path(__file__).parents[3] / "shared")) / "cases"


def cases(family: str) -> list[Any]:
    """One pytest parameter a case; a single skipped one where the cases are not there."""
    file = _CASES / "dev" / f"{family}.jsonl"
    if not file.is_file():
        reason = f"no shared cases at {file} (set FOOTNOTE_SHARED)"
        return [pytest.param({}, id=family, marks=pytest.mark.skip(reason=reason))]
    found = [json.loads(line) for line in file.read_text("utf-8").splitlines()]
    return [pytest.param(expanded(case), id=case["id"]) for case in found]


def expanded(value: Any) -> Any:
    """The value that a generator rule stands for; anything else unchanged."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$repeat": rule}:
            return rule["join"].join(_series(rule))
        case {"$repeat_list": rule}:
            return expanded(_series(rule))
        case {"$concat": parts}:
            return "".join(map(expanded, parts))
        case {"$concat_list": parts}:
            return [item for part in parts for item in expanded(part)]
    return {key: expanded(item) for key, item in value.items()}


def folded(text: str) -> str:
    """Runs of white space count as one blank."""
    return " ".join(text.split())


def _series(rule: dict[str, Any]) -> list[Any]:
    return [_filled(rule["template"], number) for number in range(rule["from"], rule["to"] + 1)]


def _filled(template: Any, number: int) -> Any:
    if isinstance(template, list):
        return [_filled(item, number) for item in template]
    if isinstance(template, dict):
        return {_filled(key, number): _filled(item, number) for key, item in template.items()}
    if not isinstance(template, str):
        return template
    return re.sub(r"\{i(?::0(\d+)d)?\}", lambda m: str(number).zfill(int(m[1] or 0)), template)
