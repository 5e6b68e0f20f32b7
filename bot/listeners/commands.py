"""``/footnote``, the message shortcut, and sharing a private answer.

Only its asker sees a command's answer until they share it. The shortcut answers in the message's
thread, as a bare mention there would.
"""

import logging
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import replace

from cachetools import LRUCache
from slack_sdk import WebClient

from agent.answer import Answer
from bot.answering.decide import QuestionHandler
from bot.blocks.around import HUMAN
from bot.blocks.elements import Block, actions, button, context
from bot.channels import OFF, Channel
from bot.journal.claims import Journal
from bot.listeners.interaction import Interaction, InteractionListener
from bot.listeners.reindex import Reindex
from bot.question.access import Asker
from bot.question.event import Key, Question, by_hand
from bot.reading.mrkdwn import escape, read_text
from bot.reply.in_private import InPrivate, delete_original
from bot.reply.in_thread import InThread
from bot.reply.outgoing import NotPosted, Unposted
from bot.reply.wording import HELP, LOOKING_UP, NOT_YOURS, not_shared
from bot.slack.clients import SLACK_FAILED, may_heal, slack_error
from bot.slack.identity import QUOTE, Identity, SlackMessage

log = logging.getLogger(__name__)

COMMAND = "/footnote"
SHORTCUT = "ask_about_message"
SHARE = "footnote_share"
_SHAREABLE = 200
"""Maximum number of private answers that can be shared: the newest ones."""
_RESPONSES = 4
"""Maximum number of messages of an answer; Slack accepts one more, to say that it comes."""
_MAX_WORDS = 2_000
"""Maximum number of characters of the question over a shared answer."""

_UNDER_WAY = "The answer comes in the thread."

USAGE = (
    f"`{COMMAND} QUESTION` answers only to you, with a button to share it.\n"
    f"`{COMMAND} status` shows what I have read, when, and this channel's settings.\n"
    f"`{COMMAND} reindex` reads the docs again now.\n"
    f"{HELP}"
)


