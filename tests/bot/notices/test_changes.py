"""A thread hears once when text it relies on was changed or removed, and of nothing else."""

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot
from slack_sdk.models.blocks import Block

from agent.answer import Answer
from bot.journal.claims import Journal, open_journal
from bot.journal.records import Announcement, CitedChunkText
from bot.notices.change_note import Change, change_note, contains_text, diff_lines, find_successor
from bot.notices.changes import Changes
from bot.notices.once import Announcements
from bot.question.event import Question
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.slack.clients import open_clients
from ingest.documents import Passage
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bot.blocks.limits import broken_limits
from tests.bot.stage import Json, Slack
from tests.ingest.embedding.hashing import HashingEmbedder

RUNBOOK = """# Payments runbook

## Rotation

Both versions of the key are valid for 24 hours.

## Rollback

Run `kubectl rollout undo deploy/payments`, then watch the error rate for ten minutes.
"""


@dataclass
class Place:
    """Docs, their index, a journal, and Slack."""

    docs: Path
    settings: IndexSettings
    index: Index
    embedder: HashingEmbedder
    journal: Journal
    slack: Slack
    process: Callable[..., Changes]

    def write(self, text: str, path: str = "runbook.md") -> None:
        (self.docs / path).write_text(text)

    def ingest(self) -> None:
        run_ingest(self.settings, self.index, self.embedder, confirm_large_deletion=True)

    def answer(self, *ids: str, channel: str = "C0INCIDENT", posted: bool = True) -> str:
        """Somebody asked, and the answer cited these chunks; the thread."""
        ts = str(self.slack.post("say", channel=channel, user="U0ONCALL", text="how?")["ts"])
        question = Question(
            "T0SANDBOX", channel, ts, ts, "U0ONCALL", "", "channel", is_mention=True
        )
        cited = tuple(self.index.passages(ids))
        assert len(cited) == len(ids)
        answer = Answer(f"a{ts}", "", "answered", (), cited, cited)
        self.journal.record(question, answer, ts if posted else None)
        return ts

    def notes(self, ts: str, channel: str = "C0INCIDENT") -> list[Json]:
        return [m for m in self.slack.messages(channel, ts) if m.get("metadata")]


@pytest.fixture
def place(slack: Slack, workspace: Sandbox, tmp_path: Path) -> Iterator[Place]:
    docs = tmp_path / "docs"
    docs.mkdir()
    template = "https://docs.example.com/{page}#L{first}-L{last}"
    settings = IndexSettings(
        docs_repo=str(docs), data_dir=tmp_path / "data", link_template=template
    )
    embedder = HashingEmbedder()
    index = open_index(settings, embedder)
    journal = open_journal(None, tmp_path / "data")
    clients = open_clients(BotSettings(bot_token="xoxb-sandbox", slack_api_url=workspace.api_url))

    def process(days: int = 7) -> Changes:
        announcements = Announcements(journal, clients.post)
        return Changes(journal, index, announcements, lambda c: c == "C0INCIDENT", days)

    place = Place(docs, settings, index, embedder, journal, slack, process)
    place.write(RUNBOOK)
    place.write("# Other\n\nA page that stays as it is.\n", "other.md")
    place.ingest()
    yield place
    index.close()
    journal.close()


def test_a_thread_gets_the_diff_of_what_it_cites(place: Place) -> None:
    ts = place.answer("runbook-0", "other-0")
    changes = place.process()
    changes.tend()
    assert place.notes(ts) == []
    place.write(RUNBOOK.replace("24 hours", "12 hours"))
    place.ingest()
    changes.tend()
    [post] = place.slack.posts()
    assert post["thread_ts"] == ts
    assert post["text"] == snapshot(
        "The docs have changed since they were cited here: runbook.\u2060md"
    )
    assert [_words(block) for block in post["blocks"]] == snapshot(
        [
            ":memo: *The docs have changed since they were cited here.* "
            "Check the new text before you rely on the answer above.",
            "`runbook.md`: <https://docs.example.com/runbook.md#L1-L5|as it was cited> → "
            "<https://docs.example.com/runbook.md#L1-L5|lines 1-5 now>",
            "-Both versions of the key are valid for 24 hours.\n"
            "+Both versions of the key are valid for 12 hours.",
            "Mention me to get the answer as of now.",
        ]
    )


