"""Documents name what is in the tree: the map every file, and each promise a test that holds it."""

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

import pytest

from tests.conftest import ROOT

README, CONTRIBUTING = ROOT / "README.md", ROOT / "CONTRIBUTING.md"
SECURITY = ROOT / "SECURITY.md"
DOCUMENTS = (README, CONTRIBUTING, SECURITY, *sorted((ROOT / "docs").glob("*.md")))
ENTRANCES = ("__init__.py", "__main__.py")
SHARED_NAMES = {*ENTRANCES, "cli.py", "errors.py", "settings.py"}
"""File names that may occur in several rooms."""
MOST_MODULES = 16
MOST_WORDS = 12

ROOM = re.compile(r"`((?:bot|agent|ingest)/(?:\w+/)*)` — \S.*")
PHRASE = re.compile(r"- `([\w./-]+)` — (\S.*)")
NAME = re.compile(
    r"(?<![\w./-])(?:(?:bot|agent|ingest|tests|examples)(?:/[\w.-]*\w)+"
    r"|(?:bot|agent|ingest)(?:\.[a-z_]+)+)"
)
"""A path in the tree, or a module by its dotted name."""

HOLDS = re.compile(r"\[(test_\w+)\]\(([\w/.]+)\)")
"""A test and its file, as SECURITY names them."""


def section(title: str, page: Path) -> str:
    return page.read_text(encoding="utf-8").partition(f"\n## {title}\n")[2].partition("\n## ")[0]


def relative(path: Path) -> str:
    return path.relative_to(ROOT).as_posix()


def rooms(*tops: str) -> list[str]:
    inits = (path for top in tops for path in (ROOT / top).rglob("__init__.py"))
    return sorted(f"{relative(path.parent)}/" for path in inits)


ROOMS = rooms("bot", "agent", "ingest")


def files_in(room: str) -> list[Path]:
    return [path for path in (ROOT / room).iterdir() if path.is_file() and path.name[0] != "."]


@cache
def own_code(path: Path) -> tuple[str, ...]:
    """First lines of the statements of a module other than docstring, imports and ``__all__``."""
    return tuple(
        ast.unparse(statement).partition("\n")[0]
        for statement in ast.parse(path.read_text(encoding="utf-8")).body
        if not isinstance(statement, ast.Import | ast.ImportFrom)
        and not (isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant))
        and not ast.unparse(statement).startswith("__all__ =")
    )


def entries() -> Iterator[tuple[str, str]]:
    """Rooms, files (with their phrases) and folders of tests in the map."""
    room = ""
    for line in section("The map", CONTRIBUTING).splitlines():
        if line.startswith("### "):
            room = ""
        elif name := ROOM.fullmatch(line):
            room = name[1]
            yield room, ""
        elif name := PHRASE.fullmatch(line):
            yield f"{room}{name[1]}", name[2]


def differences(listed: Iterable[str], actual: Iterable[str]) -> str:
    """A line for each entry that is missing in the map or has no file; empty if both agree."""
    listed, actual = Counter(listed), Counter(actual)
    missing = [f"not in the map: {name}" for name in actual - listed]
    left_over = [f"in the map, but not in the tree, or twice: {name}" for name in listed - actual]
    return "\n".join([*missing, *left_over])


def mirrors(folder: str) -> bool:
    """True if a folder of tests has the name of the room that it tests."""
    tested = folder.removeprefix("tests/")
    return tested.count("/") > 1 and tested in ROOMS


def test_every_room_and_every_folder_of_tests_has_one_line_in_the_map() -> None:
    listed = (name for name, _phrase in entries() if name.endswith("/"))
    folders = (folder for folder in rooms("tests") if not mirrors(folder))
    faults = differences(listed, [*ROOMS, *folders])
    assert not faults, faults


def test_every_file_has_one_phrase_and_every_phrase_a_file() -> None:
    files = (path for room in ROOMS for path in files_in(room))
    actual = (relative(path) for path in files if path.name not in ENTRANCES or own_code(path))
    listed = (name for name, _phrase in entries() if not name.endswith("/"))
    faults = differences(listed, actual)
    assert not faults, faults


def test_a_phrase_is_short() -> None:
    assert [name for name, phrase in entries() if len(phrase.split()) > MOST_WORDS] == []


def test_the_readme_names_every_room() -> None:
    drawing = section("How it works", README)
    missing = [room for room in ROOMS if not re.search(rf"(?<![\w/]){room[:-1]}\b", drawing)]
    assert not missing, missing


@pytest.mark.parametrize("page", DOCUMENTS, ids=relative)
def test_what_a_document_names_is_in_the_tree(page: Path) -> None:
    names = {match[0] for match in NAME.finditer(page.read_text(encoding="utf-8"))}
    missing = sorted(name for name in names if not is_there(name))
    assert not missing, missing


def is_there(name: str) -> bool:
    if "/" in name:
        return (ROOT / name).exists()
    module = ROOT / name.replace(".", "/")
    return module.is_dir() or module.with_suffix(".py").is_file()


@pytest.mark.parametrize("room", ROOMS)
def test_an_init_only_hands_names_on(room: str) -> None:
    assert own_code(ROOT / room / "__init__.py") == ()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_is_not_crowded(room: str) -> None:
    modules = [path for path in files_in(room) if path.suffix == ".py"]
    assert len([path for path in modules if path.name not in ENTRANCES]) <= MOST_MODULES


def test_no_two_files_have_the_same_name() -> None:
    places: dict[str, list[str]] = {}
    for path in (path for room in ROOMS for path in files_in(room)):
        places.setdefault(path.name, []).append(relative(path))
    same = [paths for name, paths in places.items() if len(paths) > 1 and name not in SHARED_NAMES]
    assert not same, same


@pytest.mark.parametrize("module", ["bot/journal/claims.py", "ingest/index/folders.py"])
def test_the_states_are_drawn_in_their_module_as_in_the_map(module: str) -> None:
    docstring = ast.get_docstring(ast.parse((ROOT / module).read_text(encoding="utf-8"))) or ""
    drawn = "\n".join(line.removeprefix("    ") for line in docstring.splitlines())
    drawings = re.findall(r"```\n(.+?)\n```", section("States", CONTRIBUTING), re.DOTALL)
    assert [drawing for drawing in drawings if drawing in drawn] != []


def test_each_promise_names_tests_that_exist() -> None:
    _, _, *rows = section("Promises", SECURITY).strip().splitlines()
    without = [row for row in rows if not HOLDS.search(row)]
    assert without == []
    named = {test for row in rows for test in HOLDS.findall(row)}
    missing = [test for test in sorted(named) if test[0] not in functions(ROOT / test[1])]
    assert missing == []


def functions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8")) if path.is_file() else ast.Module([], [])
    return {node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef)}
