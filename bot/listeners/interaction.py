"""A command, shortcut, button or form -> an Interaction, read once, for those who may use Footnote.

Slack's payload is read here. *Answer again* alone uses its message once more, to change it.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from slack_bolt import Ack, Respond

from bot.blocks.elements import Block
from bot.listeners.bolt import BoltListener
from bot.question.access import Access, Asker
from bot.question.thread_message import ThreadMessage, read_thread_message
from bot.reading.block_text import SlackJson, items, string
from bot.reply.in_private import say
from bot.reply.wording import NOT_NOW
from bot.slack.identity import Identity
from ingest.errors import FootnoteError, IngestError


@dataclass(frozen=True, slots=True)
class Interaction:
    """An act of one person. Fields that do not apply to it are empty."""

    respond: Respond
    asker: Asker
    text: str
    """Words after a command."""
    value: str
    """Value of the pressed button."""
    message: ThreadMessage | None
    """The message with the button, or the one that a shortcut was used on."""
    thread_ts: str | None
    """Timestamp of the thread that the message is in. None outside threads."""
    action_ts: str
    """Time of the act, as Slack writes it."""
    trigger_id: str
    """Key that lets the app open a form, for three seconds."""
    form_about: str
    """Private metadata of the form, which names its answer."""
    inputs: Mapping[str, str]
    """Text of the form's inputs, by action id."""

    def say(self, text: str, blocks: Sequence[Block] | None = None) -> None:
        """Show a message to this person alone; after a form Slack offers no way to do so."""
        if self.respond.response_url:
            say(self.respond, text, blocks, thread_ts=self.thread_ts)


@dataclass(frozen=True, slots=True)
class InteractionListener:
    """Handles one command, shortcut, button or form."""

    kind: Literal["action", "command", "shortcut", "view"]
    name: str
    handle: Callable[[Interaction], None]
    is_public: bool = False
    """True if everybody in the channel sees the result."""
    when_off: bool = False
    """True if it is handled even in channels where Footnote is switched off."""

    def guarded(self, access: Access, me: Identity) -> BoltListener:
        """Return a listener that acknowledges everything, and handles acts of permitted people."""

        def handle(ack: Ack, body: SlackJson, respond: Respond) -> None:
            ack()
            interaction = read_interaction(body, respond, me, is_public=self.is_public)
            refusal = access.refusal(interaction.asker, when_off=self.when_off)
            if refusal is not None:
                interaction.say(refusal)
                return
            try:
                self.handle(interaction)
            except FootnoteError as error:
                interaction.say(error.spoken if isinstance(error, IngestError) else NOT_NOW)
                raise

        return BoltListener(self.kind, self.name, handle)


def read_interaction(
    body: SlackJson, respond: Respond, me: Identity, *, is_public: bool
) -> Interaction:
    """Read the payload of an interaction. Fields of a wrong type count as missing."""
    user, view = _object(body.get("user")), _object(body.get("view"))
    message = _object(body.get("message"))
    pressed = items(body.get("actions")) or [{}]
    place = message or _object(body.get("container"))
    return Interaction(
        respond=respond,
        asker=Asker(
            user=string(body.get("user_id")) or string(user.get("id")),
            channel=string(body.get("channel_id"))
            or string(_object(body.get("channel")).get("id")),
            user_team=string(user.get("team_id")) or None,
            is_public=is_public,
        ),
        text=string(body.get("text")).strip(),
        value=string(_object(pressed[0]).get("value")),
        message=read_thread_message(message, me) if message else None,
        thread_ts=string(place.get("thread_ts")) or None,
        action_ts=string(body.get("action_ts")),
        trigger_id=string(body.get("trigger_id")),
        form_about=string(view.get("private_metadata")),
        inputs=_inputs(view),
    )


def _inputs(view: SlackJson) -> dict[str, str]:
    blocks = _object(_object(view.get("state")).get("values")).values()
    inputs = {name: value for block in blocks for name, value in _object(block).items()}
    return {name: string(_object(value).get("value")).strip() for name, value in inputs.items()}


def _object(value: object) -> SlackJson:
    return value if isinstance(value, Mapping) else {}
