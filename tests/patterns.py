"""Every regular expression of the three packages, and texts that are hostile to it.

Patterns are read from the source, where each begins as ``re.<function>(...)``: also those within
functions, with something in place of what is known only while they run. A hostile text is made of
the pattern itself: what leads to a repetition, what it repeats, many times, and what it stops at.
"""

import ast
import builtins
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cache
from itertools import chain
from pathlib import Path
from types import ModuleType
from typing import Any

from tests.conftest import ROOT

FLAGS = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}
FLAGS |= {"split": 3, "sub": 4, "subn": 4}
"""Which argument of a function of ``re`` holds the flags."""
UNKNOWN = "ab7c"
"""Stands for what is known only while a pattern is made: a name, a word."""
ALPHABET = "aA0_-. \n\t\"'`*:/,;<>[](){}|=#@!?$%&~^+\\é漢\u200d"
HANDED_ON = "handed on"


@dataclass(frozen=True)
class Pattern:
    """A pattern with where it is, and the functions that it is asked with."""

    place: str
    made: re.Pattern[Any]
    uses: frozenset[str]


class Known(ast.NodeTransformer):
    """Puts a word in place of every name that a module does not know."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names, *dir(builtins)}

    def visit_Name(self, node: ast.Name) -> ast.expr:  # noqa: N802
        known = node.id in self._names
        return node if known else ast.copy_location(ast.Constant(UNKNOWN), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.GeneratorExp:  # noqa: N802
        bound = {
            n.id for g in node.generators for n in ast.walk(g.target) if isinstance(n, ast.Name)
        }
        within = Known({*self._names, *bound})
        within.generic_visit(node)
        return node


@cache
def trees() -> dict[str, tuple[Path, ast.Module]]:
    """Every module's name, with its file and what it says."""
    read = {}
    for path in chain.from_iterable(
        (ROOT / room).rglob("*.py") for room in ("bot", "agent", "ingest")
    ):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts).removesuffix(".__init__")
        read[name] = path, ast.parse(path.read_text(encoding="utf-8"))
    return read


@cache
def patterns() -> list[Pattern]:
    """All of them. Raises where one is hidden from this."""
    found = []
    for name, (path, tree) in sorted(trees().items()):
        module: ModuleType | None = None
        assigned = {
            id(node.value): node.targets[0].id
            for node in ast.walk(tree)
            if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
        }
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module == "re":
                raise AssertionError(f"{path}:{node.lineno} hides what it takes from re")
            if not (function := _function(node)):
                continue
            module = module or importlib.import_module(name)
            assert isinstance(node, ast.Call)
            uses = {function} if function != "compile" else _uses(name, assigned.get(id(node), ""))
            place = f"{path.relative_to(ROOT)}:{node.lineno}"
            found.append(Pattern(place, _made(node, function, module), frozenset(uses)))
    return found


def _function(node: ast.AST) -> str:
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute)):
        return ""
    called = node.func
    of_re = isinstance(called.value, ast.Name) and called.value.id == "re"
    return called.attr if of_re and called.attr in FLAGS else ""


def _made(node: ast.Call, function: str, module: ModuleType) -> re.Pattern[Any]:
    given = {word.arg: word.value for word in node.keywords}
    flags = given.get("flags") or (node.args[FLAGS[function] :] or [ast.Constant(0)])[0]
    call = ast.Call(
        ast.Attribute(ast.Name("re", ast.Load()), "compile", ast.Load()), [node.args[0], flags], []
    )
    # Parsed once more, so that the tree that others read stays as it is.
    expression = ast.parse(ast.unparse(ast.fix_missing_locations(call)), mode="eval")
    expression = ast.fix_missing_locations(Known(vars(module)).visit(expression))
    made = eval(compile(expression, str(module.__file__), "eval"), vars(module))  # noqa: S307
    assert isinstance(made, re.Pattern)
    return made


def _uses(module: str, name: str) -> set[str]:
    """The functions that a pattern is asked with, wherever its name is used; all, if it is handed
    on."""
    asked: set[str] = set()
    for other, used in _used().items():
        if other == module or name in used.imported:
            asked |= used.plain.get(name, set())
        asked |= used.dotted.get(name, set())
    if not name or HANDED_ON in asked:
        return {"finditer", "match", "fullmatch"}
    return asked & {*FLAGS}


@dataclass
class Used:
    """How one module uses names."""

    imported: set[str] = field(default_factory=set)
    plain: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """What is asked of each name: ``NAME.search``."""
    dotted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """The same, of names in other modules: ``module.NAME.search``."""


@cache
def _used() -> dict[str, Used]:
    return {name: _uses_in(tree) for name, (_, tree) in trees().items()}


def _uses_in(tree: ast.Module) -> Used:
    used = Used()
    above = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            used.imported |= {alias.name for alias in node.names}
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
            used.plain[node.id] |= _asked(node, above)
        elif isinstance(node, ast.Attribute):
            used.dotted[node.attr] |= _asked(node, above)
    return used


def _asked(node: ast.expr, above: dict[int, ast.AST]) -> set[str]:
    asks = above[id(node)]
    if not isinstance(asks, ast.Attribute):
        return {HANDED_ON}
    call = above[id(asks)]
    # Asked at a place within the text, it is asked at others, too.
    if asks.attr == "match" and isinstance(call, ast.Call) and len(call.args) > 1:
        return {"match", "finditer"}
    return {asks.attr}
