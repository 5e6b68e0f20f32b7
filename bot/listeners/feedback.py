"""Buttons under an answer: thumbs, a reason, the answer's passages, a call for a human.

A vote is stored before anything else happens, and a person's last vote counts. The only words that
are stored are those written into the reason form.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence

from bot.blocks.around import FEEDBACK, HUMAN, PASSAGES
from bot.blocks.elements import Block, code, link, section
from bot.journal.claims import Journal
from bot.journal.records import AnswerRecord
from bot.listeners.interaction import Interaction, InteractionListener
from bot.reply.wording import NOT_YOURS
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.identity import NOTICE
from bot.slack.message_links import permalink
from ingest.documents import Passage
from ingest.index import Index
from ingest.shorten import shorten_end

log = logging.getLogger(__name__)

REASON_FORM = "footnote_reason"
_REASON = "reason"
_MAX_REASON = 2_000
_MOST_PASSAGES = 6
_PASSAGE_CHARS = 1_500
_MOST_NAMES = 5
_NAME_CHARS = 80
_NOTED = "Thank you. Noted as not helpful."
_KEPT = "Thank you. Your words are kept for the docs team."
_FORGOTTEN = "I no longer have this answer. Ask again and use the buttons under the new one."

_VERDICTS = {
    "answered": "I answered from the docs.",
    "partly": "I answered, but only a part of it is in the docs.",
    "uncited": "I answered, but without a source in the docs.",
    "not_in_docs": "I found nothing about it in the docs.",
    "retrieval_only": "I could only quote passages from the docs.",
}


class Feedback:
    def __init__(
        self,
        clients: Clients,
        journal: Journal,
        index: Index,
        help_group: Callable[[str], str | None],
        owners: Mapping[str, str] | None = None,
    ) -> None:
        """``help_group`` gives the user group or person that is called from a channel.

        ``owners``: owner of documents -> the user group or person in Slack.
        """
        self._clients = clients
        self._journal = journal
        self._index = index
        self._help_group = help_group
        self._owners = owners or {}

    def listeners(self) -> list[InteractionListener]:
        return [
            InteractionListener("action", FEEDBACK, self._vote),
            InteractionListener("action", PASSAGES, self._show_passages),
            InteractionListener("action", HUMAN, self._call_human, is_public=True),
            InteractionListener("view", REASON_FORM, self._store_reason),
        ]

    def _answer(self, interaction: Interaction, answer_id: str) -> AnswerRecord | None:
        """Return the answer whose button was pressed; if the presser may not see it, tell them."""
        record, asker = self._journal.answer(answer_id), interaction.asker
        if record is None:
            interaction.say(_FORGOTTEN)
        elif not record.is_for(asker.user, asker.channel):
            interaction.say(NOT_YOURS)
            return None
        return record

    def _vote(self, interaction: Interaction) -> None:
        answer_id, _, vote = interaction.value.rpartition(":")
        if vote not in ("up", "down") or not self._answer(interaction, answer_id):
            return
        self._journal.vote(answer_id, interaction.asker.user, vote)
        if vote == "down":
            self._ask_why(interaction, answer_id)
        else:
            interaction.say("Thank you. :pray: Noted as helpful.")

    def _ask_why(self, interaction: Interaction, answer_id: str) -> None:
        try:
            self._clients.hint.views_open(
                trigger_id=interaction.trigger_id, view=reason_form(answer_id)
            )
        except SLACK_FAILED as error:
            log.info("could not ask for a reason: %s", slack_error(error))
            interaction.say(_NOTED)

    def _store_reason(self, interaction: Interaction) -> None:
        answer_id, user = interaction.form_about, interaction.asker.user
        reason = interaction.inputs.get(_REASON, "")
        # A form has no channel. It was opened for somebody who voted under the answer.
        if not any(vote.user == user for vote in self._journal.votes(answer_id)):
            return
        if reason:
            self._journal.vote(answer_id, user, "down", reason[:_MAX_REASON])
        if record := self._journal.answer(answer_id):
            self._thank(record, user, _KEPT if reason else _NOTED)

    def _thank(self, record: AnswerRecord, user: str, text: str) -> None:
        """Post thanks in the answer's thread, as a form cannot show them.

        A failure is only logged.
        """
        try:
            self._clients.post.chat_postEphemeral(
                channel=record.channel, user=user, thread_ts=record.thread_ts or None, text=text
            )
        except SLACK_FAILED as error:
            log.info("could not thank for a reason: %s", slack_error(error))

    def _show_passages(self, interaction: Interaction) -> None:
        """Show one person the passages that the answer was made from, as they are indexed now."""
        record = self._answer(interaction, interaction.value)
        if record is None:
            return
        cited = [str(c["id"]) for c in record.citations]
        ids = [*dict.fromkeys([*cited, *(str(c["id"]) for c in record.passages)])]
        passages = self._index.passages(ids[:_MOST_PASSAGES])
        if not passages:
            interaction.say("The passages behind this answer are no longer in the docs.")
            return
        text = "The passages behind this answer, those that it cites first:"
        interaction.say(text, [section(text), *passage_blocks(passages, cited)])

    def _call_human(self, interaction: Interaction) -> None:
        """Call a human into the thread, once for each answer."""
        record, user = self._answer(interaction, interaction.value), interaction.asker.user
        if record is None:
            return
        if not self._journal.call_human(record.id, user):
            interaction.say("The call for help is in the thread already.")
            return
        owners = self._owners_of(record)
        called = self._called(record.channel, owners.values())
        question = permalink(self._clients.hint, record.channel, record.ts)
        try:
            self._clients.post.chat_postMessage(
                channel=record.channel,
                thread_ts=record.thread_ts or None,
                text=summary(record, user, called, owners, question),
                unfurl_links=False,
                unfurl_media=False,
                metadata={"event_type": NOTICE, "event_payload": {"notice": "human"}},
            )
        except SLACK_FAILED as error:
            self._journal.uncall_human(record.id)
            log.warning("could not call a human: %s", slack_error(error))
            interaction.say("I could not post the call for help. Try again, or ask in person.")

    def _called(self, channel: str, owners: Iterable[str]) -> list[str]:
        """Return the groups or people to call: the owners', or else the default of the channel."""
        names = [name for owner in owners for name in (owner, *owner.split(", "))]
        groups = [self._owners[name] for name in names if name in self._owners]
        default = self._help_group(channel)
        return [*dict.fromkeys(groups)] or ([default] if default else [])

    def _owners_of(self, record: AnswerRecord) -> dict[str, str]:
        """Return the owners of the cited documents, by path."""
        cited = {str(c["path"]) for c in record.citations}
        documents = self._index.documents() if cited else ()
        return {d.path: d.owner for d in documents if d.path in cited and d.owner}