def _words(block: Json) -> str:
    """The text of a block that has one."""
    while "elements" in block:
        block = block["elements"][0]
    text = block["text"]
    return str(text["text"] if isinstance(text, dict) else text)


@pytest.mark.parametrize(
    "text",
    [
        RUNBOOK.replace("## Rotation", "## New first section\n\nOther words.\n\n## Rotation"),
        RUNBOOK.replace("## Rollback", "## Rolling back").replace("ten minutes", "an hour"),
        RUNBOOK + "\n## More\n\nSomething was added at the end.\n",
        RUNBOOK.replace("# Payments runbook", "# Payments"),
    ],
    ids=["moved down", "another section changed", "added", "title changed"],
)
def test_text_that_stands_elsewhere_in_its_page_has_not_changed(text: str, place: Place) -> None:
    place.write(RUNBOOK.replace("# Payments runbook\n\n", "# Payments runbook\n\nIntro.\n\n"))
    place.ingest()
    page = place.index.document("runbook.md")
    assert page
    ident = next(passage.id for passage in page.passages if "24 hours" in passage.text)
    ts = place.answer(ident)
    changes = place.process()
    changes.tend()
    place.write(text)
    place.ingest()
    changes.tend()
    assert place.notes(ts) == []


def test_a_page_that_moved_is_no_change_and_one_that_is_gone_is(place: Place) -> None:
    moved, gone = place.answer("runbook-0"), place.answer("other-0")
    changes = place.process()
    changes.tend()
    (place.docs / "oncall").mkdir()
    (place.docs / "runbook.md").rename(place.docs / "oncall" / "payments.md")
    (place.docs / "other.md").unlink()
    place.ingest()
    changes.tend()
    assert place.notes(moved) == []
    [note] = place.notes(gone)
    assert "`other.md` is no longer in the docs" in json.dumps(note["blocks"])


def test_one_note_a_thread_and_state_whatever_restarts(place: Place) -> None:
    ts = place.answer("runbook-0", "runbook-1")
    place.process().tend()
    place.write(RUNBOOK.replace("24 hours", "12 hours").replace("ten minutes", "an hour"))
    place.ingest()
    for _ in range(3):
        place.process().tend()
    [note] = place.notes(ts)
    assert "12 hours" in json.dumps(note["blocks"])
    assert "an hour" in json.dumps(note["blocks"])
    place.write("# Other\n\nAnother change.\n", "other.md")
    place.ingest()
    place.process().tend()
    assert len(place.notes(ts)) == 1
    place.write(RUNBOOK.replace("24 hours", "6 hours").replace("ten minutes", "an hour"))
    place.ingest()
    place.process().tend()
    assert len(place.notes(ts)) == 2
    assert "an hour" not in json.dumps(place.notes(ts)[1]["blocks"])


def test_an_ingest_while_nothing_ran_is_noticed_at_the_next_start(place: Place) -> None:
    ts = place.answer("runbook-0")
    place.process().tend()
    place.write(RUNBOOK.replace("24 hours", "12 hours"))
    place.ingest()
    place.process().tend()
    assert len(place.notes(ts)) == 1


def test_only_threads_that_want_it_hear_of_it(place: Place) -> None:
    elsewhere, private = (
        place.answer("runbook-0", channel="C0GENERAL"),
        place.answer("runbook-0", posted=False),
    )
    place.process().tend()
    with place.journal.session() as session:
        assert session.query(CitedChunkText).count() == 0
    place.write(RUNBOOK.replace("24 hours", "12 hours"))
    place.ingest()
    place.process().tend()
    assert place.notes(elsewhere, "C0GENERAL") == place.notes(private) == []


