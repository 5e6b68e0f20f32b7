"""Answers given in the terminal -> the journal, so that they can be traced, replayed and counted.

An answer is shown even if the journal cannot record it.
"""

import logging
import time
from dataclasses import replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from bot.question.event import Question
from ingest.errors import FootnoteError

if TYPE_CHECKING:
    from agent.answer import Answer
    from agent.conversation import Conversation
    from agent.model.budget import Booking, Spending, Spent
    from bot.journal.claims import Journal
    from bot.journal.not_taken import NotTaken
    from bot.journal.spending import Bookings

log = logging.getLogger(__name__)

TERMINAL = "terminal"
"""Team, channel and asker of an answer that was given in the terminal."""


class Terminal:
    """The journal of the commands of the terminal; it is opened at the first use."""

    def __init__(self) -> None:
        self._opened = False

    @cached_property
    def journal(self) -> "Journal":
        journal = _open_beside_a_bot()
        self._opened = True
        return journal

    def close(self) -> None:
        if self._opened:
            self.journal.close()

    @cached_property
    def spending(self) -> "Spending":
        return _TerminalSpending(self)

    @cached_property
    def bookings(self) -> "Bookings":
        from bot.journal.spending import Bookings

        return Bookings(self.journal)

    def record(self, conversation: "Conversation", answer: "Answer") -> None:
        try:
            self.journal.record(_terminal_question(answer.id), answer, None, conversation.earlier)
        except FootnoteError as error:
            log.warning("answer %s is not recorded: %s", answer.id, error)


class _TerminalSpending:
    """Books everything for the terminal; the journal is opened with the first request."""

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal

    def spent(self, _payer: str) -> "Spent":
        return self._terminal.bookings.spent(TERMINAL)

    def book(self, booking: "Booking") -> "Spent":
        return self._terminal.bookings.book(replace(booking, payer=TERMINAL))

    def correct(self, booking_id: str, usd: float | None) -> None:
        self._terminal.bookings.correct(booking_id, usd)


def _open_beside_a_bot(data_dir: Path | None = None) -> "Journal":
    """Open the journal of the settings, without touching the claims of a bot that uses it."""
    # The database's library takes a second to load, and every command has a Terminal.
    from bot.journal.claims import open_journal
    from bot.settings import BotSettings
    from ingest.settings import IndexSettings, read_settings

    settings = read_settings(BotSettings)
    return open_journal(
        settings.journal_url,
        data_dir or read_settings(IndexSettings).data_dir,
        alone=False,
        store_text=settings.store_text,
    )


def replies_not_taken(data_dir: Path) -> "list[NotTaken]":
    """Replies of the last day that Slack has not accepted; empty if no bot has run yet."""
    from bot.journal.database import JOURNAL_FILE
    from bot.settings import BotSettings
    from ingest.settings import read_settings

    is_file = read_settings(BotSettings).journal_url is None
    if is_file and not (data_dir / JOURNAL_FILE).exists():
        return []
    journal = _open_beside_a_bot(data_dir)
    try:
        return journal.replies_not_taken(time.time() - 86_400)
    finally:
        journal.close()


def _terminal_question(answer_id: str) -> Question:
    """Return a question from the terminal as a ``Question``, with constants for Slack's ids."""
    return Question(
        TERMINAL, TERMINAL, answer_id, answer_id, TERMINAL, "", TERMINAL, is_mention=True
    )
