"""When Footnote speaks and when it stays silent."""

from typing import Any

import pytest

from bot.question.event import Question, read_question
from bot.question.policy import decide
from bot.question.thread_message import ThreadMessage, read_thread_message
from bot.slack.identity import NOTICE, Identity

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T0SANDBOX")
AT = "<@U0FOOTNOTE>"
NAMES = {"U0SAM": "sam", "U0KIM": "Kim Lee", "U0LEE": "lee"}

Said = tuple[str, str]


def message(number: int, said: Said, **more: Any) -> ThreadMessage:
    who, text = said
    ids = {"bot": "U0FOOTNOTE", "notice": "U0FOOTNOTE", "alert": "U0ALERTS"}
    found: dict[str, Any] = {
        "user": ids.get(who, f"U0{who.upper()}"),
        "text": text,
        "ts": f"17000000{number:02d}.000100",
        "thread_ts": "1700000000.000100",
    }
    if who in ids:
        found["bot_id"] = "B0ALERTS" if who == "alert" else "B0FOOTNOTE"
    if who == "notice":
        found["metadata"] = {"event_type": NOTICE, "event_payload": {}}
    return read_thread_message({**found, **more}, ME)


def hear(*said: Said, channel: str = "C0X", answering: bool = False) -> tuple[str, str]:
    """Decide about the last message of a thread."""
    thread = [message(number, line) for number, line in enumerate(said)]
    question = read_question(thread[-1], ME, channel=channel)
    assert isinstance(question, Question)
    decision = decide(question, thread, ME, is_answering=answering, name_of=NAMES.get)
    return decision.action, decision.reason


BETWEEN = "people are talking to each other"
ASKED: tuple[Said, ...] = (("sam", f"{AT} how do I roll back?"), ("bot", "Run it [a-0]."))
TAGGED: tuple[Said, ...] = (
    ("kim", "ledger is slow"),
    ("lee", "looking"),
    ("kim", f"{AT} which dashboard?"),
    ("bot", "That one [a-0]."),
)
ALERT: tuple[Said, ...] = (("alert", "FIRING"), ("sam", f"{AT} what now?"), ("bot", "This [a-0]."))


@pytest.mark.parametrize(
    ("thread", "says"),
    [
        (ASKED, ("sam", "and how do I check that it worked")),
        (ASKED, ("sam", "still the same error after that")),
        (ASKED, ("kim", "what about the EU cluster?")),
        (ASKED, ("sam", "I meant staging")),
        (ASKED, ("sam", "the other cluster")),
        (ASKED, ("sam", "@Footnote and in the EU")),
        (ALERT, ("kim", "is there a dashboard?")),
        (TAGGED, ("kim", "and in the EU?")),
        (TAGGED, ("lee", f"{AT} and in the EU?")),
        (ASKED, ("sam", f"<@U0KIM> fyi, {AT} what next?")),
        ((("kim", "deploying"), ("lee", "ok")), ("sam", AT)),
        (
            (*ASKED, ("sam", "stop"), ("kim", "hm"), ("kim", f"{AT} go on"), ("bot", "x")),
            ("kim", "and?"),
        ),
    ],
)
def test_it_answers_messages_that_are_meant_for_it(thread: tuple[Said, ...], says: Said) -> None:
    assert hear(*thread, says)[0] == "answer"


@pytest.mark.parametrize(
    ("thread", "says", "why"),
    [
        ((("kim", "deploying"), ("lee", "ok")), ("sam", "is it out?"), "not part of the thread"),
        (ASKED, ("sam", "<@U0KIM> check this out"), "addressed to somebody else"),
        (ASKED, ("sam", "<!subteam^S1> check this out?"), "addressed to somebody else"),
        (ASKED, ("sam", "<!here> is anybody affected?"), "addressed to somebody else"),
        ((*TAGGED, ), ("kim", "lee: can you restart it?"), "addressed to somebody else"),
        ((*TAGGED, ), ("kim", "@lee can you restart it?"), "addressed to somebody else"),
        ((*TAGGED, ), ("kim", "hey lee can you restart it?"), "addressed to somebody else"),
        ((*TAGGED, ), ("kim", "what do you think, lee?"), "addressed to somebody else"),
        ((*TAGGED, ), ("lee", "did you restart it, Kim"), "addressed to somebody else"),
        ((*TAGGED, ), ("lee", "one pod is stuck"), "not one of the askers"),
        ((*TAGGED, ), ("lee", "show me the dashboard"), "not one of the askers"),
        ((*TAGGED, ), ("lee", "did you look at the pods?"), "not one of the askers"),
        ((*TAGGED, ("lee", "found it")), ("kim", "which pod is it?"), BETWEEN),
        (ASKED, ("sam", "@kim can you look?"), "addressed to somebody else"),
        (ASKED, ("kim", "that is what I do as well"), "nothing asked"),
        ((*ASKED, ("kim", "hm"), ("bot", "x")), ("sam", "the other cluster"), "nothing asked"),
        (ALERT, ("sam", "the other cluster"), "nothing asked"),
        (ASKED, ("sam", "thanks a lot!"), "nothing asked"),
        (ASKED, ("sam", "ok, got it :thumbsup:"), "nothing asked"),
        (ASKED, ("sam", ":+1:"), "nothing asked"),
        (ASKED, ("sam", ""), "nothing asked"),
        (ASKED, ("sam", "rolled back, looking at the graphs"), "nothing asked"),
        (ALERT, ("sam", "<https://status.example.com>"), "nothing asked"),
        ((*ASKED, ("sam", "stop")), ("kim", "what about the EU?"), "told to stop earlier"),
        ((*ASKED, ("kim", f"{AT} stop")), ("sam", "what about the EU?"), "told to stop earlier"),
        ((("kim", "deploying"), ("lee", "ok")), ("sam", "stop"), "not part of the thread"),
    ],
)  # fmt: skip
def test_it_stays_silent_between_people(thread: tuple[Said, ...], says: Said, why: str) -> None:
    assert hear(*thread, says) == ("ignore", why)


