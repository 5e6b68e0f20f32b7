"""Reading the text of a person, a page or a model takes time at most linear in its length.

The tests cover every entry: a Slack message, a page of each format, a question, a model's answer, a
gateway's error, a message in the sandbox. Each gets long texts of pieces that open something
without closing it, repeat a character, or look like the beginning of something else.
"""

import json
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest
from anthropic import APIStatusError
from anthropic.types import CitationsSearchResultLocation, TextBlock
from httpx2 import Request, Response

from agent.asides.public_words import public_words
from agent.conversation import Conversation, Turn
from agent.fallback import is_small_talk, passages_text
from agent.grounding import CitableText, ground, ground_json
from agent.history import fitted, history, query_of
from agent.model.failures import names_parameter, unavailable
from agent.model.message_text import read_content
from agent.passages import paragraphs
from bot.blocks import render_json, render_runbook
from bot.blocks.elements import shortened
from bot.notices.change_note import Change, change_note, contains_text, find_successor
from bot.question.event import Question, read_question
from bot.question.intent import asks, is_stop
from bot.question.policy import decide
from bot.question.remarks import is_remark
from bot.question.thread_message import read_thread_message
from bot.question.turns import build_conversation
from bot.reading.message import message_json
from bot.reading.plain_form import plain_parts
from bot.runbooks.alert import read_alert
from bot.sandbox.events.read_back import from_markdown
from bot.sandbox.events.translation import typed_blocks
from bot.sandbox.page.page_html import MARKDOWN, Surface, message_body
from bot.sandbox.people.posting import as_sent
from bot.slack.identity import Identity
from ingest.chunks.chunker import chunk_document
from ingest.documents import Passage
from ingest.index.search import SENTENCE
from ingest.readers.decoding import decode
from ingest.readers.loader import UnreadableDocument, load
from ingest.store.terms import identifier_parts, query_terms, row_text
from tests.growth import APART, Work, growth

ME = Identity("U0FOOTNOTE", "B0FOOTNOTE", "T0SANDBOX")


def pieces(joined: str) -> list[str]:
    return joined.split("¦")


