"""Request body -> arguments, in every encoding that Slack's clients use."""

import json
from email.parser import BytesParser
from email.policy import HTTP
from typing import Any
from urllib.parse import parse_qsl

from bot.sandbox.workspace.refusal import Json, Refusal


def arguments(content_type: str, query: str, body: bytes) -> Json:
    """Read arguments from JSON, a form or multipart, and from the query string."""
    args: Json = dict(parse_qsl(query, keep_blank_values=True))
    kind = content_type.partition(";")[0].strip().lower()
    if not body:
        return args
    if kind == "application/json":
        return args | _json_object(body)
    if kind == "multipart/form-data":
        return args | _multipart(content_type, body)
    if kind == "application/x-www-form-urlencoded":
        try:
            return args | dict(parse_qsl(body.decode("utf-8"), keep_blank_values=True))
        except UnicodeDecodeError:
            raise Refusal("invalid_form_data") from None
    raise Refusal("invalid_post_type")


def _json_object(body: bytes) -> Json:
    try:
        data = json.loads(body)
    except ValueError:
        raise Refusal("invalid_json") from None
    if not isinstance(data, dict):
        raise Refusal("json_not_object")
    return data


def _multipart(content_type: str, body: bytes) -> Json:
    head = f"Content-Type: {content_type}\r\n\r\n".encode("latin-1")
    message = BytesParser(policy=HTTP).parsebytes(head + body)
    if not message.is_multipart():
        raise Refusal("invalid_form_data")
    args: Json = {}
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        content = part.get_payload(decode=True)
        if not isinstance(name, str) or not isinstance(content, bytes):
            raise Refusal("invalid_form_data")
        args[name] = content if part.get_filename() else content.decode("utf-8", "replace")
    return args


def structure(value: Any, error: str) -> Any:
    """Return a list or object; in a form it is a JSON string."""
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except ValueError:
        raise Refusal(error) from None


def flag(value: Any) -> bool:
    """True for Slack's booleans: JSON's true, or 1 or true in a form."""
    return value in (True, 1, "1", "true", "True")


def number(value: Any, default: int) -> int:
    if value in (None, ""):
        return default
    try:
        return int(value)
    except (TypeError, ValueError):
        raise Refusal("invalid_limit") from None