def test_people_may_talk_to_each_other_while_an_answer_is_under_way() -> None:
    mention = ("sam", f"{AT} how do I roll back?")
    later = ("sam", "and where do I find that?")
    assert hear(mention, later, answering=True)[0] == "answer"
    assert hear(mention, ("kim", "use helm"), later, answering=True) == ("ignore", BETWEEN)


def edited(*after: Said) -> str:
    """Decide about a follow-up that was edited after other messages."""
    said = (*ASKED, ("sam", "and for the eu?"), *after)
    thread = [message(number, line) for number, line in enumerate(said)]
    question = read_question(message(2, said[2], edited={}), ME, channel="C0X")
    assert isinstance(question, Question)
    return decide(question, thread, ME, name_of=NAMES.get).reason


def test_an_edited_follow_up_is_judged_by_what_the_thread_is_now() -> None:
    assert edited() == ""
    assert edited(("kim", "use helm")) == BETWEEN
    assert edited(("kim", "use helm"), ("kim", f"{AT} right?"), ("bot", "Yes [a-0].")) == ""
    assert edited(("kim", "stop")) == "told to stop earlier"


def test_stop_counts_with_and_without_a_mention() -> None:
    assert hear(*ASKED, ("kim", "Stop, please!"))[0] == "stop"
    assert hear(*ASKED, ("sam", f"{AT} stop"))[0] == "stop"
    assert hear(*ASKED, ("sam", "stop the payments-api how?"))[0] == "answer"


def test_a_bare_mention_in_an_empty_thread_gets_help() -> None:
    assert hear(("sam", AT))[0] == "help"
    assert hear(("sam", AT), ("bot", "Ask me."), ("sam", AT))[0] == "help"


def test_direct_messages_are_always_for_it() -> None:
    assert hear(("sam", "ok"), channel="D0SAM")[0] == "answer"


def test_a_person_answered_without_a_mention_may_ask_again() -> None:
    metadata = {"event_type": "footnote_answer", "event_payload": {"asker": "U0SAM"}}
    root = message(0, ("kim", "ledger is slow"))
    reply = message(1, ("bot", "Look there [a-0]."), metadata=metadata)
    for who, action in (("sam", "answer"), ("lee", "ignore")):
        follow_up = message(2, (who, "and what if that does not help?"))
        question = read_question(follow_up, ME, channel="C0X")
        assert isinstance(question, Question)
        assert decide(question, [root, reply, follow_up], ME, name_of=NAMES.get).action == action


def test_a_word_to_stop_counts_if_it_is_only_in_blocks() -> None:
    section = {"type": "rich_text_section", "elements": [{"type": "text", "text": "please stop"}]}
    told = message(2, ("sam", ""), blocks=[{"type": "rich_text", "elements": [section]}])
    later = message(3, ("sam", "and what then?"))
    thread = [*(message(n, said) for n, said in enumerate(ASKED)), told, later]
    for number, decision in ((2, "stop"), (3, "ignore")):
        question = read_question(thread[number], ME, channel="C0X")
        assert isinstance(question, Question)
        assert decide(question, thread, ME).action == decision


def test_a_notice_does_not_make_footnote_part_of_a_thread() -> None:
    assert hear(("notice", "Docs digest"), ("kim", "who takes the first one?"))[0] == "ignore"
    assert hear(("notice", "Docs digest"), ("kim", f"{AT} who takes it?"))[0] == "answer"


def test_a_notice_does_not_interrupt_a_talk_between_people() -> None:
    talk = (*ASKED, ("kim", "I tried that"), ("notice", "The docs have changed"))
    assert hear(*talk, ("sam", "and what happened?")) == ("ignore", BETWEEN)
