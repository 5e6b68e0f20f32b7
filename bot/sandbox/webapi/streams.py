"""chat.startStream, appendStream, stopStream: messages that grow while people read them."""

import time
from collections.abc import Sequence
from typing import Any

from bot.sandbox.events.shapes import api_message, bot_message
from bot.sandbox.webapi.block_rules import check_blocks
from bot.sandbox.webapi.bodies import structure
from bot.sandbox.webapi.call import method
from bot.sandbox.webapi.chat import WRITE, clear_status, thread_root
from bot.sandbox.webapi.content import MARKDOWN, metadata, numbered
from bot.sandbox.webapi.sessions import set_session
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal, invalid_arguments
from bot.sandbox.workspace.workspace import Post

TASK_STATES = ("pending", "in_progress", "complete", "error")
TASK_TEXT = 256


@method("chat.startStream", "channel", "thread_ts", scopes=WRITE)
def start_stream(slack: Slack, args: Json) -> Json:
    space = slack.workspace
    channel = str(space.writable_channel(args["channel"])["id"])
    if space.kind(channel) != "im":
        for key in ("recipient_team_id", "recipient_user_id"):
            if not args.get(key):
                raise Refusal(f"missing_{key}")
        space.user(args["recipient_user_id"])
    if args.get("task_display_mode") not in (None, "timeline", "plan"):
        raise invalid_arguments("task_display_mode must be timeline or plan")
    thread_ts = thread_root(slack, channel, args["thread_ts"])
    chunks = _chunks(args)
    post = Post(bot_message(space, {"text": ""}, thread_ts), streaming_since=time.monotonic())
    _grow(post, chunks)
    space.add(channel, post)
    clear_status(slack, channel, post.root_ts)
    slack.events.posted(channel, post)
    return {"channel": channel, "ts": post.ts}


@method("chat.appendStream", "channel", "ts", scopes=WRITE)
def append_stream(slack: Slack, args: Json) -> Json:
    channel, post = _streaming(slack, args)
    chunks = _chunks(args)
    if not chunks:
        raise Refusal("no_text")
    _grow(post, chunks)
    slack.workspace.changed()
    return {"channel": channel, "ts": post.ts}


@method("chat.stopStream", "channel", "ts", scopes=WRITE)
def stop_stream(slack: Slack, args: Json) -> Json:
    channel, post = _streaming(slack, args)
    chunks = _chunks(args)
    blocks = structure(args.get("blocks"), "invalid_blocks_format") or []
    if blocks:
        check_blocks(blocks)
    described = metadata(args)
    _grow(post, chunks)
    post.message.update(described)
    if blocks:
        post.message["blocks"] = numbered([*post.message.get("blocks", []), *blocks])
    post.streaming_since = None
    if args.get("session_status"):
        set_session(slack, channel, post.root_ts, str(args["session_status"]))
    slack.workspace.changed()
    slack.events.edited(channel, post, {**post.message, "text": ""})
    message = api_message(slack.workspace, channel, post, metadata=True)
    return {"channel": channel, "ts": post.ts, "message": message}


def _streaming(slack: Slack, args: Json) -> tuple[str, Post]:
    """Channel and message of a stream. Refuses a message of others, and one that has ended."""
    space = slack.workspace
    channel = str(space.readable_channel(args["channel"])["id"])
    post = space.post(channel, args["ts"])
    if post.message.get("bot_id") != space.bot.bot_id:
        raise Refusal("message_not_owned_by_app")
    if post.stopped_by_user:
        raise Refusal("stopped_by_user")
    since = post.streaming_since
    if since is not None and time.monotonic() - since > slack.rules.stream_seconds:
        since = post.streaming_since = None
    if since is None:
        raise Refusal("message_not_in_streaming_state")
    return channel, post


def _chunks(args: Json) -> list[Json]:
    """Return ``markdown_text`` or ``chunks``, checked, as a list of chunks."""
    markdown = args.get("markdown_text")
    chunks = structure(args.get("chunks"), "invalid_chunks")
    if markdown and chunks:
        raise Refusal("markdown_text_conflict")
    if markdown:
        chunks = [{"type": "markdown_text", "text": str(markdown)}]
    chunks = chunks or []
    if not isinstance(chunks, list):
        raise Refusal("invalid_chunks")
    for chunk in chunks:
        _check_chunk(chunk)
    if sum(len(text) for text in _markdown(chunks)) > MARKDOWN:
        raise Refusal("msg_too_long")
    return chunks


def _check_chunk(chunk: Any) -> None:
    kind = chunk.get("type") if isinstance(chunk, dict) else None
    if kind == "markdown_text" and isinstance(chunk.get("text"), str):
        return
    if kind == "blocks":
        check_blocks(chunk.get("blocks"))
        return
    if kind == "plan_update" and isinstance(chunk.get("title"), str):
        return
    if kind == "task_update" and chunk.get("id") and chunk.get("status") in TASK_STATES:
        if all(len(str(chunk.get(key, ""))) <= TASK_TEXT for key in ("title", "details", "output")):
            return
        raise Refusal("invalid_chunks", detail="task text is longer than 256 characters")
    raise Refusal("invalid_chunks")


def _grow(post: Post, chunks: Sequence[Json]) -> None:
    message = post.message
    for chunk in chunks:
        if chunk["type"] == "markdown_text":
            message["text"] += chunk["text"]
            _append_markdown(message, chunk["text"])
        elif chunk["type"] == "blocks":
            message["blocks"] = [*message.get("blocks", []), *chunk["blocks"]]
        else:
            _keep_task(post, chunk)
    if "blocks" in message:
        message["blocks"] = numbered(message["blocks"])


def _append_markdown(message: Json, text: str) -> None:
    blocks = message.setdefault("blocks", [])
    if blocks and blocks[-1]["type"] == "markdown":
        blocks[-1] = {**blocks[-1], "text": blocks[-1]["text"] + text}
    else:
        blocks.append({"type": "markdown", "text": text})


def _keep_task(post: Post, chunk: Json) -> None:
    """Replace title and status of a task, and append to its details."""
    key = (chunk["type"], chunk.get("id"))
    for task in post.chunks:
        if (task["type"], task.get("id")) == key:
            details = task.get("details", "") + chunk.get("details", "")
            task.update(chunk)
            if details:
                task["details"] = details
            return
    post.chunks.append(dict(chunk))


def _markdown(chunks: Sequence[Json]) -> list[str]:
    return [chunk["text"] for chunk in chunks if chunk.get("type") == "markdown_text"]
