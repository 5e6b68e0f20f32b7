"""The shared acceptance cases: their folder, their rules, and the functions for their parts.

The tests use every part of a case. Each operation and expectation has a function of the same
name, and the fields of an object become that function's arguments. A name, field or value without a
function fails the case, and the message names it.
"""

import inspect
import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from keyword import iskeyword
from pathlib import Path
from typing import Any, TypeVar

import pytest

from tests.conftest import ROOT
from tests.ratchet import FAILS_TODAY

FOLDER = Path(os.environ.get("FOOTNOTE_SHARED", ROOT.parent / "shared")) / "cases"

Json = dict[str, Any]
T = TypeVar("T")
Check = Callable[[Any, Any], Iterator[str]]
"""A result and its expectation -> a line for each fault."""


class Unknown(Exception):
    """A part of a case that the tests do not know."""


class Unmet(AssertionError):
    """Expectations of a case that do not hold."""


@dataclass(frozen=True)
class Case:
    """One line of a family's file."""

    id: str
    family: str
    title: str
    strength: str
    input: Json
    expect: Json
    why: str
    source: list[str]
    folder: Path
    """Folder of the files that the input names."""


def family(name: str) -> list[Any]:
    """A pytest parameter for each case of a family, those of known faults included."""
    lines = [
        (file.parent, json.loads(line))
        for file in (FOLDER / part / f"{name}.jsonl" for part in ("dev", "reports"))
        if file.is_file()
        for line in file.read_text(encoding="utf-8").splitlines()
    ]
    return parameters(name, [(line["id"], {**line, "folder": folder}) for folder, line in lines])


def parameters(what: str, found: Iterable[tuple[str, Json]]) -> list[Any]:
    """Parameters with ids. A case on the list of failing ones must fail, so that the list stays
    true."""
    made = []
    for id_, value in found:
        reason = FAILS_TODAY.get(id_)
        mark = pytest.mark.xfail(raises=Unmet, strict=True, reason=reason) if reason else ()
        made.append(pytest.param(value, id=id_, marks=mark))
    if made:
        return made
    reason = f"no shared cases in {FOLDER} (set FOOTNOTE_SHARED)"
    return [pytest.param({}, id=what, marks=pytest.mark.skip(reason=reason))]


def opened(line: Json) -> Case:
    """The case in a line, with its generator rules expanded."""
    case = call(Case, line)
    one_of(case.strength, "must", "should")
    return Case(**{**vars(case), "input": expanded(case.input), "expect": expanded(case.expect)})


def require(faults: Iterable[str]) -> None:
    """Fail with all faults."""
    if found := list(faults):
        raise Unmet("\n".join(found))


def table(*functions: Callable[..., T]) -> dict[str, Callable[..., T]]:
    """Functions by the name that a case uses for them."""
    return {function.__name__.strip("_"): function for function in functions}


def named(functions: Mapping[str, T], name: str, what: str) -> T:
    if name not in functions:
        raise Unknown(f"{what} {name!r} is not known to the tests")
    return functions[name]


def call(function: Callable[..., T], fields: Mapping[str, Any], *first: object) -> T:
    """Call a function with an object's fields as arguments. An unknown field fails the case."""
    arguments = {f"{name}_" if iskeyword(name) else name: value for name, value in fields.items()}
    try:
        inspect.signature(function).bind(*first, **arguments)
    except TypeError as error:
        raise Unknown(f"{function.__name__}: {error}") from None
    return function(*first, **arguments)


def carry_out(operations: Mapping[str, Callable[..., T]], op: Json, subject: object) -> T:
    """Apply the operation that ``op`` names to the subject."""
    fields = {name: value for name, value in op.items() if name != "op"}
    return call(named(operations, op["op"], "operation"), fields, subject)


def faults(expect: Json, checks: Mapping[str, Check], seen: object) -> list[str]:
    """The expectations of an object that do not hold."""
    known = [(name, named(checks, name, "expectation"), wanted) for name, wanted in expect.items()]
    return [f"{name}: {fault}" for name, check, wanted in known for fault in check(seen, wanted)]


def each(check: Callable[..., Iterator[str]]) -> Check:
    """Make a check for one object or a list of them from a check of the result against an object's
    fields."""

    def all_of(seen: Any, wanted: Json | list[Json]) -> Iterator[str]:
        for fields in wanted if isinstance(wanted, list) else [wanted]:
            yield from call(check, fields, seen)

    all_of.__name__ = check.__name__
    return all_of


def no_exception(_seen: Any, _wanted: bool) -> Iterator[str]:
    """A case without expectations checks nothing."""
    return iter(())


def remark(_seen: Any, _wanted: object) -> Iterator[str]:
    """Accepts a comment for the reader of a case; it expects nothing."""
    return iter(())


def one_of(value: T, *known: T) -> T:
    """The value, if it is a known one."""
    if value not in known:
        raise Unknown(f"{value!r} is none of {known}")
    return value


def expanded(value: Any) -> Any:
    """The value of a generator rule; any other value unchanged."""
    if isinstance(value, list):
        return [expanded(item) for item in value]
    if not isinstance(value, dict):
        return value
    match value:
        case {"$repeat": rule}:
            return rule["join"].join(series(**_range(rule)))
        case {"$repeat_list": rule}:
            return expanded(series(**_range(rule)))
        case {"$concat": parts}:
            return "".join(map(expanded, parts))
        case {"$concat_list": parts}:
            return [item for part in parts for item in expanded(part)]
    if unknown := [name for name in value if name.startswith("$")]:
        raise Unknown(f"generator rule {unknown[0]!r} is not known to the tests")
    return {key: expanded(item) for key, item in value.items()}


def series(template: Any, first: int, last: int) -> list[Any]:
    """The template, repeated for each number."""
    return [_filled(template, number) for number in range(first, last + 1)]


def folded(text: str) -> str:
    """Text with each run of white space as one blank."""
    return " ".join(text.split())


def _range(rule: Json) -> Json:
    return {"template": rule["template"], "first": rule["from"], "last": rule["to"]}


def _filled(template: Any, number: int) -> Any:
    if isinstance(template, list):
        return [_filled(item, number) for item in template]
    if isinstance(template, dict):
        return {_filled(key, number): _filled(item, number) for key, item in template.items()}
    if not isinstance(template, str):
        return template
    return re.sub(r"\{i(?::0(\d+)d)?\}", lambda m: str(number).zfill(int(m[1] or 0)), template)