SIGNS = [
    *"aA0 -_*`~#.,!:<>&[](){}|=/\\@$%^\"'?",
    *"\n\t\r\x00\u200b\u202e\u0301\u2028\ufe0f\U0001f600é漢ж…。",
]
WORDS = pieces(
    "a ¦a b ¦a\n¦a\n\n¦. ¦.\n¦x!¦? ¦…x ¦aA¦A1¦a_¦a-b ¦a.b¦、 ¦please ¦stop in here ¦and ¦"
    "hi ¦hey, ¦no more ¦not ¦thanks for ¦αж "
)
VALUES = pieces(
    "0 ¦-1 ¦1.¦1,¦1-¦5 min ¦1h30m¦2026-01-¦10:30 ¦`a -1 ¦(ms) 1 ¦--a ¦$A ¦<a b> ¦a/b ¦/a¦"
    'a@b.c ¦http://a ¦http://a.b/c)¦))¦OPS-12 ¦run kubectl ¦kubectl get -a ¦{"k": 0, ¦'
    '“a”¦"a" ¦\'a ¦a && ¦a \\\n¦1,111¦ab:¦~/¦AaBb¦[a] b '
)
MARKS = pieces(
    "**¦```\n¦``` a\n¦~~~\n¦`a` ¦``a` ¦`a\n¦[a](¦[a](b) ¦[a]: b\n¦![¦[[¦]]¦\\[¦> ¦>>¦> a\n¦"
    "- ¦- a\n¦* a\n¦1. a\n¦  - a\n¦    a\n¦# a\n¦a\n==\n¦a\n--\n¦---\n¦|a¦|a|b\n¦| - |\n¦"
    "|`|`|\n|---|\n\n¦&#0;¦<b><i>"
)
CITATIONS = pieces("[c-0] ¦[c-0¦[x-9] ¦[c-0](¦[c-0]\n\n¦- a [c-0]\n¦(⚠ not in ¦(see [x-9]) ")
SLACK = pieces("<@U1¦<@U0FOOTNOTE> ¦<http://a|¦&lt;¦:a:¦:a¦alert name: ¦service=a ")
PAGES = pieces(
    '<a ¦<a>¦</a>¦<!--¦-->¦<details>\n¦<tr><td>¦<script>¦<h1>a¦<a href="#">¦{{< a ¦{{% ¦'
    '{% a¦{#a}¦{a=b}¦import a\n¦export {\n¦!!! a\n¦=== "a"\n    ¦.. a::\n¦.. _a:\n¦:a:`b¦'
    ":a: b\n¦..\n¦=== ===\n¦+--+\n¦::\n\n  a\n¦k: v\n¦k:\n  ¦- k: v\n¦eyJa¦sk-¦AKIA¦"
    '-----BEGIN PRIVATE KEY-----\n¦<A b="¦<A b={¦<A b={"c"}>\n¦<A\n¦</A>\n¦<table><tr>¦%% ¦%%\n¦'
    '(a)=\n¦<p hidden class="a">¦<p role=tab>a¦<p role=tabpanel>'
)
ASCIIDOC = pieces(
    "= a\n¦== a\n¦----\n¦====\n¦======\n====\n¦|===\n¦|===\n|a\n¦a|¦2+|a\n¦.9+|a\n¦[a]\n¦[[a]]\n¦"
    ".a\n¦* a\n** a\n¦+\n¦a:: b\n¦a::\n¦<1> a\n¦:a: b\n¦:a: {a}{a}\n{a}\n¦{a}¦ifdef::a[]\n¦"
    "endif::[]\n¦////\n¦// a\n¦a:b[c]¦<<a,b>>¦<<a,¦image::a[¦((a))¦`+a+`¦\n\na\n-\n"
)
WIKI = pieces(
    "== a ==\n¦* a\n¦#+begin_src\n¦#+begin_src\n#+end_src\n¦:PROPERTIES:\n¦:END:\n¦{|\n¦|-\n¦|}\n¦"
    "| a\n¦{{a|b¦[[a|b¦[[a][b]]¦''a¦<code>a¦<pre>\n¦h1. a\n¦@a¦=a¦~a¦L<a¦B<C<a¦=item a\n¦"
    "=head1 a\n"
)
INTERFACE = pieces(
    "  /a:\n    get: {summary: a}\n¦  /a: &a {get: *a}\n¦{a: ¦[¦- ¦  - a\n¦ &a ¦*a ¦'a¦"
    "  /b: {$ref: '#/paths/~1b'}\n¦  /c: {get: {responses: {200: {$ref: '#/paths'}}}}\n¦: ¦? ¦"
    "  a: |\n   b\n"
)
WIKIS = (".mediawiki", ".org", ".textile", ".pod", ".creole")
INCLUDES = pieces(
    '{{#include a}}\n¦{{#include a:b}} ¦.. include:: a\n   :lines: 1-\n¦--8<-- "a"\n¦--8<--\na\n'
    "¦{!a!} ¦"
    '{% include "a" b=c\n%}¦{% include ¦{{< readfile a="b" ¦{{< a file="b" >}}¦![[a|b]] ¦![[a#¦'
    "{{a|b}} ¦import A from 'a'\n<A ¦```{include} a\n```\n¦include::{a}[tags=a;b]\n"
    "¦include::a[lines=1..2;3]\n"
    "¦:a: {a}b\n"
)
MESSAGE = [*SIGNS, *WORDS, *SLACK, "```\n", "http://a ", "a@b.c "]
ANSWER = [*SIGNS, *MARKS, *CITATIONS]
PAGE = [*SIGNS, *MARKS, *PAGES]
LONGEST, FEWEST = 1_200, 400
"""Characters of a text, and its pieces."""
SOURCE = "The pool has 400 connections: run `kubectl rollout restart deploy/a -n b` within 5 min."


def passage(text: str) -> Passage:
    return Passage("c-0", "c.md", "C", ("C",), (1, 2), text, "0", "https://git.test/c.md")


def slack(text: str, **more: Any) -> dict[str, Any]:
    message = {"user": "U1", "text": text, "ts": "1700000002.0", "thread_ts": "1700000000.0"}
    return {**message, **more}


