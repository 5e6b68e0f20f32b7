"""Case files, one JSON object a line -> questions with the documents and quotes that answer them.

Three kinds of lines are read: those of the shared benchmark, those of ``examples/evals`` (the same
with more fields), and those of a docs repo's ``.footnote/questions.jsonl``.
"""

import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ingest.errors import SettingsError


class Quote(BaseModel):
    """Words of a document that contain the answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    file: str
    quote: str = Field(min_length=1)

    def end_in(self, text: str) -> int | None:
        """Position after the quote in ``text``, however its words are spaced, or None."""
        words = r"\s+".join(re.escape(word) for word in self.quote.split())
        match = re.search(words, text)
        return match.end() if match else None


class Case(BaseModel):
    """One question, and the documents and quotes that answer it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    type: Literal["answerable", "followup", "no_answer", "no_search"] = "answerable"
    kind: str
    question: str = Field(min_length=1)
    corpus: str | None = None
    """Name of the folder of documents that the question is about."""
    history: tuple[str, ...] = ()
    """Earlier messages of the same person, oldest first."""
    gold_files: tuple[str, ...] = ()
    gold_mode: Literal["any", "all"] | None = "any"
    """``any``: each gold file answers by itself; ``all``: only all of them together do."""
    gold_quotes: tuple[Quote, ...] = ()

    @property
    def query(self) -> str:
        """The search query: a follow-up says little without the messages before it."""
        return " ".join((*self.history, self.question))

    @property
    def has_answer(self) -> bool:
        return self.type in ("answerable", "followup")

    def gold_share(self, files: Iterable[str]) -> float:
        """Share of the gold files among ``files``; 1 for any of them where one is enough."""
        hits = len(set(self.gold_files).intersection(files))
        return hits / len(self.gold_files) if self.gold_mode == "all" else float(hits > 0)

    @model_validator(mode="after")
    def _check(self) -> "Case":
        if not self.has_answer:
            return self
        if not self.gold_files:
            raise ValueError("gold_files: name at least one page, or set type to no_answer")
        stray = {quote.file for quote in self.gold_quotes} - set(self.gold_files)
        if stray:
            raise ValueError(f"gold_quotes: {min(stray)} is not one of gold_files")
        if self.type == "followup" and not self.history:
            raise ValueError("history: give the messages before a followup")
        return self


AnyCase = TypeVar("AnyCase", bound=Case)


def read_cases(path: Path, model: type[AnyCase]) -> list[AnyCase]:
    """Read a case file.

    Raises SettingsError, which names the first line that is wrong and how to mend it.
    """
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    cases: dict[str, AnyCase] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        case = _read(line, f"{path}:{number}", number, model)
        if case.id in cases:
            raise SettingsError(
                f"{path}:{number}: the id {case.id!r} is there twice. Give each its own."
            )
        cases[case.id] = case
    if not cases:
        raise SettingsError(f"{path} holds no question: write one JSON object a line.")
    return list(cases.values())


def by_folder(
    cases: Sequence[AnyCase], docs: Path | None, corpora: Path | None
) -> dict[Path, list[AnyCase]]:
    """Cases, grouped by the folder of documents that answers them.

    ``docs`` is the folder of cases without a corpus, ``corpora`` holds the folders of the others.
    Raises SettingsError where a folder or a gold file does not exist.
    """
    grouped: dict[Path, list[AnyCase]] = {}
    for case in cases:
        folder = _folder(case, docs, corpora)
        for file in case.gold_files:
            if not (folder / file).is_file():
                raise SettingsError(
                    f"case {case.id}: there is no file {file} in {folder}. Correct its gold_files."
                )
        grouped.setdefault(folder, []).append(case)
    return grouped


def _folder(case: Case, docs: Path | None, corpora: Path | None) -> Path:
    if case.corpus is None:
        if docs is None:
            raise SettingsError(f"case {case.id} has no corpus. Name its folder in {corpora}.")
        return docs
    if corpora is None:
        raise SettingsError(
            f"case {case.id} is asked against {case.corpus}: give --corpora, the folder it lies in."
        )
    folder = corpora / case.corpus
    if not folder.is_dir():
        raise SettingsError(
            f"case {case.id}: there is no folder {folder}. Correct its corpus, or --corpora."
        )
    return folder


def _read(line: str, where: str, number: int, model: type[AnyCase]) -> AnyCase:
    try:
        value: Any = json.loads(line)
    except ValueError as error:
        raise SettingsError(f"{where}: not JSON ({error}). Write one JSON object a line.") from None
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: not a JSON object. Write one JSON object a line.")
    fields = {name: part for name, part in value.items() if part is not None}
    if "path" in fields and "gold_files" not in fields:
        fields = _own_question(fields, number)
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        message = fault["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{where}: {f'{field}: ' if field else ''}{message}.") from None


def _own_question(fields: dict[str, Any], number: int) -> dict[str, Any]:
    """A line of ``.footnote/questions.jsonl`` has the answering documents as ``path``."""
    path = fields["path"]
    gold_files = [path] if isinstance(path, str) else path
    return {"id": f"line-{number}", "kind": "own", "gold_files": gold_files, **fields}
