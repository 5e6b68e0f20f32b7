"""The script of the fake Messages server: turns, faults and stalls.

A ``Turn`` is one assistant message. It becomes content blocks and, for a stream, the events that
build them. The other values describe responses that go wrong.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

Json = dict[str, Any]


@dataclass(frozen=True)
class Cite:
    """A pointer to blocks ``first`` to ``last`` (exclusive) of a search_result of the request."""

    source: str
    first: int = 0
    last: int | None = None


@dataclass(frozen=True)
class Text:
    """One text block; ``cites`` become ``search_result_location`` citations of it."""

    text: str
    cites: Sequence[Cite | str] = ()


@dataclass(frozen=True)
class Turn:
    """One assistant message: thinking, then text, then tool calls, then ``blocks`` as they are."""

    text: str | Sequence[str | Text] = ""
    tools: Sequence[tuple[str, Mapping[str, Any]]] = ()
    thinking: str | None = None
    """None: no thinking block. Empty: a block with only a signature, as ``display: omitted``."""
    blocks: Sequence[Json] = ()
    stop: str | None = None
    """Stop reason; by default ``tool_use`` with tools, else ``end_turn``."""
    stop_details: Json | None = None
    stop_sequence: str | None = None
    cut_tool: bool = False
    """The last tool call's JSON stops in the middle, and the stop reason is ``max_tokens``."""
    citations_first: bool = False
    """Stream a block's citations before its text."""
    extra_events: Sequence[Json] = ()
    """Unknown events, sent after the first block has started."""
    delay: float = 0.0
    """Seconds before each event."""
    usage: Json = field(default_factory=dict)

    @property
    def stop_reason(self) -> str:
        if self.stop is not None:
            return self.stop
        if self.cut_tool:
            return "max_tokens"
        return "tool_use" if self.tools else "end_turn"

    @property
    def details(self) -> Json | None:
        if self.stop_reason == "refusal":
            return self.stop_details or {"type": "refusal", "category": None, "explanation": None}
        return self.stop_details


@dataclass(frozen=True)
class Fault:
    """An HTTP error instead of a response."""

    status: int = 529
    type: str | None = None
    message: str = "scripted fault"
    retry_after: float | None = None
    body: bytes | None = None
    """Body to send instead of an error object: a gateway's HTML page, half a JSON object."""


@dataclass(frozen=True)
class Broken:
    """A stream that begins as ``turn`` and breaks ``after`` that many events.

    ``error``: an ``error`` event with status 200; ``eof``: it ends without ``message_stop``;
    ``reset``: the connection drops; ``garbage``: an event whose data is not JSON.
    ``after=0`` with ``eof`` is an empty stream.
    """

    turn: Turn = field(default_factory=lambda: Turn(text="This answer breaks off in the middle."))
    how: Literal["error", "eof", "reset", "garbage"] = "error"
    after: int = 4
    type: str = "overloaded_error"


@dataclass(frozen=True)
class Stall:
    """Silence. ``connect``: accepted, no answer; ``first_byte``: headers, no event;
    ``mid``: some events, then nothing; ``pings``: only pings, for as long as the client stays.

    After ``seconds`` (None: until the server closes) the turn continues normally.
    """

    where: Literal["connect", "first_byte", "mid", "pings"] = "mid"
    turn: Turn = field(default_factory=lambda: Turn(text="This answer comes late."))
    seconds: float | None = None


Step = Turn | Fault | Broken | Stall


def error_type(status: int) -> str:
    """The API's name for an HTTP status."""
    names = {
        400: "invalid_request_error",
        401: "authentication_error",
        402: "billing_error",
        403: "permission_error",
        404: "not_found_error",
        413: "request_too_large",
        429: "rate_limit_error",
        504: "timeout_error",
        529: "overloaded_error",
    }
    return names.get(status, "api_error" if status >= 500 else "invalid_request_error")


