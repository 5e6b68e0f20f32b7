"""Questions whose words were changed: answered in the new ones, called off, or offered once more.

*Answer again* stands under the answer of a question that was edited afterwards.
"""

import logging
from typing import Any

from slack_bolt import Respond

from bot.answering.decide import Answering
from bot.answering.recovery import find_question
from bot.blocks.around import AGAIN
from bot.blocks.elements import actions, button
from bot.listeners.bolt import Interaction
from bot.question.event import Key, Question, by_hand
from bot.question.thread import read_thread, replies_of
from bot.reply.in_private import say
from bot.reply.wording import NOT_NOW
from bot.slack.clients import SLACK_FAILED, slack_error
from bot.slack.identity import Message

log = logging.getLogger(__name__)

_GONE = "I no longer find this question. Please ask it anew."


class Edits:
    def __init__(self, answering: Answering) -> None:
        self._answering = answering
        self._clients, self._journal = answering.clients, answering.journal
        self._me = answering.me

    def listeners(self) -> list[Interaction]:
        return [Interaction("action", AGAIN, self._again, is_public=True)]

    def revise(self, question: Question) -> None:
        """The words changed: answer the new ones, or offer to where an answer stands already.

        Where they ask nothing any longer, the answer under way is called off.
        """
        noted = self._journal.message(question.key)
        state = noted.state if noted else None
        if state == "ignored":
            return self._answering.consider(question)
        if noted is None or state not in ("claimed", "answered"):
            return None
        try:
            thread = self._answering.thread_of(question)
        except SLACK_FAILED:
            if state == "answered" or not question.is_called:
                return None  # what was asked first is answered
            thread = []  # a mention says enough by itself
        decision = self._answering.decide(question, thread)
        if decision.action == "answer":
            if state == "claimed":
                return self._answering.reword(question, lambda: self._came_late(question))
            if noted.answer_id:
                return self._offer(question, thread)
            return self._answering.answer_again(question, thread)  # it had no more than a line
        if state == "answered":
            return None
        if decision.action == "stop":
            return self._answering.stop(question)
        return self._answering.withdraw(question, decision.reason)

    def _came_late(self, question: Question) -> None:
        """Its answer was posted while the new words came, or another process is making it."""
        noted = self._journal.message(question.key)
        if noted and noted.state == "answered":
            self.revise(question)
        elif noted and noted.state == "claimed" and not self._journal.holds(question.key):
            self._answering.withdraw(question, "asked in other words")
            self._answering.consider(question)

    def _offer(self, question: Question, thread: list[Message]) -> None:
        """Put the button under the answer; best effort, for the answer itself stands."""
        own = replies_of(question.ts, thread, self._me)
        if own and not any(b.get("block_id") == AGAIN for b in own[-1].get("blocks") or ()):
            value = f"{question.thread_ts} {question.ts}"
            again = actions(AGAIN, [button(AGAIN, "Answer again", value)])
            self._set_below(question.channel, own[-1], [again])

    def _again(self, body: dict[str, Any], respond: Respond) -> None:
        """Answer an edited question anew."""
        thread_ts, _, ts = str(body["actions"][0].get("value")).partition(" ")
        key = Key(self._me.team_id, str(body["channel"]["id"]), ts)
        presser = str(body.get("user", {}).get("id", ""))
        click = by_hand("message", Key(key.team, key.channel, ""), presser)
        if told := self._answering.too_often(click):
            say(respond, told, body=body)
            return
        try:
            thread = read_thread(self._clients.read, key.channel, thread_ts)
        except SLACK_FAILED as error:
            log.warning("could not answer again: %s", slack_error(error))
            say(respond, NOT_NOW, body=body)
            return
        noted = self._journal.message(key)
        question = find_question(noted, thread, self._me) if noted else None
        self._set_below(key.channel, body.get("message") or {}, [])
        if question is None:
            say(respond, _GONE, body=body)
        else:
            self._answering.answer_again(question, thread)

    def _set_below(self, channel: str, message: Message, more: list[dict[str, Any]]) -> None:
        """Change what stands below an own answer; best effort."""
        if "ts" not in message:
            return
        blocks = [b for b in message.get("blocks") or () if b.get("block_id") != AGAIN]
        try:
            self._clients.post.chat_update(
                channel=channel,
                ts=str(message["ts"]),
                text=str(message.get("text") or "")[:3_900],
                blocks=[*blocks, *more],
                metadata=message.get("metadata"),
            )
        except SLACK_FAILED as error:
            log.info("could not change the button: %s", slack_error(error))
