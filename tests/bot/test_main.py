"""The list of commands: quick to show, and the same as the commands themselves."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from inspect import cleandoc

import pytest
from typer.core import TyperGroup
from typer.main import get_group

from bot.cli import COMMANDS, Deferred
from tests.conftest import ROOT
from tests.waiting import PATIENCE

HEAVY = {"anthropic", "apscheduler", "chromadb", "numpy", "onnxruntime", "slack_bolt", "sqlalchemy"}
LOADED = """
import json, sys
from bot.cli import main
try:
    main()
finally:
    sys.stderr.write(json.dumps(list(sys.modules)))
"""


def footnote(*arguments: str, **settings: str) -> subprocess.CompletedProcess[str]:
    """A command, whose last words on stderr are the modules that it loaded."""
    return subprocess.run(
        [sys.executable, "-c", LOADED, *arguments],
        env=os.environ | {"PYTHONPATH": str(ROOT)} | settings,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


def deferred(commands: object = COMMANDS, *groups: str) -> Iterator[tuple[str, Deferred]]:
    """Each command with the words that call it, those in groups too."""
    assert isinstance(commands, tuple)
    for command in commands:
        words = (*groups, str(command.name))
        if isinstance(command, TyperGroup):
            yield from deferred(tuple(command.commands.values()), *words)
        else:
            yield " ".join(words), command


ALL = dict(deferred())


@pytest.mark.parametrize(
    "arguments",
    ["--help", "--version", "eval --help", "debug --help"]
    + [f"{words} --help" for words in ALL if not words.startswith("eval")],
)
def test_help_loads_no_heavy_library(arguments: str) -> None:
    done = footnote(*arguments.split())
    assert done.returncode == 0
    assert not HEAVY & set(json.loads(done.stderr))


@pytest.mark.parametrize("arguments", ["--help", "--version"])
def test_the_list_of_commands_loads_no_report_and_no_validation(arguments: str) -> None:
    loaded = set(json.loads(footnote(arguments).stderr))
    assert loaded.isdisjoint({"pydantic", "bot.report", "agent"})


def test_the_list_names_every_command_with_its_whole_line() -> None:
    shown = " ".join(footnote("--help").stdout.split())
    for command in COMMANDS:
        assert f" {command.name} {command.short_help}" in shown


@pytest.mark.parametrize("words", ALL)
def test_a_line_of_the_list_is_the_first_of_the_commands_own_help(words: str) -> None:
    command = ALL[words]
    first = cleandoc(command.load().help).split("\n\n")[0]
    assert " ".join(first.split()) == command.short_help


def test_no_command_of_a_package_is_left_out() -> None:
    for place in {command.location for command in ALL.values()}:
        module, _, attribute = place.partition(":")
        held = get_group(getattr(import_module(module), attribute)).commands
        assert set(held) == {c.name for c in ALL.values() if c.location == place}


def test_the_readme_lists_the_same_commands() -> None:
    listed = set()
    for calls in re.findall(r"^\| (`footnote .*?) \| ", (ROOT / "README.md").read_text(), re.M):
        for call in re.findall(r"`footnote ([a-z]+(?: [a-z]+(?:\\\|[a-z]+)*)?)", calls):
            group, _, names = call.partition(" ")
            listed |= {f"{group} {name}" for name in names.split(r"\|")} if names else {group}
    assert listed == set(ALL)


@pytest.mark.parametrize("group", ["", "eval", "debug"])
def test_the_bare_name_of_a_group_shows_its_list_and_is_wrong_usage(group: str) -> None:
    done = footnote(*group.split())
    assert done.returncode == 2
    assert "Commands:\n" in done.stderr


@pytest.mark.parametrize(
    ("line", "completed"),
    [
        ("footnote tr", ["try", "trace"]),
        ("footnote eval re", ["retrieval"]),
        ("footnote run --ht", ["--http"]),
    ],
)
def test_a_shell_completes_commands_and_their_options(line: str, completed: list[str]) -> None:
    words = {"COMP_WORDS": line, "COMP_CWORD": str(len(line.split()) - 1)}
    done = footnote(_FOOTNOTE_COMPLETE="complete_bash", **words)
    assert done.stdout.split() == completed
    assert not HEAVY & set(json.loads(done.stderr))