def content_blocks(
    turn: Turn, number: int, signature: str, results: Sequence[tuple[int, Json]]
) -> list[Json]:
    """The message's content, complete. ``results``: the request's search_results, numbered."""
    blocks: list[Json] = []
    if turn.thinking is not None:
        blocks.append({"type": "thinking", "thinking": turn.thinking, "signature": signature})
    parts = [turn.text] if isinstance(turn.text, str) else turn.text
    for part in parts:
        text = Text(part) if isinstance(part, str) else part
        if text.text:
            cites = [_location(cite, results) for cite in text.cites]
            cited = {"citations": cites} if cites else {}
            blocks.append({"type": "text", "text": text.text, **cited})
    for call, (name, arguments) in enumerate(turn.tools):
        blocks.append(
            {
                "type": "tool_use",
                "id": f"toolu_{number:03d}{call:02d}",
                "name": name,
                "input": dict(arguments),
                "caller": {"type": "direct"},
            }
        )
    blocks.extend(dict(block) for block in turn.blocks)
    return blocks


def _location(cite: Cite | str, results: Sequence[tuple[int, Json]]) -> Json:
    cite = Cite(cite) if isinstance(cite, str) else cite
    for index, result in results:
        if result["source"] == cite.source:
            last = cite.last if cite.last is not None else cite.first + 1
            texts = [block["text"] for block in result["content"][cite.first : last]]
            if not texts:
                raise ScriptError(f"{cite.source} has no blocks {cite.first} to {last}")
            return {
                "type": "search_result_location",
                "source": cite.source,
                "title": result["title"],
                "cited_text": "".join(texts),
                "search_result_index": index,
                "start_block_index": cite.first,
                "end_block_index": last,
            }
    raise ScriptError(f"the script cites {cite.source}, which is no search_result of the request")


class ScriptError(Exception):
    """The script asks for something the real API cannot answer."""


def stream_events(turn: Turn, message: Json) -> Iterator[Json]:
    """The events whose accumulation is ``message``."""
    usage = message["usage"]
    endings = ("stop_reason", "stop_sequence", "stop_details")
    start = {**message, "content": [], **dict.fromkeys(endings)}
    yield {"type": "message_start", "message": {**start, "usage": {**usage, "output_tokens": 1}}}
    last = len(message["content"]) - 1
    for index, block in enumerate(message["content"]):
        cut = turn.cut_tool and index == last
        for number, event in enumerate(_block_events(block, cut, turn.citations_first)):
            yield {**event, "index": index}
            if index == number == 0:
                yield {"type": "ping"}
                yield from turn.extra_events
        yield {"type": "content_block_stop", "index": index}
    yield {
        "type": "message_delta",
        "delta": {name: message[name] for name in endings},
        # All counts so far, but for what is told only once.
        "usage": {key: count for key, count in usage.items() if isinstance(count, int)},
    }
    yield {"type": "message_stop"}


def _block_events(block: Json, cut: bool, citations_first: bool) -> Iterator[Json]:
    kind = block["type"]
    if kind == "text":
        cited: Json = {"citations": []} if "citations" in block else {}
        yield _begin({**block, "text": "", **cited})
        texts = [{"type": "text_delta", "text": piece} for piece in _pieces(block["text"])]
        cites = [{"type": "citations_delta", "citation": c} for c in block.get("citations", ())]
        yield from map(_delta, cites + texts if citations_first else texts + cites)
    elif kind == "thinking":
        yield _begin({**block, "thinking": "", "signature": ""})
        for piece in _pieces(block["thinking"]):
            yield _delta({"type": "thinking_delta", "thinking": piece})
        yield _delta({"type": "signature_delta", "signature": block["signature"]})
    elif kind in ("tool_use", "server_tool_use"):
        yield _begin({**block, "input": {}})
        written = json.dumps(block["input"], ensure_ascii=False)
        if cut:
            written = written[: max(1, len(written) * 2 // 3)]
        yield _delta({"type": "input_json_delta", "partial_json": ""})
        for piece in _pieces(written):
            yield _delta({"type": "input_json_delta", "partial_json": piece})
    else:
        yield _begin(block)


def _begin(block: Json) -> Json:
    return {"type": "content_block_start", "content_block": block}


def _delta(delta: Json) -> Json:
    return {"type": "content_block_delta", "delta": delta}


def _pieces(text: str, size: int = 24) -> Iterator[str]:
    """A text in the small pieces a model's stream has; they fall inside words and brackets."""
    for start in range(0, len(text), size):
        yield text[start : start + size]
