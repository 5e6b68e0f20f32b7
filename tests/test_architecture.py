"""Rules for the whole tree: sizes of files, import contracts, and the list of settings."""

import ast
import re
import subprocess
import sys
from pathlib import Path

import pytest
from pydantic_settings import BaseSettings

from agent.settings import AgentSettings
from bot.settings import BotSettings
from ingest.settings import IndexSettings
from tests.conftest import ROOT

SOURCES = sorted(
    path for package in ("bot", "agent", "ingest") for path in (ROOT / package).rglob("*.py")
)
DECIDING = sorted(
    [*(ROOT / "bot" / "answering").glob("*.py"), ROOT / "bot" / "question" / "policy.py"]
)
"""Modules that decide about Slack messages, and never see how Slack sends them."""


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(ROOT)))
def test_a_source_file_is_short_and_says_what_flows_through_it(path: Path) -> None:
    source = path.read_text(encoding="utf-8")
    assert source.count("\n") <= 350
    assert ast.get_docstring(ast.parse(source))


@pytest.mark.parametrize("path", DECIDING, ids=lambda path: str(path.relative_to(ROOT)))
def test_decisions_are_made_on_values_and_not_on_raw_json(path: Path) -> None:
    nodes = list(ast.walk(ast.parse(path.read_text(encoding="utf-8"))))
    names = {node.id for node in nodes if isinstance(node, ast.Name)}
    attributes = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    assert names.isdisjoint({"Any", "SlackJson"})
    assert attributes.isdisjoint({"payload"})


def test_imports_run_one_way_and_each_library_is_known_in_one_room() -> None:
    run = subprocess.run(
        [Path(sys.executable).parent / "lint-imports", "--no-logo", "--no-cache"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stdout


def variables(kind: type[BaseSettings]) -> set[str]:
    prefix = kind.model_config.get("env_prefix", "")
    return {
        str(field.validation_alias or f"{prefix}{name}".upper())
        for name, field in kind.model_fields.items()
    }


def test_every_setting_is_listed_in_the_example_file_with_a_line_and_nothing_else_is() -> None:
    listed = re.findall(r"^([A-Z0-9_]+)=$", (ROOT / ".env.example").read_text(), re.MULTILINE)
    known = variables(IndexSettings) | variables(AgentSettings) | variables(BotSettings)
    assert set(listed) == known
    assert len(listed) == len(set(listed))
