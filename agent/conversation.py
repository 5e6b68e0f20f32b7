"""The Conversation: the turns of a Slack thread or a terminal session, as the agent gets them."""

import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, Protocol

from agent.answer import Answer
from agent.model.characters import encodable
from agent.trace import Progress

Speaker = Literal["person", "footnote", "other_bot"]


@dataclass(frozen=True, slots=True)
class CitedChunk:
    """A chunk that an earlier answer cited: id and the content hash it had then."""

    id: str
    hash: str | None = None
    """None if only the id in the text is known."""


@dataclass(frozen=True, slots=True)
class Turn:
    """One message by one speaker."""

    speaker: Speaker
    name: str
    """The speaker's name in the thread: ``oncall``, ``Alertmanager``, ``footnote``."""
    text: str
    """Plain text or Markdown, without Slack's tokens and entities."""
    cited: tuple[CitedChunk, ...] | None = None
    """Chunks that an answer cites. None if nothing but the ids in its text tells them."""

    @property
    def is_answer(self) -> bool:
        """True for an answer of Footnote's, also for one that only quotes passages."""
        return self.speaker == "footnote" or self.cited is not None

    def __post_init__(self) -> None:
        for name in ("name", "text"):
            object.__setattr__(self, name, encodable(getattr(self, name)))


@dataclass(frozen=True, slots=True)
class Conversation:
    """The turns of a thread, oldest first; the last one is the question."""

    turns: tuple[Turn, ...]
    asker_id: str = ""
    """Id of the person who caused this answer, and pays for it; it is never sent to the model."""
    collections: tuple[str, ...] | None = None
    """Collections that the answer may use; None for all of them."""
    wishes: str = ""
    """Language and tone for this channel, in the words of the people who run Footnote."""
    omitted: int = 0
    """Number of turns after the first one that are left out because the thread is too long."""
    waited: float = 0.0
    """Seconds that the question has waited already; they count as time of the answer."""

    @property
    def question(self) -> str:
        """The newest turn's text; a bare mention has none, and asks about the thread."""
        return self.turns[-1].text if self.turns else ""

    @property
    def words_of_others(self) -> str:
        """The earlier words of people and other bots; an answer may repeat names from them."""
        return "\n".join(turn.text for turn in self.earlier if not turn.is_answer)

    @property
    def earlier(self) -> tuple[Turn, ...]:
        return self.turns[:-1]


class Answerer(Protocol):
    """Answers conversations: the agent itself, or a wrapper around it."""

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_paragraph: Callable[[Answer], bool] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Return the answer to the newest turn. Raises Cancelled once ``cancel`` is set.

        ``on_progress`` receives each step as it begins. ``on_paragraph`` receives the checked
        beginning of the answer each time it grows, and returns whether people can see it now.
        """
        ...
