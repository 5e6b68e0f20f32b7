"""Noted before the acknowledgement, claimed once, answered once, over threads and processes."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import sqlalchemy as sa

from agent.answer import Answer, Segment
from agent.model.budget import Booking
from bot.answering.rate_limit import RateLimit
from bot.journal import claims as module
from bot.journal import retention
from bot.journal.agent_sessions import AgentSessions
from bot.journal.claims import Journal, open_journal
from bot.journal.records import (
    AnswerRecord,
    AnswerText,
    BookedRequest,
    HumanCall,
    NotedMessage,
    Rewording,
    Vote,
)
from bot.journal.spending import Bookings
from bot.question.event import Key, Question, by_hand
from bot.question.thread_message import read_thread_message
from bot.slack.identity import Identity

ASKED = Question("T1", "C1", "1.1", "1.1", "U1", "why?", "channel", is_mention=True, gesture="g1")


def state(journal: Journal, key: Key = ASKED.key) -> str | None:
    noted = journal.message(key)
    return noted.state if noted else None


def test_a_message_is_claimed_by_one_caller_only(journal: Journal) -> None:
    journal.note(ASKED)
    won: list[bool] = []
    threads = [
        threading.Thread(target=lambda: won.append(journal.claim(ASKED.key))) for _ in range(16)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(won) == [False] * 15 + [True]


def test_noting_twice_at_once_keeps_one_row(journal: Journal) -> None:
    threads = [threading.Thread(target=journal.note, args=(ASKED,)) for _ in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert state(journal) == "noted"


def test_one_gesture_under_two_ts_noted_many_times_at_once_is_one_question(
    journal: Journal,
) -> None:
    twins = [ASKED, replace(ASKED, ts="1.3")] * 8
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(journal.note, twins))
    assert [journal.claim(twin.key) for twin in twins].count(True) == 1


def test_an_ignored_message_does_not_eat_the_mention(journal: Journal) -> None:
    journal.note(replace(ASKED, is_mention=False))
    journal.ignore(ASKED.key, "not part of the thread")
    journal.note(ASKED)
    assert journal.claim(ASKED.key)


def test_what_was_answered_is_never_claimed_again(journal: Journal) -> None:
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    journal.finish(ASKED.key, "answered", reply_ts="1.2", answer_id="a1")
    journal.note(ASKED)
    assert not journal.claim(ASKED.key)
    assert not journal.unfinished(at_start=True)


def test_what_was_answered_is_taken_once_more_when_somebody_asks_for_it(journal: Journal) -> None:
    journal.note(ASKED)
    assert not journal.claim_again(ASKED.key)
    assert journal.claim(ASKED.key)
    journal.finish(ASKED.key, "answered", reply_ts="1.2", answer_id="a1")
    assert [journal.claim_again(ASKED.key) for _ in range(2)] == [True, False]
    assert journal.holds(ASKED.key)


def test_a_reply_found_in_the_thread_ends_no_answer_that_is_still_being_made(
    journal: Journal,
) -> None:
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    journal.found_answered(ASKED.key, "1.2")
    assert journal.holds(ASKED.key)
    journal.release(ASKED.key)
    journal.found_answered(ASKED.key, "1.2")
    assert not journal.claim(ASKED.key)


def test_one_gesture_under_two_ts_is_one_question(journal: Journal) -> None:
    twin = replace(ASKED, ts="1.3", thread_ts="1.3")
    journal.note(ASKED)
    journal.note(twin)
    journal.note(replace(twin, gesture=None))
    assert journal.claim(ASKED.key)
    assert not journal.claim(twin.key)


def test_a_claim_of_a_dead_process_is_found_at_the_next_start(tmp_path: Path) -> None:
    first = open_journal(None, tmp_path)
    first.note(ASKED)
    assert first.claim(ASKED.key)
    first.close()
    second = open_journal(None, tmp_path)
    assert [m.key for m in second.unfinished(at_start=True)] == [ASKED.key]
    assert second.claim(ASKED.key)
    second.close()


def test_a_message_that_kills_its_process_every_time_is_given_up(tmp_path: Path) -> None:
    for _ in range(module.MAX_ATTEMPTS):
        journal = open_journal(None, tmp_path)
        journal.note(ASKED)
        assert journal.claim(ASKED.key)
        journal.close()
    journal = open_journal(None, tmp_path)
    assert not journal.claim(ASKED.key)
    journal.close()


def test_replicas_respect_a_living_claim_and_take_over_a_dead_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"sqlite:///{tmp_path}/shared.sqlite"
    one, two = open_journal(url, tmp_path), open_journal(url, tmp_path)
    one.note(ASKED)
    assert one.claim(ASKED.key)
    assert not two.claim(ASKED.key)
    assert one.holds(ASKED.key)
    assert not two.holds(ASKED.key)
    monkeypatch.setattr(module, "LEASE_SECONDS", -1.0)
    one.renew([ASKED.key])
    assert [m.key for m in two.unfinished(at_start=True)] == [ASKED.key]
    assert two.claim(ASKED.key)
    assert not one.holds(ASKED.key)
    one.close()
    two.close()


def test_a_deleted_question_is_no_longer_held_and_never_claimed(journal: Journal) -> None:
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    journal.delete(ASKED.key)
    assert not journal.holds(ASKED.key)
    journal.finish(ASKED.key, "answered")
    assert state(journal) == "deleted"
    assert not journal.claim(ASKED.key)


def test_a_released_claim_costs_no_attempt(journal: Journal) -> None:
    journal.note(ASKED)
    for _ in range(module.MAX_ATTEMPTS + 1):
        assert journal.claim(ASKED.key)
        journal.release(ASKED.key)


def test_the_last_vote_of_a_person_counts(journal: Journal) -> None:
    journal.vote("a1", "U1", "up")
    journal.vote("a1", "U2", "up")
    journal.vote("a1", "U1", "down", "too long")
    votes = {v.user: (v.vote, v.reason) for v in journal.votes("a1")}
    assert votes == {"U1": ("down", "too long"), "U2": ("up", None)}


def test_votes_of_a_person_that_come_at_once_are_one_vote(journal: Journal) -> None:
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(lambda _: journal.vote("a1", "U1", "up"), range(16)))
    assert [v.vote for v in journal.votes("a1")] == ["up"]


def test_what_no_database_takes_as_text_is_left_out_of_it(journal: Journal) -> None:
    journal.note(replace(ASKED, ts="2.1", user="U\0A\ud83dB"))
    journal.vote("a1", "U1", "down", "a \0 b \ud83d c \N{WRENCH}")
    noted = journal.message(replace(ASKED, ts="2.1").key)
    assert noted is not None
    assert noted.user == "UA?B"
    assert [v.reason for v in journal.votes()] == ["a  b ? c \N{WRENCH}"]


def test_a_human_is_called_once_an_answer(journal: Journal) -> None:
    assert journal.call_human("a1", "U1")
    assert not journal.call_human("a1", "U2")


def test_no_text_of_question_or_answer_is_on_disk(journal: Journal, tmp_path: Path) -> None:
    message = read_thread_message({"text": "sesame question"}, Identity("U0", None, "T1"))
    question = replace(ASKED, text="sesame question", words="sesame", message=message)
    journal.note(question)
    answer = Answer("a1", "sesame question", "answered", (Segment("sesame answer"),))
    journal.record(question, answer, "1.2")
    found = journal.answer("a1")
    assert found is not None
    assert found.verdict == "answered"
    journal.close()
    for file in tmp_path.iterdir():
        assert b"sesame" not in file.read_bytes()


def test_words_that_are_kept_go_after_thirty_days(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal = open_journal(None, tmp_path, store_text=True)
    journal.record(ASKED, Answer("a1", "why?", "answered", (Segment("because"),)), "1.2")
    kept = journal.text("a1")
    assert kept is not None
    assert (kept.question, kept.text) == ("why?", "because")
    journal.close()
    monkeypatch.setattr(retention, "KEEP_DAYS", -1.0)
    journal = open_journal(None, tmp_path, answer_days=1.0)
    assert journal.text("a1") is None
    assert journal.answer("a1") is not None
    journal.close()


def test_looking_in_beside_a_running_bot_leaves_its_claims(tmp_path: Path) -> None:
    bot = open_journal(None, tmp_path)
    bot.note(ASKED)
    assert bot.claim(ASKED.key)
    beside = open_journal(None, tmp_path, alone=False)
    assert bot.holds(ASKED.key)
    beside.close()
    bot.close()


def test_replicas_whose_clocks_differ_by_hours_claim_once(
    database: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = database or f"sqlite:///{tmp_path}/shared.sqlite"
    one, two = open_journal(url, tmp_path), open_journal(url, tmp_path)
    now = time.time()
    for ahead in (7_200.0, -7_200.0):
        asked = replace(ASKED, ts=f"{ahead}", gesture=None)
        one.note(asked)
        assert one.claim(asked.key)
        with monkeypatch.context() as elsewhere:
            elsewhere.setattr("time.time", lambda: now + ahead)  # noqa: B023  # called at once
            assert not two.unfinished(at_start=True)
            assert not two.claim(asked.key)
            two.note(replace(asked, ts=f"{ahead}9"))
        assert one.holds(asked.key)
    assert not one.unfinished(at_start=False)
    one.close()
    two.close()


def test_a_clock_that_jumps_ends_no_claim_of_a_living_process(journal: Journal) -> None:
    journal.note(ASKED)
    assert journal.claim(ASKED.key)
    for until in (0.0, time.time() + 40 * 86_400):
        with journal.session() as session:
            session.execute(sa.update(NotedMessage).values(lease_until=until))
        assert not journal.claim(ASKED.key)
        assert not journal.unfinished(at_start=False)


def test_questions_of_a_clock_that_was_put_back_are_found_again(
    database: str | None, tmp_path: Path
) -> None:
    first = open_journal(database, tmp_path)
    first.note(ASKED)
    first.note(replace(ASKED, ts="1.5", gesture=None))
    assert first.claim(ASKED.key)
    later = time.time() + 3 * 3_600
    with first.session() as session:
        session.execute(sa.update(NotedMessage).values(noted_at=later, lease_until=later))
    first.close()
    second = open_journal(database, tmp_path)
    for at_start in (True, False):
        assert {m.ts for m in second.unfinished(at_start=at_start)} == {"1.1", "1.5"}
    assert second.claim(ASKED.key)
    second.close()


def test_while_the_bot_runs_nothing_that_names_people_is_kept_for_longer_than_thirty_days(
    database: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIDY_SECONDS", 0.0)
    journal = open_journal(database, tmp_path, store_text=True)
    for number, age in enumerate((0.0, 31 * 86_400.0)):
        asked, answer_id = replace(ASKED, ts=f"{number}", channel=f"C{number}"), f"a{number}"
        journal.note(asked)
        journal.record(asked, Answer(answer_id, "why?", "answered"), None)
        journal.vote(answer_id, "U1", "up")
        journal.call_human(answer_id, "U1")
        Bookings(journal).book(Booking(answer_id, answer_id, "U1", "claude-opus-5-5", 0.25))
        RateLimit(journal, 9, 9).refusal(asked, is_another=True)
        with journal.session() as session:
            for table, at, ours in (
                (NotedMessage, "noted_at", NotedMessage.ts == asked.ts),
                (AnswerRecord, "at", AnswerRecord.id == answer_id),
                (AnswerText, "at", AnswerText.answer_id == answer_id),
                (Vote, "at", Vote.answer_id == answer_id),
                (HumanCall, "at", HumanCall.answer_id == answer_id),
                (BookedRequest, "at", BookedRequest.id == answer_id),
                (Rewording, "at", Rewording.channel == asked.channel),
            ):
                session.execute(sa.update(table).where(ours).values({at: time.time() - age}))
    journal.tidy()
    with journal.session() as session:
        kept = {
            table.__tablename__: session.scalar(sa.select(sa.func.count()).select_from(table))
            for table in (
                NotedMessage,
                AnswerRecord,
                AnswerText,
                Vote,
                HumanCall,
                BookedRequest,
                Rewording,
            )
        }
    assert set(kept.values()) == {1}, kept
    journal.close()


def test_a_session_is_over_once_its_question_is_answered_or_a_day_old(journal: Journal) -> None:
    sessions = AgentSessions(journal)
    other = replace(ASKED, ts="1.2", gesture=None)
    for question in (ASKED, other):
        journal.note(question)
        assert journal.claim(question.key)
    sessions.mark(ASKED.key, "processing")
    journal.finish(ASKED.key, "answered")
    assert not sessions.left()  # the other question of the thread is under way
    journal.finish(other.key, "answered")
    assert [row.key for row in sessions.left()] == [ASKED.key]
    sessions.mark(ASKED.key, None)
    assert not sessions.left()
    stuck = replace(ASKED, ts="1.3", gesture=None)
    journal.note(stuck)
    sessions.mark(stuck.key, "processing")
    assert not sessions.left()
    with journal.session() as session:
        session.execute(
            sa.update(NotedMessage)
            .where(NotedMessage.ts == "1.3")
            .values(noted_at=time.time() - 86_500)
        )
    assert [row.key for row in sessions.left()] == [stuck.key]


def test_the_address_of_a_private_question_is_kept_until_it_ends_and_half_an_hour_at_most(
    database: str | None, tmp_path: Path
) -> None:
    journal = open_journal(database, tmp_path)

    def asked(ts: str) -> tuple[Question, str | None]:
        key = Key("T1", "C1", ts)
        journal.note(by_hand("command", key, "U1", response_url="https://hooks.example.com/sesame"))
        noted = journal.message(key)
        return by_hand("command", key, "U1"), noted.response_url if noted else None

    def address(question: Question) -> str | None:
        noted = journal.message(question.key)
        assert noted is not None
        return noted.response_url

    answered, url = asked("1.1")
    assert url == "https://hooks.example.com/sesame"
    assert journal.claim(answered.key)
    assert address(answered)
    journal.finish(answered.key, "answered")
    ignored, _ = asked("1.2")
    journal.ignore(ignored.key, "asked in private")
    forgotten, _ = asked("1.3")
    fresh, _ = asked("1.4")
    with journal.session() as session:
        session.execute(
            sa.update(NotedMessage)
            .where(NotedMessage.ts == "1.3")
            .values(noted_at=time.time() - 1_801)
        )
    journal.tidy()
    assert [address(question) for question in (answered, ignored, forgotten)] == [None] * 3
    assert address(fresh)
    assert "sesame" not in repr(fresh)
    journal.close()
