"""A request -> the reasons for which the Messages API answers it with 400.

The SDK's types give the shapes. Each rule that types cannot express has a function here.
"""

import functools
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, get_args, get_type_hints

from anthropic import types
from anthropic.types import message_create_params
from pydantic import TypeAdapter, ValidationError

from tests.fakes.model_rules import ModelRules
from tests.fakes.script import Json

_EFFORTS = ("low", "medium", "high", "xhigh", "max")
_THINKING = ("thinking", "redacted_thinking")


@functools.cache
def _request_type() -> TypeAdapter[Any]:
    return TypeAdapter(message_create_params.MessageCreateParamsStreaming)


def problems(request: Json, rules: ModelRules) -> Iterator[str]:
    """Every reason to refuse ``request``; the API would name the first one."""
    yield from _shape(request)
    yield from _unknown_keys(request)
    yield from _parameters(request, rules)
    yield from _messages(request, rules)
    yield from _tool_results(request)
    yield from _search_results(request)
    yield from _cache_control(request)


def blocks_of(message: Json) -> list[Json]:
    """A message's content as blocks; a string is one text block."""
    content = message.get("content")
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    return list(content or ())


def search_results(request: Json) -> list[Json]:
    """Every search_result of the request, in order: their positions are the API's indexes."""
    found: list[Json] = []
    for message in request.get("messages", ()):
        for block in blocks_of(message):
            inner = block.get("content") if block.get("type") == "tool_result" else None
            nested = [block, *(inner if isinstance(inner, list) else ())]
            found += [each for each in nested if each.get("type") == "search_result"]
    return found


