"""The app's reply to an interaction: through its response_url or its acknowledgement."""

from bot.sandbox.events.shapes import bot_message
from bot.sandbox.events.triggers import ResponseUrl
from bot.sandbox.webapi.content import content
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json
from bot.sandbox.workspace.workspace import Post


def respond(slack: Slack, target: ResponseUrl, response: Json) -> Json:
    """Post a new message, or change the message that the person acted on."""
    space = slack.workspace
    original = space.find(target.channel, target.message_ts)
    if response.get("delete_original"):
        if original is not None:
            space.remove(target.channel, original.ts)
        return {"ok": True}
    checked = content(response)
    if response.get("replace_original") and original is not None:
        for key in ("blocks", "attachments", "text"):
            original.message.pop(key, None)
        original.message.update(checked)
        space.changed()
        return {"ok": True}
    public = response.get("response_type") == "in_channel"
    thread_ts = response.get("thread_ts") or (_thread(target) if not public else None)
    message = bot_message(space, checked, thread_ts)
    post = space.add(target.channel, Post(message, viewer=None if public else target.user))
    if public:
        slack.events.posted(target.channel, post)
    return {"ok": True}


def _thread(target: ResponseUrl) -> str | None:
    return target.thread_ts if target.thread_ts != target.message_ts else None
