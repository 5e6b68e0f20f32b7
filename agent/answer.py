"""The answer that leaves the agent: text, citations, verdict, and its history."""

from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from typing import Any, Literal

from agent.trace import Trace
from ingest.documents import Passage

Verdict = Literal[
    "answered",
    "partly",
    "uncited",
    "not_in_docs",
    "no_search",
    "retrieval_only",
    "failed",
]


@dataclass(frozen=True, slots=True)
class Citation:
    """A pointer from the end of a segment to a chunk."""

    id: str
    cited_text: str = ""
    """The chunk's words that support the claim; empty if the model wrote only the id."""
    paragraphs: tuple[int, ...] = ()
    """Numbers, from 0, of the chunk's paragraphs that these words come from."""


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of an answer's Markdown, and the citations at its end.

    The texts of all segments, put together, are the Markdown without any bracketed id.
    """

    text: str
    citations: tuple[Citation, ...] = ()


@dataclass(frozen=True, slots=True)
class Unsupported:
    """A span of the answer that is in none of the chunks cited with it."""

    span: str
    reason: str


@dataclass(frozen=True, slots=True)
class Search:
    """One search that the agent made."""

    query: str
    ids: tuple[str, ...]
    distances: tuple[float, ...]
    weak: bool = False

    def traced(self) -> dict[str, Any]:
        """The result for a trace, without the query, which can be a person's words."""
        distances = [round(distance, 4) for distance in self.distances]
        return {"ids": list(self.ids), "distances": distances, "weak": self.weak}


@dataclass(frozen=True, slots=True)
class WebLink:
    """A page on the web that the answer names, outside the docs."""

    url: str
    title: str = ""


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens of all requests together."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer to one question."""

    id: str
    """Short and unique; the journal, metadata and error texts name the answer by it."""
    question: str
    verdict: Verdict
    segments: tuple[Segment, ...] = ()
    """The Markdown, split at its citations, with the marks on unsupported spans."""
    citations: tuple[Passage, ...] = ()
    """The chunks cited in ``segments``, in order of first citation."""
    passages: tuple[Passage, ...] = ()
    """Every passage retrieved for this answer, best first."""
    removed: tuple[str, ...] = ()
    """Ids that the model cited although they were never retrieved in this thread."""
    unsupported: tuple[Unsupported, ...] = ()
    web_links: tuple[WebLink, ...] = ()
    """The addresses in the part of the text that is labelled as from the web."""
    reason: str = ""
    """One line for people: the reason why the answer is retrieval-only, failed or cut off.

    It never contains the text of an exception.
    """
    searches: tuple[Search, ...] = ()
    steps: int = 0
    model: str | None = None
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    """None if the price of the model is not known."""
    seconds: float = 0.0
    revision: str | None = None
    trace: Trace = field(default_factory=Trace)

    @property
    def text(self) -> str:
        """Markdown with ``[chunk-id]`` after each claim."""
        return written(self.segments)

    def _quotes(self, chunk_id: str) -> Iterable[str]:
        """The words of a chunk that the API quoted in support of the text."""
        citations = (citation for segment in self.segments for citation in segment.citations)
        words = (c.cited_text for c in citations if c.id == chunk_id and c.cited_text)
        return dict.fromkeys(words)

    def to_json(self) -> dict[str, Any]:
        return {
            "id": self.id,
            "question": self.question,
            "verdict": self.verdict,
            "text": self.text,
            "reason": self.reason,
            "citations": [
                {
                    "id": passage.id,
                    "path": passage.path,
                    "heading": list(passage.heading),
                    "lines": list(passage.lines),
                    "url": passage.url,
                    "quotes": list(self._quotes(passage.id)),
                }
                for passage in self.citations
            ],
            "removed": list(self.removed),
            "unsupported": [asdict(unsupported) for unsupported in self.unsupported],
            "web_links": [asdict(link) for link in self.web_links],
            "searches": [{"query": search.query, **search.traced()} for search in self.searches],
            "steps": self.steps,
            "model": self.model,
            "usage": asdict(self.usage),
            "cost_usd": self.cost_usd,
            "seconds": round(self.seconds, 3),
            "revision": self.revision,
        }


def written(segments: Iterable[Segment]) -> str:
    """Segments -> Markdown with each citation as ``[chunk-id]``."""
    parts: list[str] = []
    for segment in segments:
        parts += [segment.text, " ".join(f"[{citation.id}]" for citation in segment.citations)]
    return "".join(parts)
