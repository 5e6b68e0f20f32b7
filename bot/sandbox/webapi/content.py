"""Slack's rules for the content of a message: text, Markdown, metadata, attachments."""

import json
from typing import Any

from bot.sandbox.webapi.block_rules import check_blocks
from bot.sandbox.webapi.bodies import structure
from bot.sandbox.workspace.refusal import Json, Refusal

TEXT = 40_000
UPDATED_TEXT = 4_000
MARKDOWN = 12_000
METADATA = 8_000  # Slack documents no number; this one is strict


def content(args: Json, *, update: bool = False) -> Json:
    """Return the checked content of a message, in the fields in which it is stored."""
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
    stored: Json = {"text": text[:TEXT]}
    if markdown:
        stored["text"] = str(markdown)
        blocks = [{"type": "markdown", "text": str(markdown)}]
    if blocks:
        stored["blocks"] = numbered(blocks)
    if attachments:
        stored["attachments"] = [
            {"id": number, **attachment} for number, attachment in enumerate(attachments, start=1)
        ]
    stored.update(metadata(args))
    return stored


def numbered(blocks: list[Json]) -> list[Json]:
    """Return the blocks with a block_id each, as Slack adds them."""
    return [
        {**block, "block_id": block.get("block_id") or f"b{number}"}
        for number, block in enumerate(blocks)
    ]


def metadata(args: Json) -> Json:
    value = structure(args.get("metadata"), "invalid_metadata_format")
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Refusal("invalid_metadata_format")
    kind, payload = value.get("event_type"), value.get("event_payload")
    if not isinstance(kind, str) or not kind or not isinstance(payload, dict):
        raise Refusal("invalid_metadata_schema")
    if not all(_fits_metadata(value) for value in payload.values()):
        raise Refusal("invalid_metadata_schema")
    if len(json.dumps(value)) > METADATA:
        raise Refusal("metadata_too_large")
    return {"metadata": {"event_type": kind, "event_payload": payload}}


def _fits_metadata(value: Any) -> bool:
    """True for strings, numbers, booleans, objects, and arrays of anything but arrays."""
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
