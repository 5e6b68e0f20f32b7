"""Messages of the API's web search: server tool use, its results or its error, cited text."""

from typing import Any

from tests.fakes.script import Json, Turn


def searched(query: str, *results: tuple[str, str], error: str = "") -> list[Json]:
    """One search on the API's side; ``results`` are (url, title)."""
    ident = f"srvtoolu_{abs(hash(query)) % 10**8:08d}"
    found: Any = [
        {
            "type": "web_search_result",
            "url": url,
            "title": title,
            "encrypted_content": f"sealed:{url}",
            "page_age": None,
        }
        for url, title in results
    ]
    if error:
        found = {"type": "web_search_tool_result_error", "error_code": error}
    return [
        {
            "type": "server_tool_use",
            "id": ident,
            "name": "web_search",
            "input": {"query": query},
            "caller": {"type": "direct"},
        },
        {
            "type": "web_search_tool_result",
            "tool_use_id": ident,
            "content": found,
            "caller": {"type": "direct"},
        },
    ]


def from_web(text: str, *cites: tuple[str, str]) -> Json:
    """A text block with its pages; ``cites`` are (url, title)."""
    if not cites:
        return {"type": "text", "text": text}
    citations = [
        {
            "type": "web_search_result_location",
            "url": url,
            "title": title,
            "cited_text": text[:150],
            "encrypted_index": f"sealed:{url}",
        }
        for url, title in cites
    ]
    return {"type": "text", "text": text, "citations": citations}


def web_turn(*parts: list[Json] | Json, stop: str | None = None) -> Turn:
    """A message made of searches and texts."""
    blocks = [block for part in parts for block in (part if isinstance(part, list) else [part])]
    searches = sum(block["type"] == "server_tool_use" for block in blocks)
    usage = {"server_tool_use": {"web_search_requests": searches, "web_fetch_requests": 0}}
    return Turn(blocks=blocks, stop=stop, usage=usage)
