"""Whatever a person, a page or a model wrote is read in time that grows with its length, no faster.

Every way in is asked: a Slack message, a page of each format, a question, an answer of a model, the
words of a gateway that refuses, a message in the sandbox. Each is given long texts of pieces that
open what nothing closes, repeat a sign, or look like the beginning of something else.
"""

import json
from collections.abc import Callable
from typing import Any

import pytest
from anthropic import APIStatusError
from anthropic.types import TextBlock
from httpx2 import Request, Response

from agent.citations import Source, ground, ground_json
from agent.citations.brackets import Brackets, settle
from agent.content import paragraphs, reply_text
from agent.conversation import Conversation, Turn
from agent.failures import names_parameter, unavailable
from agent.memory import history, query_of
from agent.offline import passages_text
from agent.route import is_small_talk
from agent.verdict import _ADMITS, _HARD_FACT, _MARKER
from agent.web import public_words
from bot.alert_names import read_alert
from bot.alerts import message_json
from bot.blocks import render_json, render_runbook
from bot.blocks.elements import shortened
from bot.change_note import Change, change_note, find_successor, stands_in
from bot.events import Identity, Question, read_message
from bot.manners import decide
from bot.markup import plain_parts
from bot.phrases import asks, is_stop
from bot.remarks import is_remark
from bot.sandbox.mrkdwn import render
from bot.sandbox.people import as_sent
from bot.sandbox.rendering import MARKDOWN
from bot.sandbox.rich_text import from_markdown
from bot.sandbox.translation import typed_blocks
from bot.thread import build_conversation
from ingest.chunker import chunk_document
from ingest.documents import Passage
from ingest.index.retrieval import SENTENCE
from ingest.loader import UnreadableDocument, load
from ingest.readers.decoding import decode
from ingest.terms import identifier_parts, query_terms, row_text
from tests.bot.answers import DRAIN
from tests.growth import growth
from tests.hostile import Text

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T0SANDBOX")
PAGE = "The pool has 400 connections: run `kubectl rollout restart deploy/cart -n shop` in 5 min.\n"

