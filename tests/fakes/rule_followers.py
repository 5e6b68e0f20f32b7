"""Scripted models that follow a rule: a request -> their turn."""

import json
import re
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.fakes.request_rules import blocks_of
from tests.fakes.script import Json, Text, Turn

_ELEMENT = re.compile(r"<message [^>]*>\n(.*)\n</message>", re.DOTALL)


class Found(NamedTuple):
    """A passage as a request shows it to the model."""

    id: str
    text: str
    native: bool
    """True for a search_result with citations enabled."""


@dataclass
class Request:
    """One request to /v1/messages, with the questions a scripted model asks about it."""

    raw: bytes
    body: Json
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def question(self) -> str:
        """The newest words of a person: the first text of the last user message without tool
        results.

        The date and passages come after it.
        """
        for message in reversed(self.body.get("messages", [])):
            if message.get("role") == "user":
                texts = [b["text"] for b in blocks_of(message) if b.get("type") == "text"]
                results = any(b.get("type") == "tool_result" for b in blocks_of(message))
                if texts and not results:
                    said = _ELEMENT.fullmatch(texts[0])
                    return said.group(1) if said else str(texts[0])
        return ""

    @property
    def tools(self) -> list[str]:
        """Names of the tools that may be called in this turn."""
        if (self.body.get("tool_choice") or {}).get("type") == "none":
            return []
        return [tool["name"] for tool in self.body.get("tools") or ()]

    @property
    def results(self) -> list[Json]:
        """The tool_result blocks since the last question."""
        found: list[Json] = []
        for message in reversed(self.body.get("messages", [])):
            blocks = blocks_of(message)
            here = [b for b in blocks if b.get("type") == "tool_result"]
            if message.get("role") == "user" and not here:
                break
            found = here + found
        return found

    @property
    def passages(self) -> list[Found]:
        """The passages in the results since the last question, in both ways of showing them."""
        found = []
        for result in self.results:
            content = result.get("content") or []
            for block in blocks_of({"content": content}):
                if block.get("type") == "search_result":
                    text = "\n\n".join(part["text"] for part in block["content"])
                    native = bool((block.get("citations") or {}).get("enabled"))
                    found.append(Found(block["source"], text, native))
                elif block.get("type") == "text":
                    found += _written(block["text"])
        return found


def _written(text: str) -> list[Found]:
    """Passages of a text result: JSON with ids, or each behind its id in brackets."""
    if text.startswith("{"):
        listed = json.loads(text).get("passages", [])
        return [Found(passage["id"], passage["text"], native=False) for passage in listed]
    parts = re.split(r"^\[([^\]\n]+-\d+)\]", text, flags=re.MULTILINE)
    return [
        Found(name, body.strip(), native=False)
        for name, body in zip(parts[1::2], parts[2::2], strict=True)
    ]


def search_then_answer(request: Request) -> Turn:
    """Searches with the question, then quotes the first sentence of the first passage, cited."""
    if not request.results and "search_docs" in request.tools:
        return Turn(tools=[("search_docs", {"query": request.question[-300:]})])
    if not request.passages:
        return Turn(text="The docs do not answer this.")
    best = request.passages[0]
    sentence = _first_sentence(best.text)
    if best.native:
        return Turn(text=[Text(sentence, cites=[best.id])])
    return Turn(text=f"{sentence.rstrip('.')} [{best.id}].")


def _first_sentence(text: str) -> str:
    lines = [line for line in text.splitlines() if line.strip() and not line.startswith(("#", "`"))]
    sentence = re.split(r"(?<=[.!?])\s", lines[0] if lines else text, maxsplit=1)[0]
    return sentence.lstrip("-*> ").strip() or text.strip()[:200]
