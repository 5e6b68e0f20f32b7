"""What people do with an answer: thumbs, a reason, the passages behind it, a call for a human.

A vote is stored before anything else happens, and a person's last vote counts. The only words
stored are those that somebody writes into the reason form.
"""

import logging
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any

from slack_bolt import Respond

from bot.blocks.around import FEEDBACK, HUMAN, PASSAGES
from bot.blocks.elements import code, link, section
from bot.journal.claims import Journal
from bot.journal.records import AnswerRecord
from bot.listeners.bolt import Interaction
from bot.reading.mrkdwn import escape
from bot.reply.in_private import say
from bot.slack.clients import SLACK_FAILED, Clients, slack_error
from bot.slack.message_links import permalink
from ingest.documents import Passage
from ingest.index import Index

log = logging.getLogger(__name__)

REASON_FORM = "footnote_reason"
_MOST_PASSAGES = 6
_PASSAGE_CHARS = 1_500
_NOTED = "Thank you. Noted as not helpful."
_KEPT = "Thank you. Your words are kept for the docs team."
_FORGOTTEN = "I no longer know this answer. Ask again and use the buttons under the new one."

_VERDICTS = {
    "answered": "I answered from the docs.",
    "partly": "I answered, but only a part of it is in the docs.",
    "uncited": "I answered, but without a source in the docs.",
    "not_in_docs": "I found nothing about it in the docs.",
    "retrieval_only": "I could only quote passages from the docs.",
}

Json = dict[str, Any]


class Feedback:
    def __init__(
        self,
        clients: Clients,
        journal: Journal,
        index: Index,
        help_group: Callable[[str], str | None],
        owners: Mapping[str, str] | None = None,
    ) -> None:
        """``help_group``: channel -> the user group or person that is called from there.

        ``owners``: owner of pages -> the user group or person that stands for it in Slack.
        """
        self._clients = clients
        self._journal = journal
        self._index = index
        self._help_group = help_group
        self._owners = owners or {}

    def listeners(self) -> list[Interaction]:
        return [
            Interaction("action", FEEDBACK, self._vote),
            Interaction("action", PASSAGES, self._passages),
            Interaction("action", HUMAN, self._human, is_public=True),
            Interaction("view", REASON_FORM, self._reason),
        ]

    def _vote(self, body: Json, respond: Respond) -> None:
        answer_id, _, vote = _value(body).rpartition(":")
        if vote not in ("up", "down") or not answer_id:
            return
        self._journal.vote(answer_id, _user(body), vote)
        if vote == "down":
            self._ask_why(body, respond, answer_id)
        else:
            say(respond, "Thank you. :pray: Noted as helpful.", body=body)

    def _ask_why(self, body: Json, respond: Respond, answer_id: str) -> None:
        try:
            self._clients.hint.views_open(
                trigger_id=body["trigger_id"], view=reason_form(answer_id)
            )
        except (*SLACK_FAILED, KeyError) as error:
            log.info("could not ask for a reason: %s", slack_error(error))
            say(respond, _NOTED, body=body)

    def _reason(self, body: Json, _respond: Respond) -> None:
        view = body["view"]
        answer_id = str(view["private_metadata"])
        fields = view.get("state", {}).get("values", {}).get("reason", {})
        reason = (fields.get("reason", {}).get("value") or "").strip()
        if reason:
            self._journal.vote(answer_id, _user(body), "down", reason[:2_000])
        if record := self._journal.answer(answer_id):
            self._thank(record, _user(body), _KEPT if reason else _NOTED)

    def _thank(self, record: AnswerRecord, user: str, text: str) -> None:
        """A form has no place to respond to: beside the answer that it is about; best effort."""
        try:
            self._clients.post.chat_postEphemeral(
                channel=record.channel, user=user, thread_ts=record.thread_ts or None, text=text
            )
        except SLACK_FAILED as error:
            log.info("could not thank for a reason: %s", slack_error(error))

    def _passages(self, body: Json, respond: Respond) -> None:
        """Show the asker of the click what the answer was made from, as indexed now."""
        record = self._journal.answer(_value(body))
        if record is None:
            say(respond, _FORGOTTEN, body=body)
            return
        cited = [str(c["id"]) for c in record.citations]
        ids = [*dict.fromkeys([*cited, *(str(c["id"]) for c in record.passages)])]
        found = self._index.passages(ids[:_MOST_PASSAGES])
        if not found:
            say(respond, "The passages behind this answer are no longer in the docs.", body=body)
            return
        text = "The passages behind this answer, those that it cites first:"
        say(respond, text, [section(text), *passage_blocks(found, cited)], body=body)

    def _human(self, body: Json, respond: Respond) -> None:
        """Call a human into the thread, once an answer."""
        record = self._journal.answer(_value(body))
        if record is None:
            say(respond, _FORGOTTEN, body=body)
            return
        if not self._journal.call_human(record.id, _user(body)):
            say(respond, "Somebody was called already: see the thread.", body=body)
            return
        owners = {p: info.owner for p, info in self._pages(record).items() if info.owner}
        called = self._called(record.channel, owners.values())
        question = permalink(self._clients.hint, record.channel, record.ts)
        text = summary(record, _user(body), called, owners, question)
        try:
            self._clients.post.chat_postMessage(
                channel=record.channel,
                thread_ts=record.thread_ts or None,
                text=text,
                unfurl_links=False,
                unfurl_media=False,
            )
        except SLACK_FAILED as error:
            self._journal.uncall_human(record.id)
            log.warning("could not call a human: %s", slack_error(error))
            told = "I could not post the call for help. Try again, or ask in person."
            say(respond, told, body=body)

    def _called(self, channel: str, owners: Iterable[str]) -> list[str]:
        """Whoever stands for the owners of the pages, else the channel's or the general group."""
        names = [name for owner in owners for name in (owner, *owner.split(", "))]
        of_owners = [self._owners[name] for name in names if name in self._owners]
        group = self._help_group(channel)
        return [*dict.fromkeys(of_owners)] or ([group] if group else [])

    def _pages(self, record: AnswerRecord) -> dict[str, Any]:
        cited = {str(c["path"]) for c in record.citations}
        return {d.path: d for d in self._index.documents() if d.path in cited} if cited else {}