PIECES = [
    *(
        "a",
        "0",
        "A",
        " ",
        "\n",
        "\t",
        "\r",
        "-",
        "_",
        "*",
        "**",
        "`",
        "```\n",
        "~",
        "#",
        ".",
        ",",
        "!",
    ),
    *(
        "<",
        ">",
        "&",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "|",
        "=",
        ":",
        "/",
        "\\",
        "@",
        "$",
        "%",
        "^",
        "…",
    ),
    *(
        "a ",
        "a b ",
        "a\n",
        "a\n\n",
        ". ",
        ".\n",
        "0 ",
        "1.",
        "1,",
        "1-",
        "5 min ",
        "a.b",
        "a-b ",
        "A1",
    ),
    *("aA", "a_", "a@b.c ", "http://a ", "http://a.b/c)", "))", "a/b ", "/a", "--a ", "$A ", "-1 "),
    *(
        "[a](",
        "[a](b) ",
        "[a]: b\n",
        "![",
        "[[",
        "]]",
        "[c-0] ",
        "[c-0",
        "[x-9] ",
        "\\[",
        "(⚠ not in ",
    ),
    *(
        "<a ",
        "<a>",
        "</a>",
        "<!--",
        "-->",
        "<b><i>",
        "<@U1",
        "<@U0FOOTNOTE> ",
        "<http://a|",
        "&lt;",
    ),
    *(
        "> ",
        ">>",
        "> a\n",
        "- ",
        "- a\n",
        "* a\n",
        "1. a\n",
        "  - a\n",
        "    a\n",
        "\ta\n",
        "# a\n",
    ),
    *("a\n==\n", "a\n--\n", "|a", "|a|b|\n", "|-", "| - |\n", "=== ===\n", "+--+\n", "::\n\n  a\n"),
    *(
        ".. a::\n",
        ".. _a:\n",
        ":a:`b",
        ":a: b\n",
        "..\n",
        "{{< a ",
        "{{% ",
        "{% a",
        "{#a}",
        "{a=b}",
    ),
    *(
        "``` a\n",
        "~~~\n",
        "`a` ",
        "``a` ",
        "`a\n",
        "$$",
        ":a:",
        ":a",
        "“a”",
        '"a" ',
        "'a ",
        "'",
        '"',
    ),
    *(
        '{"k": 0, ',
        '{"k":',
        '[{"a": [',
        "k: v\n",
        "k:\n  ",
        "- k: v\n",
        "---\n",
        "&#0;",
        "\x00",
        "\u200b",
    ),
    *(
        "é",
        "漢",
        "。",
        "、 ",
        "ж",
        "αж ",
        "\u202e",
        "\u0301",
        "\U0001f600",
        "\ufe0f",
        "\u2028",
        "１",
    ),
    *(
        "please ",
        "stop ",
        "and ",
        "hi ",
        "hey, ",
        "no more ",
        "not ",
        "the ",
        "x!",
        "?",
        "? ",
        "…x ",
    ),
    *(
        "import a\n",
        "export {\n",
        "!!! a\n",
        '=== "a"\n    ',
        "<details>\n",
        "<tr><td>",
        "<script>",
        "<h1>a",
    ),
    *(
        "eyJa",
        "sk-",
        "AKIA",
        "-----BEGIN PRIVATE KEY-----\n",
        "secret_access_key ",
        "1h30m",
        "2026-01-",
    ),
    *(
        "run kubectl ",
        "Run: make ",
        "kubectl get -a ",
        "<a b> ",
        "alert name: ",
        "service=a ",
        "CAPS ",
    ),
]
"""Repeated many times, each of them is such a text."""
FRAMES = [
    ("", ""),
    ("", "\x00"),
    ("x [c-0] `", "` [c-0]"),
    ("```\n", "\n```\n[c-0]"),
    ("| a |\n|---|\n|", "|"),
]
"""What stands before and behind it."""


def passage(text: str) -> Passage:
    return Passage("c-0", "c.md", "C", ("C",), (1, 2), text, "0", "https://git.test/c.md")


def slack(text: str, **more: Any) -> dict[str, Any]:
    message = {"user": "U1", "text": text, "ts": "1700000002.0", "thread_ts": "1700000000.0"}
    return {**message, **more}


def answered(text: str) -> object:
    """A reply without a mention, in a thread in which Footnote spoke."""
    root = slack("<@U0FOOTNOTE> which?", user="U2", ts="1700000000.0")
    own = slack("That one [c-0].", user="U0FOOTNOTE", bot_id="B0FOOTNOTE", ts="1700000001.0")
    question = read_message(slack(text), ME, channel="C1")
    assert isinstance(question, Question)
    decide(question, [root, own, slack(text, ts="1700000001.5")], ME, name_of=lambda _: "kim lee")
    return build_conversation(question, [root, own, slack(text, ts="1700000001.5")], ME, str)


def in_an_app(text: str) -> object:
    """A message of an app, with its words in every place that can hold some."""
    fields = [{"title": part, "value": part} for part in text.split("\n")]
    block = {"type": "section", "text": {"type": "mrkdwn", "text": text}}
    attachment = {"pretext": text, "title": text, "text": text, "fields": fields, "blocks": [block]}
    return read_alert(
        message_json({"text": text, "blocks": [block], "attachments": [attachment]})["text"]
    )


def in_many_parts(text: str) -> object:
    """A message of an app, with each line in a part of its own."""
    lines = text.split("\n")
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": line}} for line in lines]
    return message_json(
        {"text": text, "blocks": blocks, "attachments": [{"text": line} for line in lines[:50]]}
    )


