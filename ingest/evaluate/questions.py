"""Question files: one JSON object a line -> questions with the pages and spans that answer them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator

from ingest.errors import SettingsError


class Quote(BaseModel):
    """A span of a page that carries the answer."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    file: str
    quote: str = Field(min_length=1)


class Question(BaseModel):
    """One line of a question file."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: str
    type: Literal["answerable", "followup", "no_answer", "no_search"] = "answerable"
    kind: str
    question: str = Field(min_length=1)
    corpus: str | None = None
    """Folder of docs that it is asked against."""
    history: tuple[str, ...] = ()
    """Earlier messages of the same person, oldest first."""
    gold_files: tuple[str, ...] = ()
    gold_mode: Literal["any", "all"] | None = "any"
    """Whether each gold file answers by itself or all are needed."""
    gold_quotes: tuple[Quote, ...] = ()

    @property
    def query(self) -> str:
        """What is searched for: a follow-up says little without what came before it."""
        return " ".join((*self.history, self.question))

    @property
    def has_answer(self) -> bool:
        return self.type in ("answerable", "followup")

    @model_validator(mode="after")
    def _check(self) -> "Question":
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


Kind = TypeVar("Kind", bound=Question)


def read_questions(path: Path, kind: type[Kind]) -> list[Kind]:
    """Raises SettingsError, which names the first line that is wrong and what it must be."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise SettingsError(f"{path} cannot be read: {error.strerror}.") from None
    except UnicodeDecodeError:
        raise SettingsError(f"{path} is not UTF-8 text. Save it as UTF-8.") from None
    questions: dict[str, Kind] = {}
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        question = _read(line, f"{path}:{number}", kind)
        if question.id in questions:
            raise SettingsError(
                f"{path}:{number}: the id {question.id!r} is there twice. Give each its own."
            )
        questions[question.id] = question
    if not questions:
        raise SettingsError(f"{path} holds no question: write one JSON object a line.")
    return list(questions.values())


def by_corpus(questions: Sequence[Question], corpora: Path) -> dict[str, list[Question]]:
    """Questions by the folder in ``corpora`` that each is asked against; others are left out."""
    grouped: dict[str, list[Question]] = {}
    for question in questions:
        if question.corpus is None:
            if question.has_answer or question.type == "no_answer":
                raise SettingsError(
                    f"question {question.id} has no corpus. Name its folder in {corpora}."
                )
            continue
        grouped.setdefault(question.corpus, []).append(question)
    for corpus, asked in grouped.items():
        if not (corpora / corpus).is_dir():
            raise SettingsError(
                f"question {asked[0].id}: there is no folder {corpora / corpus}. "
                "Correct its corpus, or --corpora."
            )
        for question in asked:
            for file in question.gold_files:
                if not (corpora / corpus / file).is_file():
                    raise SettingsError(
                        f"question {question.id}: there is no file {file} in {corpora / corpus}. "
                        "Correct its gold_files."
                    )
    return grouped


def _read(line: str, where: str, kind: type[Kind]) -> Kind:
    try:
        value: Any = json.loads(line)
    except ValueError as error:
        raise SettingsError(f"{where}: not JSON ({error}). Write one JSON object a line.") from None
    if not isinstance(value, dict):
        raise SettingsError(f"{where}: not a JSON object. Write one JSON object a line.")
    given = {name: part for name, part in value.items() if part is not None}
    try:
        return kind.model_validate(given)
    except ValidationError as error:
        fault = error.errors()[0]
        field = ".".join(map(str, fault["loc"]))
        message = fault["msg"].removeprefix("Value error, ")
        raise SettingsError(f"{where}: {f'{field}: ' if field else ''}{message}.") from None