def reason_form(answer_id: str) -> Json:
    """The form that a thumb down opens."""
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
                "block_id": "reason",
                "optional": True,
                "label": {"type": "plain_text", "text": "What should the answer have said?"},
                "hint": {
                    "type": "plain_text",
                    "text": "Your vote is counted. What you write here is kept for the docs team.",
                },
                "element": {
                    "type": "plain_text_input",
                    "action_id": "reason",
                    "multiline": True,
                    "max_length": 2000,
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
    """The line that calls somebody: who asks, about what, what Footnote had, who owns the pages.

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
        parts.append("Pages: " + ", ".join(map(code, pages[:5])) + ".")
    if owners:
        named = ", ".join(dict.fromkeys(escape(owner) for owner in owners.values()))
        parts.append(f"Owner: {named}.")
    return " ".join(parts)


def mention(ident: str) -> str:
    """A real mention of a configured group or person."""
    return f"<!subteam^{ident}>" if ident.startswith("S") else f"<@{ident}>"


def passage_blocks(passages: Sequence[Passage], cited: Collection[str] = ()) -> list[Json]:
    """Passages verbatim, each under its id, cited ones marked.

    As preformatted text nothing in them is markup.
    """
    blocks: list[Json] = []
    for passage in passages:
        head: list[Json] = [{"type": "text", "text": f"[{passage.id}]", "style": {"bold": True}}]
        if passage.url:
            head = [{"type": "link", "url": passage.url, "text": f"[{passage.id}]"}]
        title = " > ".join(dict.fromkeys((passage.title, *passage.heading)))
        head.append({"type": "text", "text": f" {title}"})
        if passage.id in cited:
            head.append({"type": "text", "text": " (cited)", "style": {"italic": True}})
        shown = passage.text[:_PASSAGE_CHARS]
        more = "\n…" if len(passage.text) > len(shown) else ""
        body = {"type": "text", "text": (shown + more) or " "}
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


def _value(body: Json) -> str:
    actions = body.get("actions") or [{}]
    return str(actions[0].get("value") or "")


def _user(body: Json) -> str:
    return str(body.get("user", {}).get("id", ""))
