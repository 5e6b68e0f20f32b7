"""assistant.threads.* and agents.sessions.*: the app's status in a thread.

Both families of methods write the same line under the thread; the last one to write wins.
"""

import time
from typing import Any

from bot.sandbox.webapi.bodies import structure
from bot.sandbox.webapi.call import method
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json, Refusal, invalid_arguments
from bot.sandbox.workspace.workspace import ThreadLine

SESSION_STATES = ("processing", "active", "suspended", "closed")
SESSION_SECONDS = 3_600
TITLE = 200
PROMPTS = 4


@method(
    "assistant.threads.setStatus",
    "channel_id",
    "thread_ts",
    scopes=("chat:write", "assistant:write"),
)
def set_status(slack: Slack, args: Json) -> Json:
    if "status" not in args:
        raise invalid_arguments("missing required field: status")
    loading = structure(args.get("loading_messages"), "invalid_arguments") or []
    if not isinstance(loading, list) or len(loading) > 10:
        raise invalid_arguments("no more than 10 loading_messages")
    channel, thread_ts = _thread(slack, args)
    text = str(args["status"])
    if text:
        until = time.time() + slack.rules.status_seconds
        slack.workspace.statuses[channel, thread_ts] = ThreadLine(
            str((loading or [text])[0]), until
        )
    else:
        slack.workspace.statuses.pop((channel, thread_ts), None)
    slack.workspace.changed()
    return {}


@method("assistant.threads.setSuggestedPrompts", "channel_id", scopes=("assistant:write",))
def set_suggested_prompts(slack: Slack, args: Json) -> Json:
    prompts = structure(args.get("prompts"), "invalid_arguments")
    if not isinstance(prompts, list) or not 1 <= len(prompts) <= PROMPTS:
        raise invalid_arguments(f"prompts must hold 1 to {PROMPTS} prompts")
    if not all(_is_prompt(prompt) for prompt in prompts):
        raise invalid_arguments("a prompt needs title and message")
    place = slack.workspace.readable_channel(args["channel_id"])
    if not place["is_im"]:
        raise Refusal("channel_type_not_supported")
    slack.workspace.prompts[str(place["id"])] = {
        "title": str(args.get("title") or ""),
        "prompts": prompts,
    }
    slack.workspace.changed()
    return {}


@method(
    "assistant.threads.setTitle", "channel_id", "thread_ts", "title", scopes=("assistant:write",)
)
def set_title(slack: Slack, args: Json) -> Json:
    channel, thread_ts = _thread(slack, args)
    _session(slack, channel, thread_ts)["title"] = str(args["title"])
    slack.workspace.changed()
    return {}


@method("agents.sessions.setStatus", "channel_id", "status", scopes=("chat:write",))
def set_session_status(slack: Slack, args: Json) -> Json:
    _check_agent(slack)
    if len(str(args.get("title") or "")) > TITLE:
        raise invalid_arguments(f"title must be at most {TITLE} characters")
    channel, thread_ts = _thread(slack, args)
    initiator = args.get("initiator_user_id")
    if initiator and initiator not in slack.workspace.members(channel):
        raise Refusal("user_not_in_channel")
    session = set_session(slack, channel, thread_ts, str(args["status"]))
    if args.get("title"):
        session.setdefault("title", str(args["title"]))
    if not slack.manifest.subscribes("agent_session_stopped"):
        return {"warning": "missing_agent_session_stopped_event_subscription"}
    return {}


@method("agents.sessions.rename", "channel_id", "title", scopes=("chat:write",))
def rename_session(slack: Slack, args: Json) -> Json:
    _check_agent(slack)
    if len(str(args["title"])) > TITLE:
        raise invalid_arguments(f"title must be at most {TITLE} characters")
    channel, thread_ts = _thread(slack, args)
    if (channel, thread_ts) not in slack.workspace.sessions:
        raise Refusal("session_not_found")
    slack.workspace.sessions[channel, thread_ts]["title"] = str(args["title"])
    slack.workspace.changed()
    return {}


def set_session(slack: Slack, channel: str, thread_ts: str, status: str) -> Json:
    if status not in SESSION_STATES:
        raise invalid_arguments(f"status must be one of {', '.join(SESSION_STATES)}")
    session = _session(slack, channel, thread_ts)
    session["status"] = status
    key = (channel, thread_ts)
    if status == "processing":
        slack.workspace.statuses[key] = ThreadLine("is working…", time.time() + SESSION_SECONDS)
    else:
        slack.workspace.statuses.pop(key, None)
    slack.workspace.changed()
    return session


def _session(slack: Slack, channel: str, thread_ts: str) -> Json:
    fresh: dict[str, Any] = {"channel": channel, "thread_ts": thread_ts, "status": "active"}
    return slack.workspace.sessions.setdefault((channel, thread_ts), fresh)


def _check_agent(slack: Slack) -> None:
    if not slack.manifest.agent:
        raise Refusal("not_authorized")


def _thread(slack: Slack, args: Json) -> tuple[str, str]:
    space = slack.workspace
    channel = str(space.readable_channel(args["channel_id"])["id"])
    thread_ts = str(args.get("thread_ts") or "")
    if not thread_ts and space.kind(channel) == "im":
        return channel, ""
    post = space.find(channel, thread_ts)
    if post is None:
        raise Refusal("invalid_thread_ts")
    return channel, post.root_ts


def _is_prompt(prompt: Any) -> bool:
    return isinstance(prompt, dict) and bool(prompt.get("title")) and bool(prompt.get("message"))
