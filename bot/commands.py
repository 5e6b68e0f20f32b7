"""``/footnote``, the message shortcut, and sharing a private answer.

A command's answer is seen by its asker alone until they share it; the shortcut answers in the
message's thread, as a bare mention there would.
"""

import logging
import threading
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any

from slack_bolt import Ack, Respond

from agent.answer import Answer
from agent.conversation import Conversation, Turn
from bot.answering import Answering
from bot.app import Listener
from bot.channels import OFF
from bot.clients import SLACK_FAILED, slack_error
from bot.events import Question
from bot.markup import escape, read_text
from bot.reply import Replier
from bot.wording import BUSY, HELP

log = logging.getLogger(__name__)

COMMAND = "/footnote"
SHORTCUT = "ask_about_message"
SHARE = "footnote_share"
_SHAREABLE = 200
_RESPONSES = 5

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
        self._shareable: OrderedDict[str, tuple[str, list[Json]]] = OrderedDict()

    def listeners(self) -> list[Listener]:
        return [
            Listener("command", COMMAND, self._command),
            Listener("shortcut", SHORTCUT, self._shortcut),
            Listener("action", SHARE, self._share),
        ]

    def _command(self, ack: Ack, body: Json, respond: Respond) -> None:
        ack()
        words = str(body.get("text") or "").strip()
        asker = self._asker(body, str(body.get("channel_id", "")))
        person = self._answering.people.person(asker.user or "")
        why_not = self._answering.refusal(asker, person)
        if why_not and not (why_not == OFF and words.lower() in ("help", "status")):
            return self._say(respond, why_not)
        match words.lower():
            case "" | "help":
                return self._say(respond, USAGE)
            case "status":
                here = [f"• {line}" for line in self._answering.channel(asker.channel).described()]
                lines = [*self._status_lines(), *(["*In this channel*:", *here] if here else [])]
                return self._say(respond, "\n".join(lines))
            case "reindex":
                self._reindex()
                return self._say(respond, f"Reading the docs again. `{COMMAND} status` tells more.")
        if told := self._answering.too_often(asker):
            return self._say(respond, told)
        if not self._answering.submit(lambda: self._answer(asker, words, respond)):
            return self._say(respond, BUSY)
        return self._say(respond, "Looking it up…")

    def _answer(self, asker: Question, words: str, respond: Respond) -> None:
        names = self._answering.people.name
        question = read_text(words, names)
        turn = Turn("person", names(asker.user or "") or "somebody", question)
        answer, messages = self._answering.make(
            self._answering.channel(asker.channel).applied_to(
                Conversation((turn,), asker.user or "")
            )
        )
        messages = messages[: _RESPONSES - 1]
        messages[-1] = {**messages[-1], "blocks": [*messages[-1]["blocks"], _share_button(answer)]}
        with self._lock:
            self._shareable[answer.id] = (question, [*messages])
            while len(self._shareable) > _SHAREABLE:
                self._shareable.popitem(last=False)
        self._answering.journal.record(asker, answer, None)
        for number, message in enumerate(messages):
            self._say(respond, message["text"], message["blocks"], replace=number == 0)

    def _share(self, ack: Ack, body: Json, respond: Respond) -> None:
        """Post a private answer for everybody, with the question and who shared it."""
        ack()
        answer_id = str(body["actions"][0].get("value"))
        with self._lock:
            question, messages = self._shareable.get(answer_id, ("", []))
        if not messages:
            return self._say(respond, "I no longer have this answer. Please ask again.")
        channel, user = str(body["channel"]["id"]), str(body["user"]["id"])
        head = f"<@{user}> asked me: {escape(question[:2_000])}"
        try:
            root = self._post(channel, {"text": head}, None)
            for message in messages:
                blocks = [b for b in message["blocks"] if b.get("block_id") != SHARE]
                self._post(channel, {**message, "blocks": blocks}, root)
        except SLACK_FAILED as error:
            log.info("could not share an answer: %s", slack_error(error))
            return self._say(respond, "I could not post here. Invite me to the channel first.")
        respond(delete_original=True)
        return None

    def _post(self, channel: str, message: Json, thread_ts: str | None) -> str:
        posted = self._answering.clients.post.chat_postMessage(
            channel=channel,
            thread_ts=thread_ts,
            unfurl_links=False,
            unfurl_media=False,
            **message,
        )
        return str(posted["ts"])

    def _shortcut(self, ack: Ack, body: Json) -> None:
        """Answer the message the shortcut was used on, in its thread."""
        ack()
        message = body.get("message", {})
        channel, ts = str(body["channel"]["id"]), str(message.get("ts"))
        asker = self._asker(body, channel)
        question = Question(
            team=asker.team,
            channel=channel,
            ts=f"{ts}1",  # sorts right behind the message that is asked about
            thread_ts=str(message.get("thread_ts") or ts),
            user=asker.user,
            text="",
            channel_type=asker.channel_type,
            is_mention=True,
        )
        self._answering.journal.note(question)
        self._answering.consider(question, seen=[message])
        Replier(self._answering.clients.post, question).whisper("The answer comes in the thread.")

    def _asker(self, body: Json, channel: str) -> Question:
        user = body.get("user_id") or body.get("user", {}).get("id")
        return Question(
            team=self._answering.me.team_id,
            channel=channel,
            ts="",
            thread_ts="",
            user=str(user or ""),
            text="",
            channel_type="im" if channel.startswith("D") else "channel",
            is_mention=True,
        )

    @staticmethod
    def _say(
        respond: Respond, text: str, blocks: Sequence[Json] | None = None, *, replace: bool = False
    ) -> None:
        respond(
            text=text,
            blocks=blocks,
            response_type="ephemeral",
            replace_original=replace,
            unfurl_links=False,
            unfurl_media=False,
        )


def _share_button(answer: Answer) -> Json:
    text = {"type": "plain_text", "text": "Share in channel"}
    button = {"type": "button", "action_id": SHARE, "text": text, "value": answer.id}
    return {"type": "actions", "block_id": SHARE, "elements": [button]}
