"""``footnote.toml`` -> validated sections, for settings that are too long for the environment.

This module reads the file and its ``[collections]``. Other packages define the models of their
sections and pass the names here, so the module is near the bottom of the import layers. A mistake
becomes one line with the file, the line number and the cure.
"""

import re
import tomllib
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    Strict,
    ValidationError,
)

from ingest.errors import SettingsError
from ingest.globs import checked_glob

DEFAULT_NAME = "footnote.toml"
_SECTIONS = ("collections",)
"""Sections that this module reads."""
_NAME = re.compile(r"[\w.-]{1,64}")
_EXPECTED = {
    "bool_type": "has to be true or false",
    "string_type": "has to be a text in quotes",
    "tuple_type": 'has to be a list in brackets, such as ["runbooks/**"]',
    "too_short": "is empty: name at least one",
    "missing": "is missing",
    "dict_type": "has to be a section of its own",
    "model_type": "has to be a section of its own",
}


class Section(BaseModel):
    """Base of the models of sections; an unknown key is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


S = TypeVar("S", bound=Section)


def one_line(text: object) -> object:
    """Strip a text. Raises ValueError unless it is one line of at most 300 characters."""
    if isinstance(text, str) and (not text.strip() or "\n" in text.strip() or len(text) > 300):
        raise ValueError("has to be one line of at most 300 characters")
    return text.strip() if isinstance(text, str) else text


Line = Annotated[str, BeforeValidator(one_line)]
Glob = Annotated[str, AfterValidator(checked_glob)]


class DocsCollection(Section):
    """A named part of the docs."""

    paths: Annotated[tuple[Glob, ...], Strict(False), Field(min_length=1)]
    """Globs relative to the docs root."""
    description: Line
    """Its content in one line, by which the model chooses it."""


@dataclass(frozen=True)
class ConfigFile:
    """The parsed file; empty without a file."""

    path: Path = Path(DEFAULT_NAME)
    text: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)

    def section(self, name: str, kind: type[S]) -> dict[str, S]:
        """Return the entries of ``[name.*]`` in the order of the file. Raises SettingsError."""
        entries = self.tables.get(name, {})
        if not isinstance(entries, dict):
            raise self.mistake((name,), f"has to be sections such as [{name}.NAME]")
        return {entry: self._entry((name, entry), kind, value) for entry, value in entries.items()}

    def mistake(self, keys: Sequence[str], what: str) -> SettingsError:
        """Return an error about the value of these keys."""
        name = ".".join(key if _NAME.fullmatch(key) else f'"{key}"' for key in keys)
        end = "" if what.endswith("?") else "."
        return SettingsError(f"{self.path}, line {self._line(keys)}: {name} {what}{end}")

    def _entry(self, keys: tuple[str, str], kind: type[S], value: object) -> S:
        try:
            return kind.model_validate(value)
        except ValidationError as error:
            # A misspelt key is also a missing key: report the misspelling.
            fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        # Items of a list have no separate line.
        inner = [str(part) for part in fault["loc"] if isinstance(part, str)]
        if fault["type"] == "extra_forbidden":
            raise self._unknown((*keys, inner[-1]), list(kind.model_fields))
        if fault["type"] == "value_error":
            what = str(fault["ctx"]["error"])
        else:
            what = _EXPECTED.get(fault["type"], f"is wrong ({fault['msg']})")
        raise self.mistake((*keys, *inner), what)

    def _unknown(self, keys: Sequence[str], valid: Sequence[str]) -> SettingsError:
        near = get_close_matches(keys[-1], valid, n=1)
        cure = f"Did you mean {near[0]}?" if near else f"Use one of {', '.join(valid)}"
        return self.mistake(keys, f"is not known. {cure}")

    def check_sections(self, others: Sequence[str] | None) -> None:
        """Raise SettingsError for a section that no package reads.

        Without the names of ``others``, only a section similar to one of this module is an error.
        """
        for name in self.tables:
            valid = (*_SECTIONS, *(others or ()))
            if name not in valid and (others is not None or get_close_matches(name, _SECTIONS)):
                raise self._unknown((name,), valid)

    def _line(self, keys: Sequence[str]) -> int:
        """Return the line of the statement that sets these keys, or of the section around them.

        A statement ends where the text up to its end is valid TOML.
        """
        lines = self.text.split("\n")

        def read(end: int) -> tuple[int, dict[str, Any]]:
            """Parse the complete statements in the first lines: their last line, their values."""
            while end:
                with suppress(ValueError):
                    return end, tomllib.loads("\n".join(lines[:end]))
                end -= 1
            return 0, {}

        for length in range(len(keys), 0, -1):
            wanted = keys[:length]
            ends = range(len(lines) + 1)
            end = bisect_left(ends, True, key=lambda end: _holds(read(end)[1], wanted))
            if end in ends:
                return read(end - 1)[0] + 1
        return 1


def read_config_file(file: Path | None, others: Sequence[str] | None = None) -> ConfigFile:
    """Read the file of FOOTNOTE_CONFIG; for None, ``footnote.toml`` in the working folder, if any.

    ``others`` are the sections that the caller reads besides ``[collections]``. Raises
    SettingsError.
    """
    path = file or Path(DEFAULT_NAME)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if file is None:
            return ConfigFile()
        raise SettingsError(f"FOOTNOTE_CONFIG: there is no file {path}.") from None
    except OSError as error:
        raise SettingsError(f"{path} cannot be read ({error.strerror}).") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    try:
        config = ConfigFile(path, text, tomllib.loads(text))
    except (ValueError, RecursionError) as error:
        raise SettingsError(f"{path} is not TOML: {_in_one_line(str(error))}.") from None
    config.check_sections(others)
    return config


def read_collections(config: ConfigFile) -> dict[str, DocsCollection]:
    """Return the collections by name. Raises SettingsError."""
    collections = config.section("collections", DocsCollection)
    for name, collection in collections.items():
        if not _NAME.fullmatch(name):
            raise config.mistake(
                ("collections", name),
                "has a name with characters other than letters, digits, . _ and -",
            )
        if all(glob.startswith("!") for glob in collection.paths):
            raise config.mistake(
                ("collections", name, "paths"), "only has globs that exclude: add one that includes"
            )
    return collections


def _holds(tables: Any, keys: Sequence[str]) -> bool:
    for key in keys:
        if not isinstance(tables, dict) or key not in tables:
            return False
        tables = tables[key]
    return True


def _in_one_line(message: str) -> str:
    """``Invalid value (at line 3, column 9)`` -> ``line 3, column 9: Invalid value``."""
    reason, _, position = message.rpartition(" (at ")
    return f"{position.rstrip(')')}: {reason}" if reason else message
