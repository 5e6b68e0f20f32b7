"""One answer in the making: its time, its searches, its trace, its cost."""

import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from anthropic.types import Message

from agent.answer import Answer, Unsupported, Usage, Verdict, WebLink
from agent.conversation import Conversation
from agent.cost import add, cost_usd, tokens
from agent.deadline import Deadline
from agent.retrieval import Retrieval
from agent.tools.base import Corpus
from agent.trace import Trace
from ingest.documents import Passage


@dataclass(frozen=True, slots=True)
class Progress:
    """What a waiting person is shown."""

    kind: Literal["thinking", "searching", "reading", "writing"]
    detail: str = ""
    """The query or the path."""


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

    def note(self, kind: str, **detail: Any) -> None:
        """Record what happened; what a waiting person cares for is shown at once."""
        if kind in ("thinking", "searching", "reading", "writing"):
            if self._on_progress:
                self._on_progress(Progress(kind, detail.get("detail", "")))  # type: ignore[arg-type]  # narrowed above
            return
        if kind == "text":
            if self.on_text:
                self.on_text(detail["text"])
            return
        self.trace.add(self.deadline.spent, kind, **detail)

    def charge(self, model: str, message: Message) -> dict[str, Any]:
        """Add a response's usage; returned as it goes into the trace."""
        usage = message.usage.model_dump(mode="json", exclude_none=True)
        spent = tokens(usage)
        self._usage = add(self._usage, spent)
        cost = cost_usd(model, usage)
        self._cost = None if cost is None or self._cost is None else self._cost + cost
        return {
            "input_tokens": spent.input_tokens,
            "output_tokens": spent.output_tokens,
            "cache_read_tokens": spent.cache_read_tokens,
            "cache_write_tokens": spent.cache_write_tokens,
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
            text=text,
            citations=tuple(citations),
            passages=tuple(self.retrieval.sources.values()),
            revision=self._revision,
        )
