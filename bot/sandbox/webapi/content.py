"""Slack's rules for what a message may hold: text, Markdown, metadata, attachments."""

import json
from typing import Any

from bot.sandbox.webapi.block_rules import check_blocks
from bot.sandbox.webapi.bodies import structure
from bot.sandbox.workspace.refusal import Json, Refusal

TEXT = 40_000
UPDATED_TEXT = 4_000
MARKDOWN = 12_000
METADATA = 8_000  # Slack names no number; this is on the strict side


def content(args: Json, *, update: bool = False) -> Json:
    """The checked content of a message, keys as they are stored."""
    blocks = structure(args.get("blocks"), "invalid_blocks_format")
    attachments = structure(args.get("attachments"), "invalid_attachments")
    markdown = args.get("markdown_text")
    text = str(args.get("text") or "")
    if markdown is not None and (text or blocks):
        raise Refusal("markdown_text_conflict")
    if blocks is not None:
        check_blocks(blocks)
    if attachments:
        _check_attachments(attachments)
    if not (text.strip() or blocks or attachments or markdown):
        raise Refusal("no_text")
    if markdown and len(str(markdown)) > MARKDOWN:
        raise Refusal("msg_too_long")
    if update and len(text) > UPDATED_TEXT:
        raise Refusal("msg_too_long")
    kept: Json = {"text": text[:TEXT]}
    if markdown:
        kept["text"] = str(markdown)
        blocks = [{"type": "markdown", "text": str(markdown)}]
    if blocks:
        kept["blocks"] = numbered(blocks)
    if attachments:
        kept["attachments"] = [
            {"id": number, **attachment} for number, attachment in enumerate(attachments, start=1)
        ]
    kept.update(metadata(args))
    return kept


def numbered(blocks: list[Json]) -> list[Json]:
    """Blocks with a block_id each, as Slack gives them one."""
    return [
        {**block, "block_id": block.get("block_id") or f"b{number}"}
        for number, block in enumerate(blocks)
    ]


def metadata(args: Json) -> Json:
    given = structure(args.get("metadata"), "invalid_metadata_format")
    if given is None:
        return {}
    if not isinstance(given, dict):
        raise Refusal("invalid_metadata_format")
    kind, payload = given.get("event_type"), given.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        raise Refusal("invalid_metadata_schema")
    if not all(_fits_metadata(value) for value in payload.values()):
        raise Refusal("invalid_metadata_schema")
    if len(json.dumps(given)) > METADATA:
        raise Refusal("metadata_too_large")
    return {"metadata": {"event_type": kind, "event_payload": payload}}


def _fits_metadata(value: Any) -> bool:
    """Strings, numbers, booleans, an object or an array of objects or of plain values."""
    if isinstance(value, list):
        return all(not isinstance(item, list) for item in value)
    return isinstance(value, str | int | float | bool | dict)


def _check_attachments(attachments: Any) -> None:
    if not isinstance(attachments, list) or not all(isinstance(one, dict) for one in attachments):
        raise Refusal("invalid_attachments")
    if len(attachments) > 100:
        raise Refusal("too_many_attachments")
    for attachment in attachments:
        if attachment.get("blocks"):
            check_blocks(attachment["blocks"])
