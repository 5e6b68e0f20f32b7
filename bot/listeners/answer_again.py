"""*Answer again*, the button under the answer to a question that was edited afterwards."""

import logging
from collections.abc import Callable
from dataclasses import replace

from slack_sdk import WebClient

from bot.answering.decide import QuestionHandler
from bot.answering.rate_limit import RateLimit
from bot.answering.recovery import find_question
from bot.blocks.around import AGAIN
from bot.channels import Channel
from bot.journal.claims import Journal
from bot.listeners.interaction import Interaction, InteractionListener
from bot.question.event import Key, by_hand
from bot.question.thread import ThreadReader
from bot.reply.again_button import remove_offer
from bot.reply.wording import NOT_NOW, NOT_YOURS
from bot.slack.clients import SLACK_FAILED, slack_error

log = logging.getLogger(__name__)

_GONE = "I cannot find this question any more. Please ask it again."


class AnswerAgain:
    def __init__(
        self,
        post: WebClient,
        threads: ThreadReader,
        journal: Journal,
        handler: QuestionHandler,
        rate_limit: RateLimit,
        channel: Callable[[str], Channel],
    ) -> None:
        """``channel`` gives the settings of a channel."""
        self._channel = channel
        self._post, self._threads, self._journal = post, threads, journal
        self._handler, self._rate_limit = handler, rate_limit

    def listeners(self) -> list[InteractionListener]:
        return [InteractionListener("action", AGAIN, self._answer, is_public=True)]

    def _answer(self, interaction: Interaction) -> None:
        """Answer an edited question again."""
        thread_ts, _, ts = interaction.value.partition(" ")
        me, asker = self._threads.me, interaction.asker
        key = Key(me.team_id, asker.channel, ts)
        noted = self._journal.message(key)
        if noted and noted.user != asker.user and self._channel(asker.channel).ephemeral:
            interaction.say(NOT_YOURS)
            return
        click = by_hand("message", Key(key.team, key.channel, ""), asker.user)
        if refusal := self._rate_limit.refusal(click, is_another=True):
            interaction.say(refusal)
            return
        try:
            thread = self._threads.read(key.channel, thread_ts)
        except SLACK_FAILED as error:
            log.warning("could not answer again: %s", slack_error(error))
            interaction.say(NOT_NOW)
            return
        question = find_question(noted, thread, me) if noted else None
        if interaction.message:
            remove_offer(self._post, key.channel, interaction.message)
        if question is None:
            interaction.say(_GONE)
        else:
            self._handler.answer_again(replace(question, payer=asker.user), thread)
