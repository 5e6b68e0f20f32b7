"""One answer in the making: its time, its searches, its trace, its cost."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from typing import Any

from anthropic.types import Message

from agent.answer import Answer, Segment, Unsupported, Usage, Verdict, WebLink
from agent.conversation import Conversation
from agent.errors import ModelUnavailable
from agent.grounding import read_segments
from agent.model.cost import add, cost_usd, tokens
from agent.model.deadline import Deadline
from agent.searches import Retrieval
from agent.tools.base import Corpus
from agent.trace import Kind, Progress, Trace
from ingest.documents import Passage


class Draft:
    """What is known of an answer before it is one."""

    def __init__(
        self,
        conversation: Conversation,
        deadline: Deadline,
        retrieval: Retrieval,
        revision: str | None,
        on_progress: Callable[[Progress], None] | None,
        corpus: Corpus,
    ) -> None:
        self.id = secrets.token_hex(5)
        self.conversation = conversation
        self.deadline = deadline
        self.retrieval = retrieval
        self.corpus = corpus
        self.trace = Trace()
        self.steps = 0
        self.one_step: bool | None = None
        """Whether the first request is the only one; None until that is decided."""
        self.model: str | None = None
        self.cut = ""
        """Why the text ends early, in one line."""
        self._revision = revision
        self._on_progress = on_progress
        self.on_text: Callable[[str], None] | None = None
        """Hears the text of a message while the model writes it."""
        self.is_shown = False
        """Whether people see a part of it already: it may be continued, and not be mended."""
        self._usage = Usage()
        self._cost: float | None = 0.0

    def note(self, kind: Kind, **detail: Any) -> None:
        """Record what happened."""
        self.trace.add(self.deadline.spent, kind, **detail)

    def show(self, progress: Progress) -> None:
        """Tell a waiting person."""
        if self._on_progress:
            self._on_progress(progress)

    def wrote(self, text: str) -> None:
        if not text:
            self.show(Progress("writing"))
        elif self.on_text:
            self.on_text(text)

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        self.note("retry", error=str(error), wait=round(wait, 3))

    def charge(self, model: str, message: Message) -> dict[str, Any]:
        """Add a response's usage; returned as it goes into the trace."""
        usage = message.usage.model_dump(mode="json", exclude_none=True)
        spent = tokens(usage)
        self._usage = add(self._usage, spent)
        # Nothing counted is not nothing spent: some gateways leave the usage out.
        cost = cost_usd(model, usage) if spent != Usage() else None
        self._cost = None if cost is None or self._cost is None else self._cost + cost
        return {
            **asdict(spent),
            "cost_usd": None if cost is None else round(cost, 6),
        }

    def answer(
        self,
        verdict: Verdict,
        text: str,
        *,
        citations: Sequence[Passage] = (),
        removed: Sequence[str] = (),
        unsupported: Sequence[Unsupported] = (),
        web_links: Sequence[WebLink] = (),
        reason: str = "",
    ) -> Answer:
        """The finished answer."""
        self.note("answer", verdict=verdict, citations=[passage.id for passage in citations])
        return replace(
            self.so_far(text, citations),
            verdict=verdict,
            removed=tuple(removed),
            unsupported=tuple(unsupported),
            web_links=tuple(web_links),
            reason=reason,
            searches=tuple(self.retrieval.searches),
            steps=self.steps,
            model=self.model,
            usage=self._usage,
            cost_usd=self._cost,
            seconds=self.deadline.spent,
            trace=self.trace,
        )

    def so_far(self, text: str, citations: Sequence[Passage]) -> Answer:
        """The part of an answer that was checked already."""
        return Answer(
            id=self.id,
            question=self.conversation.question,
            verdict="answered",
            segments=self._segments(text, citations),
            citations=tuple(citations),
            passages=tuple(self.retrieval.sources.values()),
            revision=self._revision,
        )

    def _segments(self, text: str, citations: Sequence[Passage]) -> tuple[Segment, ...]:
        passages = {p.id: p for p in (*citations, *self.retrieval.sources.values())}
        texts = [passage.text for passage in passages.values()]
        documented = "\n".join([self.conversation.question, *texts])
        return read_segments(text, passages, documented)
