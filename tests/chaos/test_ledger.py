"""The ledger of the chaos harness notices every way in which a question can go wrong."""

from collections.abc import Callable
from typing import Any

import pytest

from tests.chaos.ledger import Asked, Ledger
from tests.chaos.pages import limit_of

Json = dict[str, Any]


class Workspace:
    """A workspace of two questions with one right answer each, until a test changes it."""

    def __init__(self) -> None:
        self.asked = [
            Asked(page, "mention", "C0GENERAL", f"{page}.0", f"{page}.0") for page in (3, 4)
        ]
        self.posts = [reply(each) for each in self.asked]
        self.sessions: list[Json] = []

    def post(self, name: str, **body: Any) -> Json:
        raise AssertionError(f"nobody asks: {name} {body}")

    def messages(self, channel: str, thread_ts: str = "") -> list[Json]:
        return self.posts

    def state(self) -> Json:
        return {"statuses": [], "sessions": self.sessions}


def reply(asked: Asked, verdict: str = "answered") -> Json:
    text = f"The limit is {limit_of(asked.page)} requests a second."
    payload = {"question": asked.ts, "verdict": verdict}
    metadata = {"event_type": "footnote_answer", "event_payload": payload}
    return {"bot_id": "B0", "thread_ts": asked.thread_ts, "text": text, "metadata": metadata}


def lose(space: Workspace) -> None:
    del space.posts[0]


def double(space: Workspace) -> None:
    space.posts.append(reply(space.asked[0]))


def cross_pages(space: Workspace) -> None:
    space.posts[0]["text"] = space.posts[1]["text"]


def cross_threads(space: Workspace) -> None:
    space.posts[0]["thread_ts"] = space.asked[1].thread_ts


def leave_half(space: Workspace) -> None:
    thread_ts = space.asked[0].thread_ts
    space.posts.append({"bot_id": "B0", "thread_ts": thread_ts, "text": "The limit is"})


def leave_status(space: Workspace) -> None:
    thread = {"channel": "C0GENERAL", "thread_ts": space.asked[1].thread_ts}
    space.sessions.append({**thread, "status": "processing"})


def counted(space: Workspace) -> Json:
    ledger = Ledger(space)
    for each in space.asked:
        ledger.note(each)
    figures = ledger.count(settle=0).figures()
    return {name: figures[name] for name in ("lost", "doubled", "crossed", "half", "stuck")}


NOTHING = {"lost": 0, "doubled": 0, "crossed": 0, "half": 0, "stuck": 0}


def test_two_right_answers_count_as_nothing_wrong() -> None:
    assert counted(Workspace()) == NOTHING


@pytest.mark.parametrize(
    ("change", "name"),
    [
        (lose, "lost"),
        (double, "doubled"),
        (cross_pages, "crossed"),
        (cross_threads, "crossed"),
        (leave_half, "half"),
        (leave_status, "stuck"),
    ],
)
def test_one_fault_counts_once_and_under_its_own_name(
    change: Callable[[Workspace], None], name: str
) -> None:
    space = Workspace()
    change(space)
    assert counted(space) == NOTHING | {name: 1}


def test_a_reply_in_another_channel_does_not_answer_a_question() -> None:
    space = Workspace()
    ledger = Ledger(space)
    for each in space.asked:
        ledger.note(each)
    assert ledger.unanswered() == []
    lose(space)
    assert [each.page for each in ledger.unanswered()] == [3]


def test_the_later_parts_of_a_long_answer_are_not_further_answers() -> None:
    space = Workspace()
    part = reply(space.asked[0])
    part["metadata"]["event_payload"]["part"] = 1
    space.posts.append(part)
    assert counted(space) == NOTHING