def test_none_are_sent_with_zero_days(place: Place) -> None:
    ts = place.answer("runbook-0")
    place.process(0).tend()
    place.write(RUNBOOK.replace("24 hours", "12 hours"))
    place.ingest()
    place.process(0).tend()
    assert place.notes(ts) == []


def test_a_thread_that_cites_the_new_text_already_knows(place: Place) -> None:
    ts = place.answer("runbook-0")
    place.process().tend()
    place.write(RUNBOOK.replace("24 hours", "12 hours"))
    place.ingest()
    question = Question("T0SANDBOX", "C0INCIDENT", "2.2", ts, "U1", "", "channel", is_mention=True)
    cited = tuple(place.index.passages(["runbook-0"]))
    place.journal.record(question, Answer("new", "", "answered", (), cited), "2.3")
    place.process().tend()
    assert place.notes(ts) == []


def test_when_slack_is_away_the_note_comes_later(place: Place) -> None:
    ts = place.answer("runbook-0")
    changes = place.process()
    changes.tend()
    place.write(RUNBOOK.replace("24 hours", "12 hours"))
    place.ingest()
    place.slack.post("fail", method="chat.postMessage", error="internal_error", times=1)
    changes.tend()
    assert place.notes(ts) == []
    with place.journal.session() as session:
        for row in session.query(Announcement):
            row.at -= 200.0
    changes.tend()
    assert len(place.notes(ts)) == 1


def test_a_long_line_of_prose_is_compared_by_sentences() -> None:
    old = f"{'The first sentence of a long paragraph says nothing new. ' * 3}Wait ten minutes."
    assert list(diff_lines(old, old.replace("ten minutes", "five minutes")))[-2:] == [
        "-Wait ten minutes.",
        "+Wait five minutes.",
    ]


def passage(text: str) -> Passage:
    return Passage("p-0", "p.md", "P", (), (1, 2), text, "h", "https://docs.example.com/p.md")


TEXT = st.text(max_size=3_000) | st.text("`<>!@|*_~\n #-", max_size=2_000)


@given(st.lists(st.tuples(TEXT, TEXT, st.text(max_size=300)), min_size=1, max_size=6), TEXT)
def test_whatever_pages_say_slack_takes_the_note_and_nobody_is_pinged(
    texts: list[tuple[str, str, str]], url: str
) -> None:
    changes = [Change(path, old, url, passage(new)) for old, new, path in texts]
    changes.append(Change("gone.md", "x", url, None, document_deleted=True))
    message = change_note(changes, "1a2b3c4d5e")
    assert not broken_limits(message)
    for block in Block.parse_all(message["blocks"]):
        block.validate_json()
    for block in message["blocks"]:
        if block["type"] == "section":
            words = block["text"]["text"]
            assert block["text"]["verbatim"]
            assert words.count("<") == words.count("|as it was cited>") + words.count(
                "|lines 1-2 now>"
            )
        elif block["type"] == "rich_text":
            [preformatted] = block["elements"]
            assert [e["type"] for e in preformatted["elements"]] == ["text"]


@given(st.lists(st.text(max_size=60), max_size=20), st.integers(0, 19), st.integers(0, 19))
def test_a_page_holds_each_part_of_itself(lines: list[str], first: int, last: int) -> None:
    page = [passage("\n".join(lines[:7])), passage("\n".join(lines[7:]))]
    assert contains_text("\n".join(lines[first : last + 1]), page)


def test_what_took_a_texts_place_is_like_it() -> None:
    new = passage("Both keys are valid for 12 hours.")
    other = passage("Something else altogether, about refunds.")
    assert find_successor("Both keys are valid for 24 hours.", [other, new]) == new
    assert find_successor("Restart the payout worker.", [other]) is None
    assert find_successor("Restart", []) is None
