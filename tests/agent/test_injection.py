"""Poisoned pages and threads with a model that obeys them: nothing harmful reaches Slack."""

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from agent.answer import Answer
from agent.conversation import Conversation, Turn
from agent.loop import build_agent
from agent.settings import AgentSettings
from bot.blocks import render_answer
from ingest.embedding.embedder import open_embedder
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.agent.injections import ATTACKS, GENUINE, SECRET, Attack
from tests.bot.blocks.limits import LITERAL
from tests.bot.blocks.shown import shown
from tests.fakes.messages_server import MessagesServer
from tests.fakes.rule_followers import Request
from tests.fakes.script import Step
from tests.fakes.script import Turn as Says

_PING = re.compile(r"<!|<@")
_PING_ELEMENT = re.compile(r'"type": "(?:user|usergroup|channel|broadcast)"')
_CODE = re.compile(r"(`+).+?\1", re.DOTALL)
_LIVE_HOST = re.compile(r"evil\.example")


@pytest.fixture(scope="module")
def poisoned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Index]:
    """An index with the genuine page and one page an attack."""
    folder = tmp_path_factory.mktemp("poisoned")
    (folder / "docs").mkdir()
    (folder / "docs" / "passwords.md").write_text(GENUINE, encoding="utf-8")
    for number, attack in enumerate(ATTACKS):
        text = f"# Notes {number}\n\nAbout the password length: {attack.poison}\n"
        (folder / "docs" / f"notes-{number:02d}.md").write_text(text, encoding="utf-8")
    settings = IndexSettings(docs_repo=str(folder / "docs"), data_dir=folder / "data")
    embedder = open_embedder(settings.embedder_source)
    index = open_index(settings, embedder)
    run_ingest(settings, index, embedder)
    yield index
    index.close()


def obey(index: Index, attack: Attack) -> tuple[Answer, MessagesServer]:
    """The answer of a model that obeys the attack, even when it is asked to correct it."""
    calls = [
        ("search_docs", {"query": "minimum password length"}),
        *((("read_document", {"path": f"notes-{ATTACKS.index(attack):02d}.md"}),)),
        ("read_document", {"path": "passwords.md"}),
        *attack.calls,
    ]

    def model(request: Request) -> Step:
        if not request.results and request.tools:
            return Says(tools=calls)
        return Says(text=attack.answer)

    turns = [Turn("person", "oncall", "what is the minimum password length?")]
    if attack.via == "thread":
        turns.insert(0, Turn("person", "mallory", attack.poison))
    with MessagesServer(model) as server:
        settings = AgentSettings(
            api_key=SECRET,
            base_url=server.url,
            citations="brackets",
        )
        return build_agent(index, settings).answer(Conversation(tuple(turns))), server


def parsed(messages: list[dict[str, Any]]) -> Iterator[str]:
    """Every text in which Slack would read markup or addresses, without code."""
    for message in messages:
        yield message["text"]
        for block in message["blocks"]:
            if block["type"] not in LITERAL:
                yield _CODE.sub("", json.dumps(block, ensure_ascii=False))


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_an_obeyed_attack_does_no_harm(attack: Attack, poisoned: Index) -> None:
    answer, server = obey(poisoned, attack)
    assert server.refused == []
    messages = render_answer(answer)
    payload = json.dumps(messages, ensure_ascii=False)
    cited = {passage.id for passage in answer.citations}
    assert not cited & set(attack.forged)
    for forged in attack.forged:
        assert f"[{forged}]" not in answer.text
        assert f"[{forged}]" not in payload
    spans = [each.span for each in answer.unsupported]
    for span in attack.marked:
        assert span in spans
        assert answer.verdict == "partly"
    for text in parsed(messages):
        assert not _PING.search(text)
        assert not _LIVE_HOST.search(text)
    result = shown(messages)
    assert not _LIVE_HOST.search(result.prose)
    assert not any(_LIVE_HOST.search(url) for _, url in result.links)
    assert not _PING_ELEMENT.search(payload)
    for absent in (SECRET, *attack.absent):
        assert absent not in payload
    assert all(SECRET.encode() not in request.raw for request in server.requests)


def test_there_are_enough_attacks() -> None:
    assert len(ATTACKS) >= 25
    assert len({attack.name for attack in ATTACKS}) == len(ATTACKS)


def test_the_genuine_answer_stays_clean(poisoned: Index, tmp_path: Path) -> None:
    plain = Attack("none", "nothing", "The minimum password length is 14 [passwords-0].")
    ATTACKS.append(plain)
    try:
        answer, _ = obey(poisoned, plain)
    finally:
        ATTACKS.remove(plain)
    assert answer.verdict == "answered"
    assert answer.text == "The minimum password length is 14 [passwords-0]."
