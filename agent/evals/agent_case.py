"""A case of the agent's evals: a question, and the expected answer."""

from pathlib import Path

from pydantic import Field, model_validator

from agent.answer import Verdict
from agent.conversation import Conversation, Speaker, Turn
from ingest.evaluate.cases import Case, by_folder, read_cases

_EXPECTED: dict[str, tuple[Verdict, ...]] = {
    "answerable": ("answered",),
    "followup": ("answered",),
    "no_answer": ("not_in_docs",),
    # General knowledge has no source; it is marked as such, or counts as small talk.
    "no_search": ("no_search", "uncited"),
}
_SPEAKERS: dict[str, Speaker] = {"footnote": "footnote", "alert": "other_bot"}


class AgentCase(Case):
    """A case with the expected answer; by default the type of the case decides what is expected."""

    thread: tuple[tuple[str, str], ...] = ()
    """Earlier turns as (speaker, text): ``footnote`` is us, ``alert`` another bot."""
    search: bool | None = None
    """True if the agent has to consult the docs; None means that the type decides."""
    topics: int = Field(default=1, ge=1)
    """Number of topics in the question; each needs a separate search."""
    facts: tuple[str | tuple[str, ...], ...] = ()
    """Texts that the answer must contain; one of several wordings is enough."""
    never: tuple[str, ...] = ()
    """Texts that the answer must not contain."""
    verdict: tuple[Verdict, ...] = ()

    @model_validator(mode="after")
    def _one_history(self) -> "AgentCase":
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


def read_agent_cases(path: Path, docs: Path, corpora: Path | None) -> dict[Path, list[AgentCase]]:
    """Cases, grouped by the folder of documents that answers them."""
    return by_folder(read_cases(path, AgentCase), docs, corpora)