def indexed(suffix: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            document = load(f"a{suffix}", text.encode("utf-8", "replace"))
        except UnreadableDocument as unreadable:
            return unreadable
        chunks = chunk_document(document, lambda seen: len(seen) < 900)
        return [(row_text(c.text), identifier_parts(c.text)) for c in chunks]

    return read


def notebook(text: str) -> object:
    cells = [{"cell_type": kind, "source": text} for kind in ("markdown", "code")]
    return indexed(".ipynb")(json.dumps({"cells": cells, "nbformat": 4}, indent=0))


def refused(text: str) -> object:
    """What a gateway says instead of an answer."""
    response = Response(400, text=text, request=Request("POST", "http://gateway.test"))
    error = APIStatusError(text, response=response, body={"error": {"message": text}})
    return unavailable(error, "claude"), names_parameter(error)


def judged(text: str) -> object:
    shown = _MARKER.sub("", text, count=1)
    return _ADMITS.search(shown), _HARD_FACT.search(shown), is_small_talk(text)


def grounded(text: str) -> object:
    return ground(f"{text}\n\nIt has 400 [c-0].", [Source("c-0", PAGE)], question="is it 5?")


def grounded_in(text: str) -> object:
    answer = "Run `kubectl rollout restart deploy/x -n y` in 5 min, at 10:30 UTC, for OPS-12 [c-0]."
    return ground(answer, [Source("c-0", text)], question=text, context=text)


def streamed(text: str) -> object:
    """An answer that comes in many blocks."""
    return reply_text(
        [
            TextBlock(type="text", text=part)
            for part in (text[i : i + 8] for i in range(0, len(text), 8))
        ]
    )


def remembered(text: str) -> object:
    turns = [
        Turn("person", text[:200], text),
        *(Turn("footnote", "f", part) for part in text.split("\n")),
    ]
    conversation = Conversation((*turns, Turn("person", "a", text)))
    return history(conversation, 1_000), query_of(conversation)


def changed(text: str) -> object:
    now = passage(text + PAGE)
    change = Change("c.md", text, None, now)
    return change_note([change], "1"), find_successor(text, [now]), stands_in(text, [now])


READERS: dict[str, Callable[[str], object]] = {
    "reply": answered,
    "app message": in_an_app,
    "parts of an app message": in_many_parts,
    "debug message": lambda text: message_json({"text": text}),
    "words": lambda text: (is_stop(text), asks(text), is_remark(text)),
    "question": lambda text: (
        query_terms(text),
        SENTENCE.split(text),
        public_words(text, [passage(text)]),
    ),
    "debug render": lambda text: render_json(
        {"text": text, "passages": [{"id": "c-0", "url": "https://a.b"}]}
    ),
    "rich text": lambda text: render_json(
        {"text": text, "style": "rich_text", "passages": [{"id": "c-0"}]}
    ),
    "page in an answer": lambda text: render_json(
        {"text": "See [c-0](a) http://a.b/c?d", "passages": [{"id": "c-0", "text": text}]}
    ),
    "runbook": lambda text: render_runbook([passage(text)], text),
    "notice": lambda text: (plain_parts(text), shortened(text, 3_000)),
    "grounding": grounded,
    "page to ground in": grounded_in,
    "debug ground": lambda text: ground_json(
        {"answer": text, "passages": [{"id": "c-0", "text": PAGE}], "context": text}
    ),
    "brackets": lambda text: settle(text, Brackets(["c-0", "a/b c-1"], PAGE)),
    "verdict": judged,
    "passages": lambda text: (passages_text([passage(text)], "why"), paragraphs(text)),
    "stream": streamed,
    "thread": remembered,
    "gateway": refused,
    "changed page": changed,
    "sandbox": lambda text: (render(text, str), typed_blocks(as_sent(text)), typed_blocks(text)),
    "sandbox markdown": lambda text: (from_markdown(text), MARKDOWN.render(text)),
    "bytes": lambda text: decode(text.encode("utf-16") + b"\xff"),
    "notebook": notebook,
    **{suffix: indexed(suffix) for suffix in (".md", ".mdx", ".rst", ".txt", ".html")},
}
