"""A question that the docs do not answer -> an answer from the web, with its links.

It is a separate request, so that no document and no message of the thread can reach a search
engine. It contains only the public words of the question (``public_words``).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote, urlsplit

from anthropic.types import ContentBlock, Message

from agent.answer import WebLink
from agent.asides.public_words import public_words
from agent.asides.request import ask_aside
from agent.draft import Draft
from agent.errors import ModelUnavailable
from agent.grounding import read_citations
from agent.grounding.cited_text import CitedText
from agent.model.client import Model, Request
from agent.model.deadline import Deadline, DeadlinePassed
from agent.prompts import prompt
from agent.settings import AgentSettings
from agent.trace import Progress
from ingest.invisible import without_hidden

_SECONDS = 25.0
_LEAST_SECONDS = 3.0
_MAX_TOKENS = 3_000
_MAX_USES = 2
_PAUSES = 2
_LABEL = "**From the web, not from your docs; check that it fits what you run:**"
_SAFE = "/:?#@!$&'*+,;=~%-._"


@dataclass(frozen=True, slots=True)
class WebFindings:
    """An answer from the web: labelled Markdown, and every address in it."""

    text: CitedText
    links: tuple[WebLink, ...]


def search_web(
    model: Model, settings: AgentSettings, draft: Draft, deadline: Deadline
) -> WebFindings | None:
    """Search the web. Returns None if nothing was found or sent, or if the search failed."""
    conversation = draft.conversation
    people = (turn.name for turn in conversation.turns)
    query = public_words(conversation.question, draft.retrieval.passages.values(), people)
    if not query or not model.profile.server_tools or deadline.left < _LEAST_SECONDS:
        draft.record("web_search", error="not asked")
        return None
    draft.show(Progress("searching", "the web"))
    try:
        blocks = _ask(query, model, settings, draft, deadline.at_most(_SECONDS))
    except (ModelUnavailable, DeadlinePassed) as error:
        draft.record("web_search", error=str(error) or "deadline")
        return None
    findings = _findings(blocks, settings.web_domains)
    draft.record(
        "web_search",
        queries=[str(b.input.get("query", "")) for b in blocks if b.type == "server_tool_use"],
        errors=list(_errors(blocks)),
        links=[link.url for link in findings.links] if findings else [],
    )
    return findings


def _ask(
    query: str, model: Model, settings: AgentSettings, draft: Draft, deadline: Deadline
) -> list[ContentBlock]:
    """Ask, and return all blocks of the answer; a paused turn is sent back so that it continues."""
    tool: dict[str, Any] = {
        "type": "web_search_20250305",
        "name": "web_search",
        "max_uses": _MAX_USES,
        "allowed_callers": ["direct"],
    }
    if settings.web_domains:
        tool["allowed_domains"] = list(settings.web_domains)
    messages: list[dict[str, Any]] = [{"role": "user", "content": query}]
    blocks: list[ContentBlock] = []
    for _ in range(1 + _PAUSES):
        request = Request(
            prompt("web").template, [tool], list(messages), _MAX_TOKENS, attempts=1, aside=True
        )
        message = ask_aside("web_search", model, request, draft, deadline)
        blocks += message.content
        if message.stop_reason != "pause_turn":
            return _whole(message, blocks)
        # The API sends blank texts, but refuses them in a request.
        content = [b for b in message.content if b.type != "text" or b.text.strip()]
        messages.append({"role": "assistant", "content": content})
    raise ModelUnavailable("paused too often", "The web search took too long.")


def _whole(message: Message, blocks: list[ContentBlock]) -> list[ContentBlock]:
    if message.stop_reason in ("end_turn", "stop_sequence", "max_tokens"):
        return blocks
    raise ModelUnavailable(f"stop reason {message.stop_reason}", "The web search gave no answer.")


def _errors(blocks: Iterable[ContentBlock]) -> Iterator[str]:
    """Errors of failed searches, which come as results with status 200."""
    for block in blocks:
        if block.type == "web_search_tool_result" and not isinstance(block.content, list):
            yield block.content.error_code


def _findings(blocks: list[ContentBlock], domains: tuple[str, ...]) -> WebFindings | None:
    """The text after the last search, with the links of each statement; or None without links."""
    last = max((n for n, b in enumerate(blocks) if b.type == "server_tool_use"), default=-1)
    text = ""
    links: dict[str, WebLink] = {}
    for block in blocks[last + 1 :]:
        if block.type != "text":
            continue
        # Without brackets, a web page cannot look like a citation of the team's docs.
        words = read_citations(CitedText.plain(without_hidden(block.text)), ()).text.text
        cited = {}
        for citation in block.citations or ():
            if citation.type == "web_search_result_location":
                url = _address(citation.url, domains)
                cited[url] = WebLink(url, " ".join((citation.title or "").split()))
        cited.pop("", None)
        links.update(cited)
        marks = "".join(f" ([{urlsplit(url).hostname}]({url}))" for url in cited)
        text += words.rstrip() + marks + words[len(words.rstrip()) :]
    if not links or "NOTHING FOUND" in text:
        return None
    return WebFindings(CitedText.plain(f"{_LABEL}\n\n{text.strip()}"), tuple(links.values()))


def _address(url: str, domains: tuple[str, ...]) -> str:
    """The address for use in Markdown, or empty if it must not be shown."""
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return ""
    allowed = not domains or any(host == d or host.endswith(f".{d}") for d in domains)
    if parts.scheme not in ("http", "https") or not host.isascii() or "." not in host:
        return ""
    return quote(url, safe=_SAFE) if allowed and parts.username is None else ""
