"""The shared reports of known faults: one folder each, with the input and the right outcome.

Comments for the reader are skipped; everything else is an operation or an expectation.
"""

import json
from pathlib import Path
from typing import Any

from tests.cases import FOLDER, Json, Unknown, parameters

_REMARKS = ("kind", "source", "now", "arguable", "also", "why_it_matters")
_FILES = ("case.json", "events.json", "event.json")


def reports(kind: str) -> list[Any]:
    """A pytest parameter for each folder of this kind."""
    folders = sorted((FOLDER / "reports").glob("*/"))
    return parameters(kind, [(each.name, _case(each)) for each in folders if kind_of(each) == kind])


def kind_of(folder: Path) -> str:
    """Tests that run this report."""
    match _case(folder):
        case {"tree": _}:
            return "tree"
        case {"env": _}:
            return "cron"
        case {"say": _} | {"event": _} | {"steps": [{"say": _}, *_]}:
            return "conversation"
        case {"steps": [str(), *_]}:
            return "server"
    raise Unknown(f"nothing runs the report {folder.name}")


def _case(folder: Path) -> Json:
    [file] = [folder / name for name in _FILES if (folder / name).is_file()]
    case = json.loads(file.read_text(encoding="utf-8"))
    kept = {name: value for name, value in case.items() if name not in _REMARKS}
    return {**kept, "folder": folder}
