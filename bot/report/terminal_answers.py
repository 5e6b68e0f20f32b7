"""Answers given in the terminal -> the journal, so that they can be traced, replayed and counted.

A journal that cannot be used costs the record, never the answer.
"""

import logging
import time
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bot.question.event import Question
from ingest.errors import FootnoteError

if TYPE_CHECKING:
    from agent.answer import Answer
    from agent.conversation import Conversation
    from agent.model.budget import Spent
    from bot.journal.claims import Journal, NotTaken

log = logging.getLogger(__name__)

TERMINAL = "terminal"
"""Stands for the team, the channel and the asker of an answer that was not given in Slack."""


class Terminal:
    """The journal as ``footnote ask`` and ``footnote chat`` use it; opened at the first use."""

    def __init__(self) -> None:
        self._opened = False

    @cached_property
    def journal(self) -> "Journal":
        journal = open_beside()
        self._opened = True
        return journal

    def close(self) -> None:
        if self._opened:
            self.journal.close()

    def spent(self, _asker: str) -> "Spent":
        return self.journal.spent(TERMINAL)

    def record(self, conversation: "Conversation", answer: "Answer") -> None:
        try:
            self.journal.record(asked_here(answer.id), answer, None, conversation.earlier)
        except FootnoteError as error:
            log.warning("answer %s is not recorded: %s", answer.id, error)


def open_beside() -> "Journal":
    """The journal that the settings name, whether or not a bot is running on it."""
    # The database's library takes a second to load, and every command has a Terminal.
    from bot.journal.claims import open_journal
    from bot.settings import BotSettings
    from ingest.settings import IndexSettings, read_settings

    settings = read_settings(BotSettings)
    data_dir = read_settings(IndexSettings).data_dir
    return open_journal(settings.journal_url, data_dir, alone=False, store_text=settings.store_text)


def replies_not_taken(data_dir: Path) -> "list[NotTaken]":
    """Of the last day; empty where no bot has run yet."""
    from bot.journal.claims import open_journal
    from bot.journal.database import JOURNAL_FILE
    from bot.settings import BotSettings
    from ingest.settings import read_settings

    address = read_settings(BotSettings).journal_url
    if address is None and not (data_dir / JOURNAL_FILE).exists():
        return []
    journal = open_journal(address, data_dir, alone=False)
    try:
        return journal.replies_not_taken(time.time() - 86_400)
    finally:
        journal.close()


def asked_here(answer_id: str) -> Question:
    """A question of the terminal in the journal's terms."""
    return Question(
        TERMINAL, TERMINAL, answer_id, answer_id, TERMINAL, "", TERMINAL, is_mention=True
    )