def answered(text: str) -> object:
    """A reply without a mention, in a thread in which Footnote spoke."""
    root = slack("<@U0FOOTNOTE> which?", user="U2", ts="1700000000.0")
    own = slack("That one [c-0].", user="U0FOOTNOTE", bot_id="B0FOOTNOTE", ts="1700000001.0")
    messages = [root, own, slack(text, ts="1700000001.5")]
    thread = [read_thread_message(message, ME) for message in messages]
    question = read_question(read_thread_message(slack(text), ME), ME, channel="C1")
    assert isinstance(question, Question)
    decide(question, thread, ME, name_of=lambda _: "kim lee")
    return build_conversation(question, thread, ME, str)


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


def asked(text: str) -> object:
    is_one = is_stop(text), asks(text), is_remark(text), is_small_talk(text)
    return is_one, query_terms(text), SENTENCE.split(text), public_words(text, [passage(text)])


def rendered(text: str) -> dict[str, Any]:
    return {"text": text, "passages": [{"id": "c-0", "url": "https://git.test"}]}


def linked(text: str) -> object:
    answer = "See [c-0], [the page](a) and http://a.b/c?d."
    return render_json({"text": answer, "passages": [{"id": "c-0", "text": text}]})


def in_the_sandbox(text: str) -> object:
    typed = as_sent(text)
    page = message_body({"text": typed}, Surface(str))
    return page, typed_blocks(typed), from_markdown(text), MARKDOWN.render(text)


def indexed(suffix: str) -> Callable[[str], object]:
    def read(text: str) -> object:
        try:
            document = load(f"a{suffix}", text.encode("utf-8", "replace"))
        except UnreadableDocument as unreadable:
            return unreadable
        chunks = chunk_document(document, lambda seen: len(seen) < 900)
        return [(row_text(c.text), identifier_parts(c.text)) for c in chunks]

    return read


def interface(text: str) -> object:
    return indexed(".yaml")(f"openapi: 3.0.0\npaths:\n{text}")


def interface_in_json(text: str) -> object:
    described = {"summary": text, "parameters": [{"name": part} for part in text.split()]}
    one_line = json.dumps({"openapi": "3.0.0", "paths": {"/a": {"get": described}}})
    return indexed(".json")(one_line), indexed(".json")(f'{{"openapi": "3.0.0", {text}')


def including(text: str) -> object:
    return [indexed(suffix)(text) for suffix in (".md", ".rst", ".adoc", ".mediawiki")]


def html_table(text: str) -> object:
    cells = text.replace("\n", "<tr>").replace(" ", "<td>")
    table = f"<table><tr><td>a<td>b{cells}</table>"
    return indexed(".html")(table), indexed(".md")(table)


def notebook(text: str) -> object:
    cells = [{"cell_type": kind, "source": text} for kind in ("markdown", "code")]
    return indexed(".ipynb")(json.dumps({"cells": cells, "nbformat": 4}, indent=0))


def refused(text: str) -> object:
    """A gateway's error page instead of an answer."""
    response = Response(400, text=text, request=Request("POST", "http://gateway.test"))
    error = APIStatusError(text, response=response, body={"error": {"message": text}})
    return unavailable(error, "claude"), names_parameter(error)


def grounded(text: str) -> object:
    sources = [{"id": "c-0", "text": SOURCE}, {"id": "a/b c-1", "text": SOURCE}]
    answer = f"{text}\n\nIt has 400 [c-0]. `{text}` [c-0]"
    return ground_json({"answer": answer, "passages": sources, "question": "is it 5?"})


def grounded_in(text: str) -> object:
    answer = "Run `kubectl rollout restart deploy/x -n y` in 5 min, at 10:30 UTC, for OPS-12 [c-0]."
    return ground(answer, [CitableText("c-0", text)], question=text, context=text)


