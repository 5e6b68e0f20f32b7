"""Every regular expression of the three packages, with the functions that use it.

This module reads them from the source, where each begins as ``re.<function>(...)``. In a pattern
that a function builds, a word replaces the parts that exist only at run time.
"""

import ast
import builtins
import importlib
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from functools import cache
from types import ModuleType
from typing import Any

from tests.conftest import ROOT

FLAGS = {"compile": 1, "search": 2, "match": 2, "fullmatch": 2, "findall": 2, "finditer": 2}
FLAGS |= {"split": 3, "sub": 4, "subn": 4}
"""Position of the flags among the arguments of a function of ``re``."""
EVERYWHERE = ("findall", "finditer", "split", "sub", "subn")
"""Functions that scan a whole text."""
ALL = frozenset({"search", "match", "fullmatch", "finditer"})
UNKNOWN = "ab7c"
"""Replaces the part of a pattern that exists only at run time: a name, a word."""
HANDED_ON = "handed on"


@dataclass(frozen=True, slots=True)
class Pattern:
    """A pattern, its place in the source, and the functions that use it."""

    place: str
    made: re.Pattern[Any]
    uses: frozenset[str]


def patterns(module: str) -> Iterator[Pattern]:
    """The patterns of one module. Fails if one is hidden from this search."""
    tree = ast.parse(sources()[module])
    assigned = {
        id(node.value): node.targets[0].id
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name)
    }
    for call, function in calls(tree):
        made = _made(call, function, importlib.import_module(module))
        uses = {function} if function != "compile" else _uses(module, assigned.get(id(call), ""))
        uses = {"finditer" if use in EVERYWHERE else use for use in uses}
        yield Pattern(f"{module}, line {call.lineno}", made, frozenset(uses))


@cache
def sources() -> dict[str, str]:
    """Source of each module."""
    read = {}
    for room in ("agent", "bot", "ingest"):
        for path in sorted((ROOT / room).rglob("*.py")):
            name = ".".join(path.relative_to(ROOT).with_suffix("").parts)
            read[name.removesuffix(".__init__")] = path.read_text(encoding="utf-8")
    return read


def calls(tree: ast.Module) -> Iterator[tuple[ast.Call, str]]:
    """Every ``re.<function>(...)`` of a module. Fails if the module uses ``re`` in another way."""
    called = {id(node.func): node for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module == "re":
            raise AssertionError(f"line {node.lineno} takes from re by name what is not seen then")
        if isinstance(node, ast.Import) and any(a.name == "re" and a.asname for a in node.names):
            raise AssertionError(f"line {node.lineno} calls re by another name")
        if not (isinstance(node, ast.Attribute) and _is_named(node.value, "re")):
            continue
        if node.attr in FLAGS:
            assert id(node) in called, f"line {node.lineno} hands re.{node.attr} on"
            yield called[id(node)], node.attr


def _is_named(node: ast.expr, name: str) -> bool:
    return isinstance(node, ast.Name) and node.id == name


class _Known(ast.NodeTransformer):
    """Replaces every name that a module does not define by a word."""

    def __init__(self, names: Iterable[str]) -> None:
        self._names = {*names, *dir(builtins)}

    def visit_Name(self, node: ast.Name) -> ast.expr:
        known = node.id in self._names
        return node if known else ast.copy_location(ast.Constant(UNKNOWN), node)

    def visit_GeneratorExp(self, node: ast.GeneratorExp) -> ast.GeneratorExp:
        targets = (target for each in node.generators for target in ast.walk(each.target))
        bound = {target.id for target in targets if isinstance(target, ast.Name)}
        _Known({*self._names, *bound}).generic_visit(node)
        return node


def _made(call: ast.Call, function: str, module: ModuleType) -> re.Pattern[Any]:
    given = {word.arg: word.value for word in call.keywords}
    flags = given.get("flags") or (call.args[FLAGS[function] :] or [ast.Constant(0)])[0]
    text = f"re.compile({ast.unparse(call.args[0])}, {ast.unparse(flags)})"
    expression = _Known(vars(module)).visit(ast.parse(text, mode="eval"))
    made = eval(compile(ast.fix_missing_locations(expression), text, "eval"), vars(module))
    assert isinstance(made, re.Pattern)
    return made


@dataclass
class _Used:
    """The functions that one module calls on names."""

    imported: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Modules or packages of the imported names."""
    plain: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Functions by name: ``NAME.search``."""
    dotted: dict[str, set[str]] = field(default_factory=lambda: defaultdict(set))
    """Functions by name in other modules: ``module.NAME.search``."""


def _uses(module: str, name: str) -> set[str]:
    """The functions that use a named pattern, or all if the code passes the pattern on."""
    asked: set[str] = set()
    for other, words in _words().items():
        if name not in words or (name.startswith("_") and other != module):
            continue
        used = _used(other)
        if other == module or any(map(module.startswith, used.imported.get(name, ()))):
            asked |= used.plain.get(name, set())
        asked |= used.dotted.get(name, set())
    return {*ALL} if not name or HANDED_ON in asked else asked & {*FLAGS}


@cache
def _words() -> dict[str, set[str]]:
    return {module: set(re.findall(r"\w+", source)) for module, source in sources().items()}


@cache
def _used(module: str) -> _Used:
    used, tree = _Used(), ast.parse(sources()[module])
    above = {id(child): node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            for alias in node.names:
                used.imported[alias.name].add(node.module or "")
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
    # Asked at one place within the text, it is asked at others, too.
    at_a_place = asks.attr == "match" and isinstance(call, ast.Call) and len(call.args) > 1
    return {asks.attr, "finditer"} if at_a_place else {asks.attr}
