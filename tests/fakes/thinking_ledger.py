"""Thinking blocks that the fake server has sent; checks that they come back unchanged."""

from collections.abc import Iterator

from tests.fakes.model_rules import ModelRules
from tests.fakes.request_rules import blocks_of, prefix_hash
from tests.fakes.script import Json


class ThinkingLedger:
    """Signatures by prefix, and the thinking blocks beside each tool call."""

    def __init__(self) -> None:
        self._issued: dict[str, str] = {}
        self._beside: dict[str, int] = {}

    def signature(self, request: Json, number: int, thinking: str | None) -> str:
        """A signature bound to everything before the message that is about to be sent."""
        if thinking is None:
            return ""
        return f"sig.{number}.{prefix_hash(request, len(request.get('messages', ())))}"

    def note(self, content: list[Json]) -> None:
        thinking = [block for block in content if block["type"] == "thinking"]
        for block in thinking:
            self._issued[block["signature"]] = block["thinking"]
        for block in content:
            if block["type"] == "tool_use":
                self._beside[block["id"]] = len(thinking)

    def problems(self, request: Json, rules: ModelRules) -> Iterator[str]:
        for number, message in enumerate(request.get("messages", ())):
            if message.get("role") != "assistant":
                continue
            blocks = blocks_of(message)
            thinking = [b for b in blocks if b.get("type") == "thinking"]
            for block in thinking:
                yield from self._check(block, request, number, rules)
            for block in blocks:
                expected = self._beside.get(block.get("id", ""), 0)
                if 0 < len(thinking) < expected:
                    yield f"messages.{number}: a thinking block of this message is missing"

    def _check(self, block: Json, request: Json, number: int, rules: ModelRules) -> Iterator[str]:
        signature = str(block.get("signature"))
        if signature not in self._issued:
            yield f"messages.{number}: Invalid `signature` in `thinking` block"
        elif self._issued[signature] != block.get("thinking"):
            yield f"messages.{number}: `thinking` blocks cannot be modified"
        elif rules.bound_thinking and not signature.endswith(prefix_hash(request, number)):
            yield f"messages.{number}: The block is bound to a different conversation"
