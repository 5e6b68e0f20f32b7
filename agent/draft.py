"""One answer in the making: its time, its searches, its steps, its trace and its cost."""

import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any

from anthropic.types import ContentBlock

from agent.answer import Answer, Unsupported, Verdict, WebLink
from agent.conversation import Conversation
from agent.grounding import WrittenAnswer
from agent.grounding.cited_text import CitedText
from agent.model.account import Account
from agent.model.budget import Budget
from agent.model.deadline import Deadline
from agent.model.message_text import read_content
from agent.searches import Retrieval
from agent.tools.base import Corpus
from agent.trace import EventKind, Progress, Trace
from ingest.documents import Passage


class Draft:
    """Collects the parts of an answer. Only the draft's own methods change it."""

    def __init__(
        self,
        conversation: Conversation,
        deadline: Deadline,
        retrieval: Retrieval,
        revision: str | None,
        on_progress: Callable[[Progress], None] | None,
        corpus: Corpus,
        budget: Budget,
    ) -> None:
        self.id = secrets.token_hex(16)
        self.account = Account(budget, conversation.asker_id, self.id)
        self.conversation = conversation
        self.deadline = deadline
        self.retrieval = retrieval
        self.corpus = corpus
        self.trace = Trace()
        self.steps = 0
        """Number of requests to a model so far, without those beside the conversation."""
        self.cut = ""
        """One line with the reason why the text ends early, or empty."""
        self._model: str | None = None
        self._revision = revision
        self._on_progress = on_progress

    def record(self, kind: EventKind, **detail: Any) -> None:
        """Add an event to the trace."""
        self.trace.add(self.deadline.spent, kind, **detail)

    def show(self, progress: Progress) -> None:
        """Tell a waiting person what happens now."""
        if self._on_progress:
            self._on_progress(progress)

    def begin_step(self, model: str) -> None:
        """Count a request to ``model``."""
        self.steps += 1
        self._model = model
        self.show(Progress("thinking"))

    def cut_off(self, why: str) -> None:
        """Record that the text ends early; ``why`` is one line for people."""
        self.cut = why

    def read(self, content: Iterable[ContentBlock]) -> WrittenAnswer:
        """Read a message of the model: it can cite every passage of this answer's retrieval."""
        passages = self.retrieval.passages
        thread = [self.conversation.question, self.conversation.words_of_others]
        documented = "\n".join([*thread, *(passage.text for passage in passages.values())])
        return read_content(content, passages, documented)

    def answer(
        self,
        verdict: Verdict,
        text: CitedText,
        *,
        citations: Sequence[Passage] = (),
        removed: Sequence[str] = (),
        unsupported: Sequence[Unsupported] = (),
        web_links: Sequence[WebLink] = (),
        reason: str = "",
    ) -> Answer:
        """Return the finished answer."""
        self.record("answer", verdict=verdict, citations=[passage.id for passage in citations])
        return replace(
            self.so_far(text, citations),
            verdict=verdict,
            removed=tuple(removed),
            unsupported=tuple(unsupported),
            web_links=tuple(web_links),
            reason=reason,
            searches=tuple(self.retrieval.searches),
            steps=self.steps,
            model=self._model,
            usage=self.account.usage,
            cost_usd=self.account.usd,
            seconds=self.deadline.spent,
            trace=self.trace,
        )

    def so_far(self, text: CitedText, citations: Sequence[Passage]) -> Answer:
        """Return an answer of the part of the text that is checked already."""
        return Answer(
            id=self.id,
            question=self.conversation.question,
            verdict="answered",
            segments=text.segments,
            citations=tuple(citations),
            passages=tuple(self.retrieval.passages.values()),
            revision=self._revision,
        )
