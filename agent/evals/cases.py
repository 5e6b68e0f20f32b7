"""Case files -> what is asked and what is expected: our own labels, or the question files of
``footnote eval retrieval``, whose type says whether to search.
"""

from collections.abc import Sequence
from pathlib import Path

from pydantic import Field, model_validator

from agent.answer import Verdict
from agent.conversation import Conversation, Speaker, Turn
from ingest.errors import SettingsError
from ingest.evaluate.questions import Question, read_questions

_EXPECTED: dict[str, tuple[Verdict, ...]] = {
    "answerable": ("answered",),
    "followup": ("answered",),
    "no_answer": ("not_in_docs",),
    # General knowledge has no source: it is given as such, or it is talk.
    "no_search": ("no_search", "uncited"),
}
_SPEAKERS: dict[str, Speaker] = {"footnote": "footnote", "alert": "other_bot"}


class Case(Question):
    """One question with what is expected of the agent."""

    thread: tuple[tuple[str, str], ...] = ()
    """Earlier turns as (speaker, text): ``footnote`` is us, ``alert`` another bot."""
    search: bool | None = None
    """Whether the docs have to be consulted; None: as the type says."""
    topics: int = Field(default=1, ge=1)
    """Searches that a question needs, since it asks for so many things."""
    facts: tuple[str | tuple[str, ...], ...] = ()
    """What the answer must contain; of several wordings one is enough."""
    never: tuple[str, ...] = ()
    """What it must not contain."""
    verdict: tuple[Verdict, ...] = ()

    @model_validator(mode="after")
    def _one_history(self) -> "Case":
        if self.history and self.thread:
            raise ValueError("thread: give it or history, not both")
        return self

    @property
    def must_search(self) -> bool:
        return self.type != "no_search" if self.search is None else self.search

    @property
    def verdicts(self) -> tuple[Verdict, ...]:
        return self.verdict or _EXPECTED[self.type]

    @property
    def conversation(self) -> Conversation:
        earlier = self.thread or tuple(("asker", text) for text in self.history)
        turns = [Turn(_SPEAKERS.get(name, "person"), name, text) for name, text in earlier]
        return Conversation((*turns, Turn("person", "asker", self.question)))


def read_cases(path: Path, docs: Path, corpora: Path | None) -> dict[Path, list[Case]]:
    """Cases by the folder of docs that each is asked against: ``docs`` where it names no corpus."""
    grouped: dict[Path, list[Case]] = {}
    for case in read_questions(path, Case):
        folder = _folder(case, docs, corpora)
        _check_gold(case, folder)
        grouped.setdefault(folder, []).append(case)
    return grouped


def _folder(case: Case, docs: Path, corpora: Path | None) -> Path:
    if case.corpus is None:
        return docs
    if corpora is None:
        raise SettingsError(
            f"case {case.id} is asked against {case.corpus}: give --corpora, the folder it lies in."
        )
    folder = corpora / case.corpus
    if not folder.is_dir():
        raise SettingsError(f"case {case.id}: there is no folder {folder}. Correct --corpora.")
    return folder


def _check_gold(case: Case, folder: Path) -> None:
    missing: Sequence[str] = [name for name in case.gold_files if not (folder / name).is_file()]
    if missing:
        raise SettingsError(
            f"case {case.id}: there is no {missing[0]} in {folder}. Correct its gold_files."
        )