def streamed(text: str) -> object:
    """An answer in many blocks, each with a citation."""
    pointer = CitationsSearchResultLocation(
        type="search_result_location",
        source="c-0",
        cited_text="",
        start_block_index=0,
        end_block_index=1,
        search_result_index=0,
    )
    parts = (text[at : at + 8] for at in range(0, len(text), 8))
    blocks = [TextBlock(type="text", text=part, citations=[pointer]) for part in parts]
    return read_content(blocks, ["c-0"])


def remembered(text: str) -> object:
    turns = [
        Turn("person", text[:200], text),
        *(Turn("footnote", "f", part) for part in text.split("\n")),
    ]
    conversation = Conversation((*turns, Turn("person", "a", text)))
    return history(fitted(conversation, 1_000)), query_of(conversation)


def changed(text: str) -> object:
    """A changed page with one cited chunk: the length of a chunk is bounded, that of the page is
    not."""
    now = [passage(text[at : at + 100]) for at in range(0, len(text), 100)]
    old = text[:100]
    return (
        find_successor(old, now),
        contains_text(old, now),
        change_note([Change("c", old, None, now[-1])], "1"),
    )


READERS: dict[str, tuple[Callable[[str], object], list[str]]] = {
    "a reply": (answered, MESSAGE),
    "a message of an app": (in_an_app, MESSAGE),
    "parts of a message": (in_many_parts, MESSAGE),
    "debug message": (lambda text: message_json({"text": text}), MESSAGE),
    "a question": (asked, [*MESSAGE, *VALUES]),
    "notices": (lambda text: (plain_parts(text), shortened(text, 3_000)), MESSAGE),
    "debug render": (lambda text: render_json(rendered(text)), ANSWER),
    "a page that is linked": (linked, [*SIGNS, *MARKS]),
    "a runbook": (lambda text: render_runbook([passage(text)], text), MARKS),
    "debug ground": (grounded, [*ANSWER, *VALUES]),
    "a page that is cited": (grounded_in, [*SIGNS, *WORDS, *VALUES, "`a\n", "|a|b\n"]),
    "passages": (lambda text: (passages_text([passage(text)], "why"), paragraphs(text)), PAGE),
    "a stream": (streamed, [*MARKS, *WORDS]),
    "a thread": (remembered, MESSAGE),
    "a gateway": (refused, [*SIGNS, *WORDS, '{"error": ', "not supported "]),
    "a changed page": (changed, WORDS),
    "the sandbox": (in_the_sandbox, [*MESSAGE, *MARKS]),
    "bytes": (lambda text: decode(text.encode("utf-16", "replace") + b"\xff"), SIGNS),
    "a notebook": (notebook, PAGE),
    "an interface": (interface, [*SIGNS, *INTERFACE]),
    "an interface in JSON": (interface_in_json, [*SIGNS, *INTERFACE]),
    "included files": (including, [*INCLUDES, *(f"{piece}\n" for piece in INCLUDES)]),
    "a table in HTML": (html_table, pieces("a ¦a\n¦<th>a ¦<td colspan=9>a ¦<table> ¦</td> ¦<p>\n")),
    ".adoc": (indexed(".adoc"), [*SIGNS, *ASCIIDOC]),
    **{suffix: (indexed(suffix), [*SIGNS, *WIKI]) for suffix in WIKIS},
    **{suffix: (indexed(suffix), PAGE) for suffix in (".md", ".mdx", ".rst", ".txt", ".html")},
}
"""Each entry, and the pieces that have a meaning there."""


@pytest.mark.parametrize("name", READERS)
def test_no_reader_outgrows_its_text(name: str) -> None:
    read, repeated = READERS[name]

    def work(piece: str) -> Work:
        return lambda size: partial(read, piece * size)

    for piece in repeated:
        longest = max(LONGEST // len(piece), FEWEST)
        found = growth(work(piece), (6, 24, longest // APART, longest))
        assert found is None, f"{name} of {piece!r}: {found}"


def test_one_line_of_json_in_an_answer_is_checked_at_once() -> None:
    line = "{" + ", ".join(f'"k{key}": 0' for key in range(34)) + ', "last": -1}'
    answer = f"The pool has 400 connections [c-0].\n\n```\n{line}\n```"
    assert ground(answer, [CitableText("c-0", SOURCE)]).verdict == "partly"
