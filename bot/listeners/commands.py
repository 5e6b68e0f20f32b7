"""``/footnote``, the message shortcut, and sharing a private answer.

A command's answer is seen by its asker alone until they share it; the shortcut answers in the
message's thread, as a bare mention there would.
"""

import logging
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from slack_bolt import Respond

from agent.answer import Answer
from bot.answering.decide import Answering
from bot.blocks.around import HUMAN
from bot.blocks.elements import actions, button, context
from bot.channels import OFF
from bot.listeners.bolt import Interaction
from bot.question.access import Visit
from bot.question.event import Key, Question, by_hand
from bot.reading.mrkdwn import escape, read_text
from bot.reply.in_private import Responder, say, withdraw
from bot.reply.in_thread import Replier
from bot.reply.outgoing import NotPosted
from bot.reply.wording import HELP, LOOKING_UP
from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)

COMMAND = "/footnote"
SHORTCUT = "ask_about_message"
SHARE = "footnote_share"
_SHAREABLE = 200
_RESPONSES = 4
"""Slack takes five: one of them says that the answer comes."""

_UNDER_WAY = "The answer comes in the thread."

Json = dict[str, Any]
USAGE = (
    f"`{COMMAND} QUESTION` answers only to you, with a button to share it.\n"
    f"`{COMMAND} status` tells what I have read, and when, and what is set for this channel.\n"
    f"`{COMMAND} reindex` reads the docs again now.\n"
    f"{HELP}"
)


class Commands:
    def __init__(
        self,
        answering: Answering,
        status_lines: Callable[[], Sequence[str]],
        reindex: Callable[[], object],
    ) -> None:
        self._answering = answering
        self._status_lines = status_lines
        self._reindex = reindex
        self._lock = threading.Lock()
        self._shareable: OrderedDict[str, tuple[Question, Answer, list[Json]]] = OrderedDict()

    def listeners(self) -> list[Interaction]:
        return [
            Interaction("command", COMMAND, self._command, when_off=True),
            Interaction("shortcut", SHORTCUT, self._shortcut, is_public=True),
            Interaction("action", SHARE, self._share, is_public=True),
        ]

    def _command(self, body: Json, respond: Respond) -> None:
        words = str(body.get("text") or "").strip()
        visit = Visit.by(body, is_public=False)
        channel = self._answering.channel(visit.channel)
        if channel.off and words.lower() not in ("help", "status"):
            say(respond, OFF)
            return
        match words.lower():
            case "" | "help":
                say(respond, USAGE)
            case "status":
                here = [f"• {line}" for line in channel.described()]
                lines = [*self._status_lines(), *(["*In this channel*:", *here] if here else [])]
                say(respond, "\n".join(lines))
            case "reindex":
                self._reindex()
                say(respond, f"Reading the docs again. `{COMMAND} status` tells more.")
            case _:
                key = self._key(visit, f"{time.time():.6f}")
                question = by_hand("command", key, visit.user, text=words)
                say(respond, LOOKING_UP)
                self._answering.ask(
                    question, Responder(respond, question, self._prepared(question))
                )

    def _prepared(self, question: Question) -> Callable[[Answer, list[Json]], list[Json]]:
        def prepared(answer: Answer, messages: list[Json]) -> list[Json]:
            with self._lock:
                self._shareable[answer.id] = (question, answer, messages)
                while len(self._shareable) > _SHAREABLE:
                    self._shareable.popitem(last=False)
            return private_messages(answer, messages, can_share=not question.is_direct)

        return prepared

    def _share(self, body: Json, respond: Respond) -> None:
        """Post a private answer for everybody, with the question and who shared it."""
        answer_id = str(body["actions"][0].get("value"))
        with self._lock:
            kept = self._shareable.pop(answer_id, None)
        if kept is None:
            say(respond, "I no longer have this answer. Please ask again.", body=body)
            return
        try:
            self._post(*kept)
        except (*SLACK_FAILED, NotPosted) as error:
            log.info("could not share an answer: %s", error_code(error))
            with self._lock:
                self._shareable[answer_id] = kept
            say(respond, "I could not post here. Invite me to the channel first.", body=body)
            return
        withdraw(respond)

    def _post(self, question: Question, answer: Answer, messages: list[Json]) -> None:
        """The question as a message of its own, and under it the answer as any other."""
        post = self._answering.clients.post
        words = read_text(question.text, self._answering.people.name)
        head = f"<@{question.user}> asked me: {escape(words[:2_000])}"
        posted = post.chat_postMessage(
            channel=question.channel, text=head, unfurl_links=False, unfurl_media=False
        )
        root = str(posted["ts"])
        try:
            asked = replace(question, ts=root, thread_ts=root)
            Replier(post, asked).outgoing(answer, messages).post()
        except NotPosted:
            post.chat_delete(channel=question.channel, ts=root)
            raise
        self._answering.journal.share(answer.id, root)

    def _shortcut(self, body: Json, respond: Respond) -> None:
        """Answer the message the shortcut was used on, in its thread."""
        message = body.get("message", {})
        about = str(message.get("ts"))
        visit = Visit.by(body, is_public=True)
        key = self._key(visit, str(body.get("action_ts") or f"{time.time():.6f}"))
        question = by_hand(
            "shortcut",
            key,
            visit.user,
            thread_ts=str(message.get("thread_ts") or about),
            about=about,
        )
        journal = self._answering.journal
        same = journal.in_thread(key.team, key.channel, question.thread_ts)
        if any(m.state == "claimed" and (m.about or m.ts) == about for m in same):
            say(respond, _UNDER_WAY, body=body)
            return
        journal.note(question)
        self._answering.consider(question, seen=[message])
        if journal.holds(key):
            say(respond, _UNDER_WAY, body=body)

    def _key(self, visit: Visit, at: str) -> Key:
        """One gesture of one person: no message's ``ts``, but in order with those."""
        return Key(self._answering.me.team_id, visit.channel, f"{at}-{visit.user}")


def private_messages(answer: Answer, messages: Sequence[Json], *, can_share: bool) -> list[Json]:
    """The messages as one person sees them: at most four, the last with its end and *Share*.

    Nobody is called from here: others could not see what it is about.
    """
    shown = [*messages]
    *_, last = shown
    blocks = [_without(block, HUMAN) for block in last["blocks"]]
    blocks = [block for block in blocks if block.get("elements") != []]
    if can_share:
        blocks.append(_share_button(answer))
    if len(shown) > _RESPONSES:
        how = " *Share in channel* posts all of it." if can_share else ""
        line = f":warning: The middle of this answer is too long to be shown here.{how}"
        blocks.insert(0, context("footnote_left_out", line))
        shown = [*shown[: _RESPONSES - 1], last]
    shown[-1] = {**last, "blocks": blocks}
    return shown


def _without(block: Json, action_id: str) -> Json:
    if block.get("block_id") != "footnote_actions":
        return block
    return {**block, "elements": [e for e in block["elements"] if e["action_id"] != action_id]}


def error_code(error: Exception) -> str:
    return error.code if isinstance(error, NotPosted) else slack_error(error)


def _share_button(answer: Answer) -> Json:
    return actions(SHARE, [button(SHARE, "Share in channel", answer.id)])