class SlackCommands:
    def __init__(
        self,
        post: WebClient,
        me: Identity,
        name_of: Callable[[str], str | None],
        channel: Callable[[str], Channel],
        journal: Journal,
        handler: QuestionHandler,
        status_lines: Callable[[], Sequence[str]],
        reindex: Reindex,
    ) -> None:
        """``channel`` gives the settings of a channel."""
        self._post, self._me, self._name_of, self._channel = post, me, name_of, channel
        self._journal, self._handler = journal, handler
        self._status_lines, self._reindex = status_lines, reindex
        self._lock = threading.Lock()
        self._shareable: LRUCache[str, tuple[Question, Answer, Sequence[SlackMessage]]] = LRUCache(
            _SHAREABLE
        )

    def listeners(self) -> list[InteractionListener]:
        return [
            InteractionListener("command", COMMAND, self._command, when_off=True),
            InteractionListener("shortcut", SHORTCUT, self._shortcut, is_public=True),
            InteractionListener("action", SHARE, self._share, is_public=True),
        ]

    def _command(self, interaction: Interaction) -> None:
        words = interaction.text.lower()
        channel = self._channel(interaction.asker.channel)
        if channel.off and words not in ("help", "status"):
            interaction.say(OFF)
            return
        match words:
            case "" | "help":
                interaction.say(USAGE)
            case "status":
                settings = [f"• {line}" for line in channel.described()]
                here = ["*In this channel*:", *settings] if settings else []
                interaction.say("\n".join([*self._status_lines(), *here]))
            case "reindex":
                interaction.say(self._reindex.order(interaction.asker.user))
            case _:
                key = self._key(interaction.asker, f"{time.time():.6f}")
                user, text = interaction.asker.user, interaction.text
                url = interaction.respond.response_url or ""
                question = by_hand("command", key, user, text=text, response_url=url)
                self._journal.note(question)
                interaction.say(LOOKING_UP)
                shortened = self._shortened(question)
                self._handler.answer_privately(InPrivate(interaction.respond, question, shortened))

    def _shortened(
        self, question: Question
    ) -> Callable[[Answer, Sequence[SlackMessage]], list[SlackMessage]]:
        def shortened(answer: Answer, messages: Sequence[SlackMessage]) -> list[SlackMessage]:
            with self._lock:
                self._shareable[answer.id] = (question, answer, messages)
            return private_messages(answer, messages, can_share=not question.is_direct)

        return shortened

    def _share(self, interaction: Interaction) -> None:
        """Post a private answer for everybody, with the question and the name of the sharer."""
        answer_id, asker = interaction.value, interaction.asker
        with self._lock:
            shared = self._shareable.get(answer_id)
            is_own = shared is not None and _is_of(shared[0], asker)
            if is_own:
                del self._shareable[answer_id]
        if shared is None:
            interaction.say("I no longer have this answer. Please ask again.")
            return
        if not is_own:
            interaction.say(NOT_YOURS)
            return
        try:
            self._post_shared(*shared)
        except (*SLACK_FAILED, NotPosted) as error:
            if isinstance(error, NotPosted):
                code, is_final = error.code, not isinstance(error, Unposted)
            else:
                code, is_final = slack_error(error), not may_heal(error)
            log.info("could not share an answer: %s", code)
            with self._lock:
                self._shareable[answer_id] = shared
            interaction.say(not_shared(code, is_final=is_final))
            return
        delete_original(interaction.respond)

    def _post_shared(
        self, question: Question, answer: Answer, messages: Sequence[SlackMessage]
    ) -> None:
        """Post the question as a message, and the answer in its thread."""
        words = read_text(question.text, self._name_of)
        text = f"<@{question.user}> asked me: {escape(words[:_MAX_WORDS])}"
        posted = self._post.chat_postMessage(
            channel=question.channel,
            text=text,
            unfurl_links=False,
            unfurl_media=False,
            metadata={"event_type": QUOTE, "event_payload": {"asker": question.user}},
        )
        root = str(posted["ts"])
        try:
            public = replace(question, ts=root, thread_ts=root)
            reply_ts = InThread(self._post, self._me, public).outgoing(answer, messages).post()
        except NotPosted:
            self._post.chat_delete(channel=question.channel, ts=root)
            raise
        self._journal.share(answer.id, root, reply_ts)

    def _shortcut(self, interaction: Interaction) -> None:
        """Answer the message that the shortcut was used on, in its thread."""
        message, asker = interaction.message, interaction.asker
        if message is None:
            return
        key = self._key(asker, interaction.action_ts or f"{time.time():.6f}")
        question = by_hand(
            "shortcut",
            key,
            asker.user,
            thread_ts=interaction.thread_ts or message.ts,
            about=message.ts,
        )
        in_thread = self._journal.in_thread(key.team, key.channel, question.thread_ts)
        if any(m.state == "claimed" and (m.about or m.ts) == message.ts for m in in_thread):
            interaction.say(_UNDER_WAY)
            return
        self._journal.note(question)
        self._handler.handle(question, excerpt=[message])
        if self._journal.holds(key):
            interaction.say(_UNDER_WAY)

    def _key(self, asker: Asker, at: str) -> Key:
        """Return a key that no message has, in order with their timestamps."""
        return Key(self._me.team_id, asker.channel, f"{at}-{asker.user}")


def _is_of(question: Question, asker: Asker) -> bool:
    return (question.user, question.channel) == (asker.user, asker.channel)


def private_messages(
    answer: Answer, messages: Sequence[SlackMessage], *, can_share: bool
) -> list[SlackMessage]:
    """Return the messages as one person sees them: at most four, the last one with *Share*.

    *Need a human* is left out, since the people it calls could not see the answer.
    """
    shortened = [*messages]
    *_, last = shortened
    blocks = [_without(block, HUMAN) for block in last["blocks"]]
    blocks = [block for block in blocks if block.get("elements") != []]
    if can_share:
        blocks.append(actions(SHARE, [button(SHARE, "Share in channel", answer.id)]))
    if len(shortened) > _RESPONSES:
        how = " *Share in channel* posts all of it." if can_share else ""
        line = f":warning: The middle of this answer is too long to be shown here.{how}"
        blocks.insert(0, context("footnote_left_out", line))
        shortened = [*shortened[: _RESPONSES - 1], last]
    shortened[-1] = {**last, "blocks": blocks}
    return shortened


def _without(block: Block, action_id: str) -> Block:
    if block.get("block_id") != "footnote_actions":
        return block
    return {**block, "elements": [e for e in block["elements"] if e["action_id"] != action_id]}