def prefix_hash(request: Json, before: int) -> str:
    """The prefix that a thinking signature is bound to: system, tools and earlier messages."""
    kept = [
        [message.get("role"), [b for b in blocks_of(message) if b.get("type") not in _THINKING]]
        for message in request.get("messages", ())[:before]
    ]
    system = request.get("system") or []
    system = [{"type": "text", "text": system}] if isinstance(system, str) else system
    whole = [system, request.get("tools") or [], kept]
    text = json.dumps(_without_cache_control(whole), sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()[:32]


def _without_cache_control(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _without_cache_control(v) for k, v in value.items() if k != "cache_control"}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [_without_cache_control(item) for item in value]
    return value


def _shape(request: Json) -> Iterator[str]:
    try:
        # Nested iterables are validated only when they are read.
        _exhaust(_request_type().validate_python({**request, "stream": True}))
    except ValidationError as error:
        first = error.errors()[0]
        yield f"{'.'.join(map(str, first['loc']))}: {first['msg']}"


def _exhaust(value: Any) -> None:
    if isinstance(value, Mapping):
        value = value.values()
    if isinstance(value, Iterable) and not isinstance(value, str | bytes):
        for item in value:
            _exhaust(item)


@functools.cache
def _keys_by_type() -> dict[str, frozenset[str]]:
    """Content block type -> the keys that the SDK knows for it."""
    keys = {}
    for block in get_args(types.ContentBlockParam):
        kind = get_args(get_args(_hint(block, "type"))[0])[0]
        keys[kind] = frozenset(block.__annotations__)
    return keys


def _hint(typed_dict: Any, key: str) -> Any:
    return get_type_hints(typed_dict, include_extras=True)[key]


def _unknown_keys(request: Json) -> Iterator[str]:
    known = set(message_create_params.MessageCreateParamsStreaming.__annotations__)
    known |= set(message_create_params.MessageCreateParamsBase.__annotations__)
    yield from _extra("", request, known)
    objects = [
        ("thinking", {"type", "budget_tokens", "display"}),
        ("output_config", types.OutputConfigParam.__annotations__),
        ("tool_choice", {"type", "name", "disable_parallel_tool_use"}),
        ("cache_control", types.CacheControlEphemeralParam.__annotations__),
        ("diagnostics", types.DiagnosticsParam.__annotations__),
        ("metadata", types.MetadataParam.__annotations__),
    ]
    for name, keys in objects:
        if isinstance(request.get(name), Mapping):
            yield from _extra(f"{name}.", request[name], keys)
    for number, tool in enumerate(request.get("tools") or ()):
        if tool.get("type") in (None, "custom"):
            yield from _extra(f"tools.{number}.", tool, types.ToolParam.__annotations__)
    for number, message in enumerate(request.get("messages", ())):
        yield from _extra(f"messages.{number}.", message, ("role", "content"))
        for block in blocks_of(message):
            yield from _extra_in_block(f"messages.{number}.content.", block)


def _extra_in_block(where: str, block: Json) -> Iterator[str]:
    known = _keys_by_type().get(block.get("type", ""))
    if known is None:
        yield f"{where}: unknown block type {block.get('type')!r}"
        return
    yield from _extra(where, block, known)
    inner = block.get("content")
    if block["type"] in ("tool_result", "search_result") and isinstance(inner, list):
        for nested in inner:
            yield from _extra_in_block(f"{where}{block['type']}.", nested)


def _extra(where: str, value: Json, known: Iterable[str]) -> Iterator[str]:
    for key in value.keys() - set(known):
        yield f"{where}{key}: Extra inputs are not permitted"


def _parameters(request: Json, rules: ModelRules) -> Iterator[str]:
    limit = request.get("max_tokens", 0)
    if isinstance(limit, int) and limit > rules.max_tokens:
        yield f"max_tokens: {limit} > {rules.max_tokens}, the maximum for {rules.name}"
    config = request.get("output_config") or {}
    effort = config.get("effort")
    if effort and not rules.effort:
        yield "output_config.effort: this model does not support the effort parameter"
    yield from _thinking(request, rules, effort or "high")
    choice = (request.get("tool_choice") or {}).get("type")
    if choice and not request.get("tools"):
        yield "tool_choice: may only be specified while providing tools"
    if choice in ("any", "tool") and not rules.forced_tool:
        yield f"tool_choice: {choice} is not supported by {rules.name}"
    schema = (config.get("format") or {}).get("schema") or {}
    if config.get("format") and not rules.structured:
        yield f"output_config.format: not supported by {rules.name}"
    if config.get("format") and schema.get("additionalProperties") is not False:
        yield "output_config.format.schema: needs additionalProperties: false"
    yield from _tools(request)


def _tools(request: Json) -> Iterator[str]:
    names = [tool.get("name") for tool in request.get("tools") or ()]
    if len(names) != len(set(names)):
        yield "tools: tool names must be unique"
    for tool in request.get("tools") or ():
        schema = tool.get("input_schema") or {}
        if tool.get("strict") and schema.get("additionalProperties") is not False:
            yield f"tools.{tool.get('name')}: strict needs additionalProperties: false"
        if str(tool.get("type")).startswith("web_search"):
            yield from _web_search(tool)


def _web_search(tool: Json) -> Iterator[str]:
    allowed, blocked = tool.get("allowed_domains"), tool.get("blocked_domains")
    if allowed and blocked:
        yield "tools.web_search: allowed_domains and blocked_domains exclude each other"
    for domain in (*(allowed or ()), *(blocked or ())):
        if "://" in domain or "*" in domain.split("/")[0] or not domain.isascii():
            yield f"tools.web_search: {domain} is not a bare domain"


def _thinking(request: Json, rules: ModelRules, effort: str) -> Iterator[str]:
    thinking = request.get("thinking") or {}
    kind = thinking.get("type")
    if kind and kind not in rules.thinking:
        yield f"thinking.type: {kind} is not supported by {rules.name}"
    if kind == "disabled" and rules.disable_up_to:
        highest = _EFFORTS.index(rules.disable_up_to)
        if _EFFORTS.index(effort) > highest:
            yield f"thinking.type: disabled is not allowed with effort {effort}"
    if kind == "enabled":
        budget = thinking.get("budget_tokens", 0)
        if not 1_024 <= budget < request.get("max_tokens", 0):
            yield "thinking.budget_tokens: must be >= 1024 and less than max_tokens"
        if (request.get("tool_choice") or {}).get("type") in ("any", "tool"):
            yield "thinking: may not be enabled when tool_choice forces tool use"


def _messages(request: Json, rules: ModelRules) -> Iterator[str]:
    messages = request.get("messages") or []
    if not messages:
        yield "messages: at least one message is required"
        return
    if messages[0].get("role") != "user":
        yield "messages: first message must use the user role"
    # A turn that paused in a server tool goes on where it stood.
    paused = any(b.get("type") == "server_tool_use" for b in blocks_of(messages[-1]))
    if messages[-1].get("role") == "assistant" and not (rules.prefill or paused):
        yield "messages: prefilling assistant messages is not supported by this model"
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        role = message.get("role")
        if role == "system":
            yield from _system_note(messages, number, rules)
        blocks = blocks_of(message)
        if not blocks:
            yield f"{where}: content must not be empty"
        for block in blocks:
            yield from _block(where, role, block)


def _block(where: str, role: str | None, block: Json) -> Iterator[str]:
    kind = block.get("type")
    if kind == "text" and not str(block.get("text", "")).strip():
        yield f"{where}: text content blocks must contain non-whitespace text"
    if role == "user" and kind == "text" and block.get("citations"):
        yield f"{where}: citations are not allowed on text blocks of user messages"
    if role == "assistant" and kind in ("search_result", "document", "tool_result"):
        yield f"{where}: {kind} blocks are not allowed in assistant messages"
    if role == "user" and kind in ("tool_use", *_THINKING):
        yield f"{where}: {kind} blocks are only allowed in assistant messages"
    if role == "system" and kind != "text":
        yield f"{where}: a system message holds text only"


def _system_note(messages: Sequence[Json], number: int, rules: ModelRules) -> Iterator[str]:
    where = f"messages.{number}"
    if not rules.system_notes:
        yield f"{where}: the role system is not supported by {rules.name}"
    if number == 0 or messages[number - 1].get("role") != "user":
        yield f"{where}: a system message must directly follow a user message"
    if number + 1 < len(messages) and messages[number + 1].get("role") != "assistant":
        yield f"{where}: a system message must precede an assistant message or end the array"


def _tool_results(request: Json) -> Iterator[str]:
    messages = request.get("messages") or []
    open_calls: list[str] = []
    for number, message in enumerate(messages):
        where = f"messages.{number}"
        blocks = blocks_of(message)
        results = [b.get("tool_use_id") for b in blocks if b.get("type") == "tool_result"]
        for result in results:
            if result not in open_calls:
                yield f"{where}: unexpected tool_use_id {result}, no such call before it"
        missing = [call for call in open_calls if call not in results]
        if missing:
            yield f"{where}: tool_use ids without tool_result right after: {', '.join(missing)}"
        if len(results) != len(set(results)):
            yield f"{where}: each tool_use must have a single result"
        leading = [b.get("type") == "tool_result" for b in blocks][: len(results)]
        if not all(leading):
            yield f"{where}: tool_result blocks must come first in the content"
        open_calls = [str(b.get("id")) for b in blocks if b.get("type") == "tool_use"]
    if open_calls and messages[-1].get("role") == "assistant":
        yield f"messages: tool_use ids without tool_result: {', '.join(open_calls)}"


def _search_results(request: Json) -> Iterator[str]:
    for number, message in enumerate(request.get("messages") or ()):
        for block in blocks_of(message):
            inner = block.get("content")
            if block.get("type") == "tool_result" and isinstance(inner, list):
                kinds = {nested.get("type") for nested in inner}
                if "search_result" in kinds and len(kinds) > 1:
                    yield f"messages.{number}: search_result and other blocks in one tool_result"
    found = search_results(request)
    settings = {bool((result.get("citations") or {}).get("enabled")) for result in found}
    if len(settings) > 1:
        yield "messages: all search_result blocks must have the same citations setting"
    if True in settings and (request.get("output_config") or {}).get("format"):
        yield "output_config.format: citations and structured outputs cannot be combined"
    for result in found:
        texts = [b.get("text") for b in result.get("content") or () if b.get("type") == "text"]
        if not texts or not all(texts):
            yield f"search_result {result.get('source')}: needs non-empty text blocks"


def _cache_control(request: Json) -> Iterator[str]:
    marks = [
        str(block["cache_control"].get("ttl", "5m"))
        for block in _in_cache_order(request)
        if block.get("cache_control")
    ]
    automatic = request.get("cache_control")
    if len(marks) + bool(automatic) > 4:
        yield f"cache_control: at most 4 blocks may have it, found {len(marks) + bool(automatic)}"
    if automatic:
        marks.append(str(automatic.get("ttl", "5m")))
    if "1h" in marks[marks.index("5m") if "5m" in marks else len(marks) :]:
        yield "cache_control: a ttl of 1h must not come after a ttl of 5m"
    for block in _in_cache_order(request):
        if block.get("type") in _THINKING and block.get("cache_control"):
            yield "cache_control: not allowed on thinking blocks"


def _in_cache_order(request: Json) -> Iterator[Json]:
    yield from request.get("tools") or ()
    system = request.get("system")
    yield from system if isinstance(system, list) else ()
    for message in request.get("messages") or ():
        for block in blocks_of(message):
            inner = block.get("content")
            if isinstance(inner, list):
                yield from inner
            yield block