def reason_form(answer_id: str) -> Block:
    """Return the form that a thumb down opens."""
    return {
        "type": "modal",
        "callback_id": REASON_FORM,
        "private_metadata": answer_id,
        "title": {"type": "plain_text", "text": "What was wrong?"},
        "submit": {"type": "plain_text", "text": "Send"},
        "close": {"type": "plain_text", "text": "Skip"},
        "blocks": [
            {
                "type": "input",
                "block_id": _REASON,
                "optional": True,
                "label": {"type": "plain_text", "text": "What should the answer have said?"},
                "hint": {
                    "type": "plain_text",
                    "text": "Your vote is counted. What you write here is kept for the docs team.",
                },
                "element": {
                    "type": "plain_text_input",
                    "action_id": _REASON,
                    "multiline": True,
                    "max_length": _MAX_REASON,
                },
            }
        ],
    }


def summary(
    record: AnswerRecord,
    user: str,
    called: Sequence[str],
    owners: Mapping[str, str],
    question: str | None,
) -> str:
    """Return the line that calls somebody: asker, topic, verdict, pages and owners.

    Only configured groups and the asker are real mentions; owners come from the docs repo.
    """
    asks = f"{' '.join(map(mention, called))} <@{user}> needs a human here".strip()
    where = f" ({link('the question', question)})" if question else ""
    parts = [f":raising_hand: {asks}{where}."]
    if not called:
        parts.append("Nobody is set up to be called from here: whoever reads this, please help.")
    parts.append(_VERDICTS.get(record.verdict, "I had no good answer."))
    pages = list(dict.fromkeys(str(c["path"]) for c in record.citations))
    if pages:
        parts.append("Pages: " + ", ".join(map(_named, pages[:_MOST_NAMES])) + ".")
    if owners:
        named = list(dict.fromkeys(map(_named, owners.values())))
        parts.append("Owner: " + ", ".join(named[:_MOST_NAMES]) + ".")
    return " ".join(parts)


def _named(name: str) -> str:
    """Return a name from the docs as short code: Slack makes no link and no mention of it."""
    return code(shorten_end(name, _NAME_CHARS))


def mention(ident: str) -> str:
    """Return a real mention of a configured group or person."""
    return f"<!subteam^{ident}>" if ident.startswith("S") else f"<@{ident}>"


def passage_blocks(passages: Sequence[Passage], cited: Collection[str] = ()) -> list[Block]:
    """Return blocks with passages verbatim, each under its id, cited ones marked.

    They are preformatted, so nothing in them is markup.
    """
    blocks: list[Block] = []
    for passage in passages:
        head: list[Block] = [{"type": "text", "text": f"[{passage.id}]", "style": {"bold": True}}]
        if passage.url:
            head = [{"type": "link", "url": passage.url, "text": f"[{passage.id}]"}]
        title = " > ".join(dict.fromkeys((passage.title, *passage.heading)))
        head.append({"type": "text", "text": f" {title}"})
        if passage.id in cited:
            head.append({"type": "text", "text": " (cited)", "style": {"italic": True}})
        text = passage.text[:_PASSAGE_CHARS]
        more = "\n…" if len(passage.text) > len(text) else ""
        body = {"type": "text", "text": (text + more) or " "}
        blocks.append(
            {
                "type": "rich_text",
                "elements": [
                    {"type": "rich_text_section", "elements": head},
                    {"type": "rich_text_preformatted", "elements": [body]},
                ],
            }
        )
    return blocks
