"""``footnote.toml`` -> validated sections: what is too long for the environment.

This module knows the file and its ``[collections]``; the model of another section belongs to the
package that uses it. A mistake ends in one line: file, line number, and what to write instead.
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
from ingest.settings import IndexSettings

DEFAULT_NAME = "footnote.toml"
_OWN = ("collections",)
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
    """What one section may hold; anything else is a mistake that is pointed out."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


S = TypeVar("S", bound=Section)


def one_line(text: object) -> object:
    if isinstance(text, str) and (not text.strip() or "\n" in text.strip() or len(text) > 300):
        raise ValueError("has to be one line of at most 300 characters")
    return text.strip() if isinstance(text, str) else text


Line = Annotated[str, BeforeValidator(one_line)]
Glob = Annotated[str, AfterValidator(checked_glob)]


class Collection(Section):
    """A named part of the docs."""

    paths: Annotated[tuple[Glob, ...], Strict(False), Field(min_length=1)]
    """Globs relative to the docs root."""
    description: Line
    """What is in it, in one line: the model chooses by it."""


@dataclass(frozen=True)
class ConfigFile:
    """The file as read; without one, nothing is configured."""

    path: Path = Path(DEFAULT_NAME)
    text: str = ""
    tables: Mapping[str, Any] = field(default_factory=dict)

    def section(self, name: str, kind: type[S]) -> dict[str, S]:
        """The entries of ``[name.*]``, in the order of the file."""
        entries = self.tables.get(name, {})
        if not isinstance(entries, dict):
            raise self.mistake((name,), f"has to be sections such as [{name}.NAME]")
        return {entry: self._entry((name, entry), kind, given) for entry, given in entries.items()}

    def mistake(self, keys: Sequence[str], what: str) -> SettingsError:
        """An error about what stands under these keys."""
        name = ".".join(key if _NAME.fullmatch(key) else f'"{key}"' for key in keys)
        end = "" if what.endswith("?") else "."
        return SettingsError(f"{self.path}, line {self._line(keys)}: {name} {what}{end}")

    def _entry(self, keys: tuple[str, str], kind: type[S], given: object) -> S:
        try:
            return kind.model_validate(given)
        except ValidationError as error:
            # A misspelt key is also one that is missing: say what it is, not what it is not.
            fault = min(error.errors(), key=lambda fault: fault["type"] != "extra_forbidden")
        # Items of a list have no line of their own.
        place = [str(part) for part in fault["loc"] if isinstance(part, str)]
        if fault["type"] == "extra_forbidden":
            raise self._unknown((*keys, place[-1]), list(kind.model_fields))
        if fault["type"] == "value_error":
            what = str(fault["ctx"]["error"])
        else:
            what = _EXPECTED.get(fault["type"], f"is wrong ({fault['msg']})")
        raise self.mistake((*keys, *place), what)

    def _unknown(self, keys: Sequence[str], known: Sequence[str]) -> SettingsError:
        near = get_close_matches(keys[-1], known, n=1)
        cure = f"Did you mean {near[0]}?" if near else f"There is {', '.join(known)}"
        return self.mistake(keys, f"is not known. {cure}")

    def check_sections(self, others: Sequence[str] | None) -> None:
        """Raise SettingsError for a section that nobody reads.

        Without the names of ``others``, a section is a mistake only where it resembles our own.
        """
        for name in self.tables:
            known = (*_OWN, *(others or ()))
            if name not in known and (others is not None or get_close_matches(name, _OWN)):
                raise self._unknown((name,), known)

    def _line(self, keys: Sequence[str]) -> int:
        """Where the statement begins that gives these keys a value, or else the one around them.

        Statements end where the text up to there can be read as a file of its own.
        """
        lines = self.text.split("\n")

        def read(end: int) -> tuple[int, dict[str, Any]]:
            """The statements that end on these first lines, and the last line of them."""
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


def read_config_file(settings: IndexSettings, others: Sequence[str] | None = None) -> ConfigFile:
    """The file that FOOTNOTE_CONFIG names, else ``footnote.toml`` here, if there is one.

    ``others``: the sections that the caller reads besides ``[collections]``.
    """
    path = settings.config or Path(DEFAULT_NAME)
    try:
        text = path.read_text(encoding="utf-8-sig")
    except FileNotFoundError:
        if settings.config is None:
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


def read_collections(config: ConfigFile) -> dict[str, Collection]:
    """The named parts of the docs."""
    collections = config.section("collections", Collection)
    for name, collection in collections.items():
        if not _NAME.fullmatch(name):
            raise config.mistake(
                ("collections", name), "has a name of other than letters, digits, . _ and -"
            )
        if all(glob.startswith("!") for glob in collection.paths):
            raise config.mistake(
                ("collections", name, "paths"), "only excludes: name first what it holds"
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
    said, _, place = message.rpartition(" (at ")
    return f"{place.rstrip(')')}: {said}" if said else message
