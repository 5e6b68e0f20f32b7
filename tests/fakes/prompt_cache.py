"""The prompt cache as the usage numbers show it: tokens read and written, and the changed part."""

import hashlib
import json
from typing import Any

from tests.fakes.request_rules import blocks_of
from tests.fakes.script import Json

_LOOKBACK = 20


class PromptCache:
    """Prefixes written at breakpoints, and the requests that diagnostics compare with."""

    def __init__(self) -> None:
        self._written: set[str] = set()
        self._seen: dict[str, Json] = {}

    def usage(self, request: Json, minimum: int) -> Json:
        """The input side of the usage, by the rules of breakpoints, lookback and minimum."""
        blocks = _blocks(request)
        marks = [i for i, (_, marked) in enumerate(blocks) if marked]
        if request.get("cache_control") and blocks:
            marks.append(len(blocks) - 1)
        hashes, sizes = _prefixes(request, [text for text, _ in blocks])
        total = sizes[-1] if sizes else 0
        read = written = 0
        for mark in marks:
            if sizes[mark] < minimum:
                continue
            for position in range(mark, max(-1, mark - _LOOKBACK), -1):
                if hashes[position] in self._written:
                    read = max(read, sizes[position])
                    break
            written = max(written, sizes[mark])
        self._written |= {hashes[mark] for mark in marks if sizes[mark] >= minimum}
        return {
            "input_tokens": total - max(read, written),
            "cache_read_input_tokens": read,
            "cache_creation_input_tokens": max(0, written - read),
            "cache_creation": {
                "ephemeral_5m_input_tokens": max(0, written - read),
                "ephemeral_1h_input_tokens": 0,
            },
        }

    def diagnose(self, request: Json, message_id: str) -> Json:
        """The part that differs from the request that the client names as the previous one."""
        previous_id = request["diagnostics"].get("previous_message_id")
        self._seen[message_id] = request
        if previous_id is None:
            return {"cache_miss_reason": None}
        previous = self._seen.get(previous_id)
        if previous is None:
            return {"cache_miss_reason": {"type": "previous_message_not_found"}}
        for part in ("model", "tools", "system"):
            if _bare(previous.get(part)) != _bare(request.get(part)):
                return _miss(f"{part}_changed")
        earlier = [_bare(m) for m in previous["messages"]]
        if [_bare(m) for m in request["messages"]][: len(earlier)] != earlier:
            return _miss("messages_changed")
        return {"cache_miss_reason": None}


def _miss(kind: str) -> Json:
    return {"cache_miss_reason": {"type": kind, "cache_missed_input_tokens": 0}}


def _bare(value: Any) -> Any:
    """The value without cache marks; a string becomes its text block."""
    if isinstance(value, dict):
        value = dict(value)
        value.pop("cache_control", None)
        if "role" in value:
            value["content"] = blocks_of(value)
        return {key: _bare(item) for key, item in value.items()}
    return [_bare(item) for item in value] if isinstance(value, list) else value


def _blocks(request: Json) -> list[tuple[str, bool]]:
    """Every block in cache order: its text, and True if it carries a breakpoint."""
    system = request.get("system") or []
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    parts = [*(request.get("tools") or ()), *system]
    for message in request.get("messages", ()):
        parts += [{"role": message.get("role"), **block} for block in blocks_of(message)]
    return [(json.dumps(_bare(p), sort_keys=True), bool(p.get("cache_control"))) for p in parts]


def _prefixes(request: Json, texts: list[str]) -> tuple[list[str], list[int]]:
    digest = hashlib.sha256(str(request.get("model")).encode())
    hashes, sizes, size = [], [], 0
    for text in texts:
        digest.update(text.encode())
        size += len(text) // 4 + 1
        hashes.append(digest.hexdigest())
        sizes.append(size)
    return hashes, sizes
