"""Tool call -> tool result: what every tool has in common, errors included.

A failure is a result that tells the model what to do instead, never an exception in the loop.
"""

import logging
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from pydantic import BaseModel, ConfigDict, ValidationError

from agent.errors import ToolError
from agent.searches import FinishedSearch, Retrieval
from agent.trace import Progress
from ingest.documents import CollectionInfo, DocumentInfo, Passage
from ingest.errors import FootnoteError

log = logging.getLogger(__name__)

_LISTED_PAGES = 40
_LISTED_FOLDERS = 30
_NOT_IN_A_PATH = re.compile(r"[^\w ./+-]")


class Arguments(BaseModel):
    """A tool's input: the schema that the model is given, and the check of what it sends."""

    model_config = ConfigDict(extra="forbid")


@dataclass(frozen=True, slots=True)
class ToolResult:
    """What a tool call brought."""

    passages: tuple[Passage, ...] = ()
    """What it found; once taken in, what the model has not seen before."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What we say about them, or instead of them."""
    found: FinishedSearch | None = None
    """The search that was made."""
    failed: bool = False


@dataclass(frozen=True, slots=True)
class Corpus:
    """What the index holds, in words that stay the same until the next ingest."""

    documents: Sequence[DocumentInfo]
    collections: Sequence[CollectionInfo] = ()

    def __str__(self) -> str:
        # Paths, not titles: text that somebody wrote has no place in what instructs the model.
        paths = sorted(_NOT_IN_A_PATH.sub("_", d.path)[:100] for d in self.documents)
        if not paths:
            return "The index is empty at the moment."
        if len(paths) <= _LISTED_PAGES:
            return f"It holds these {len(paths)} pages: {', '.join(paths)}."
        folders = Counter(path.rpartition("/")[0].split("/")[0] or "(top)" for path in paths)
        named = ", ".join(f"{name} ({count})" for name, count in sorted(folders.items()))
        if len(folders) > _LISTED_FOLDERS:
            named = ", ".join(f"{n} ({c})" for n, c in folders.most_common(_LISTED_FOLDERS)) + ", …"
        return f"It holds {len(paths)} pages, by folder: {named}."


class Tool(Protocol):
    """Something the model may ask for."""

    name: str
    arguments: type[Arguments]

    def description(self, corpus: Corpus) -> str: ...

    def schema(self, corpus: Corpus) -> dict[str, Any]: ...

    def progress(self, arguments: Any) -> Progress: ...

    def run(self, arguments: Any, retrieval: Retrieval) -> ToolResult:
        """May take long and be given up: it changes nothing that others see."""
        ...


def definitions(tools: Sequence[Tool], corpus: Corpus, *, strict: bool) -> list[dict[str, Any]]:
    """The tools as the API wants them."""
    return [
        {
            "name": tool.name,
            "description": tool.description(corpus),
            "input_schema": tool.schema(corpus),
            **({"strict": True} if strict else {}),
        }
        for tool in tools
    ]


def plain_schema(arguments: type[Arguments]) -> dict[str, Any]:
    """JSON schema in the subset that strict tools accept."""
    whole = arguments.model_json_schema()
    properties = {}
    for name, field_schema in whole["properties"].items():
        kind = field_schema.get("type") or field_schema["anyOf"][0]["type"]
        properties[name] = {"type": kind, "description": field_schema["description"]}
    return {
        "type": "object",
        "properties": properties,
        "required": whole.get("required", []),
        "additionalProperties": False,
    }


def checked(tool: Tool, given: Any) -> Arguments:
    """The arguments of a call; raises ToolError in words that let the model mend it."""
    try:
        return tool.arguments.model_validate(given)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'input'}: {fault['msg']}"
            for fault in error.errors()[:3]
        )
        raise ToolError(f"The input of {tool.name} is not right ({faults}).") from None


def run_tool(tool: Tool | None, name: str, given: Any, retrieval: Retrieval) -> ToolResult:
    """Run one call."""
    try:
        if tool is None:
            raise ToolError(f"There is no tool {name[:60]!r}.")
        return tool.run(checked(tool, given), retrieval)
    except ToolError as error:
        return failure(str(error))
    except FootnoteError as error:
        log.warning("%s failed: %s", name, error)
    except Exception:  # a tool's defect must end in an answer that admits it
        log.exception("%s failed", name)
    return failure(
        "The docs cannot be read at the moment. Do not answer from memory instead: "
        "say that the docs could not be searched."
    )


def failure(message: str) -> ToolResult:
    return ToolResult(facts={"error": message}, failed=True)


def taken_in(result: ToolResult, retrieval: Retrieval) -> ToolResult:
    """The result as the model gets it: passages that it has seen before are only named."""
    if result.found is not None:
        fresh = retrieval.take(result.found)
    else:
        fresh = retrieval.supply(result.passages)
    shown = [passage.id for passage in result.passages if passage not in fresh]
    if not shown:
        return result
    facts = {**result.facts, "already_shown": shown}
    if not fresh:
        facts.setdefault("note", "Nothing new: all of this was given to you before.")
    return replace(result, passages=fresh, facts=facts)
