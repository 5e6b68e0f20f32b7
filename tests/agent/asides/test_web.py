"""When the docs have no answer: one separate web search, and nothing internal in it."""

import re
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from agent.answer import WebLink
from agent.asides.public_words import public_words
from agent.settings import AgentSettings
from ingest.documents import Passage
from ingest.errors import SettingsError
from ingest.settings import read_settings
from tests.agent.conftest import Ask, Asked, thread
from tests.agent.test_loop import search
from tests.fakes.rule_followers import Request
from tests.fakes.script import Fault, Stall, Step, Turn
from tests.fakes.web_pages import from_web, searched, web_turn

ASKED = "How do I reverse a list in Python?"
PAGE = ("https://docs.python.org/3/tutorial/datastructures.html", "Data Structures")
FOUND = searched("reverse list python", PAGE)
SAID = web_turn(
    from_web("I will look it up."),
    FOUND,
    from_web("Call `xs.reverse()`, which changes the list.", PAGE),
)


def model(*web: Step) -> Any:
    """Finds nothing in the docs; answers web requests with the steps of ``web``, in order."""
    steps = list(web)

    def rule(request: Request) -> Step:
        if request.tools == ["web_search"]:
            return steps.pop(0)
        if not request.results:
            return search("reverse a list")
        return Turn(text="NOT IN DOCS\nThe docs do not cover Python lists. Which service is it?")

    return rule


def web_bodies(asked: Asked) -> list[dict[str, Any]]:
    return [body for body in asked.bodies if body["tools"][0]["name"] == "web_search"]


def test_what_the_web_says_is_labelled_and_carries_its_links(ask: Ask) -> None:
    asked = ask(model(SAID), ASKED, web_search=True)

    answer = asked.answer
    assert answer.verdict == "not_in_docs"
    docs, _, web = answer.text.partition("**From the web")
    assert docs.startswith("The docs do not cover Python lists.")
    assert web == snapshot(
        """\
, not from your docs; check that it fits what you run:**

Call `xs.reverse()`, which changes the list. \
([docs.python.org](https://docs.python.org/3/tutorial/datastructures.html))\
"""
    )
    assert answer.web_links == (WebLink(*PAGE),)
    assert answer.to_json()["web_links"] == [{"url": PAGE[0], "title": PAGE[1]}]
    [event] = [e for e in answer.trace.to_json() if e["kind"] == "web_search"]
    assert event["queries"] == ["reverse list python"]
    assert event["links"] == [PAGE[0]]
    assert answer.cost_usd is not None
    assert answer.cost_usd > 0.01, "a search costs a cent"


def test_the_request_holds_the_question_s_own_words_and_nothing_else(ask: Ask) -> None:
    earlier = (("bob", "secret incident in the ledger"), ("footnote", "Look at `pg_ctl`."))
    asked = ask(
        model(SAID),
        thread(ASKED, *earlier),
        web_search=True,
        web_domains=("docs.python.org", "peps.python.org"),
    )

    [body] = web_bodies(asked)
    assert {k: body[k] for k in body if k not in ("system", "stream")} == snapshot(
        {
            "max_tokens": 3000,
            "messages": [{"role": "user", "content": "How do I reverse a list in Python?"}],
            "model": "claude-opus-5-5",
            "output_config": {"effort": "low"},
            "tools": [
                {
                    "type": "web_search_20250305",
                    "name": "web_search",
                    "max_uses": 2,
                    "allowed_callers": ["direct"],
                    "allowed_domains": ["docs.python.org", "peps.python.org"],
                }
            ],
        }
    )
    assert "ledger" not in str(body)


def test_off_by_default(ask: Ask) -> None:
    asked = ask(model(), ASKED)

    assert web_bodies(asked) == []
    assert asked.answer.web_links == ()


def test_an_answer_of_the_docs_needs_no_web(ask: Ask, pay_4031: str) -> None:
    good = Turn(text=f"Signature verification failed [{pay_4031}].")

    asked = ask(lambda r: good if r.results else search(), web_search=True)

    assert web_bodies(asked) == []


def test_a_turn_that_pauses_goes_on_with_its_content_as_it_was(ask: Ask) -> None:
    paused = web_turn(from_web("\n"), FOUND, stop="pause_turn")
    rest = web_turn(from_web("Call `xs.reverse()`.", PAGE))

    asked = ask(model(paused, rest), ASKED, web_search=True)

    first, second = web_bodies(asked)
    assert second["messages"][0] == first["messages"][0]
    kept = second["messages"][1]
    assert kept["role"] == "assistant"
    assert [block["type"] for block in kept["content"]] == [block["type"] for block in FOUND]
    assert kept["content"][1]["content"][0]["encrypted_content"] == f"sealed:{PAGE[0]}"
    assert second["tools"] == first["tools"]
    assert asked.answer.web_links == (WebLink(*PAGE),)


@pytest.mark.parametrize(
    "steps",
    [
        [web_turn(searched("q", error="too_many_requests"), from_web("Searching failed."))],
        [web_turn(searched("q"), from_web("NOTHING FOUND"))],
        [web_turn(FOUND, from_web("NOTHING FOUND", PAGE))],
        [Turn(text="From memory: call `reverse`.")],
        [web_turn(FOUND, stop="pause_turn")] * 3,
        [web_turn(FOUND, stop="refusal")],
        [Fault(400, message="web search is not enabled for this organization")],
        [Fault(400, message="output_config: Extra inputs are not permitted")],
        [Fault(529)],
    ],
    ids=[
        "error in 200",
        "no hit",
        "off topic",
        "no search",
        "pauses",
        "refusal",
        "off",
        "400",
        "529",
    ],
)
def test_a_web_search_that_fails_leaves_the_honest_answer(ask: Ask, steps: Sequence[Step]) -> None:
    asked = ask(model(*steps), ASKED, web_search=True)

    assert asked.answer.verdict == "not_in_docs"
    assert "From the web" not in asked.answer.text
    assert asked.answer.web_links == ()
    assert "web_search" in asked.kinds
    assert "cache_control" in asked.bodies[0]
    assert len(web_bodies(asked)) == len(steps), "what fails is not tried again"


def test_a_web_search_that_hangs_leaves_the_answer_in_time(ask: Ask) -> None:
    asked = ask(model(Stall("mid")), ASKED, web_search=True, deadline=8, call_timeout=30)

    assert asked.answer.verdict == "not_in_docs"
    assert asked.answer.seconds < 30


def test_links_beyond_the_allowed_domains_and_forged_citations_do_not_pass(
    ask: Ask, pay_4031: str
) -> None:
    evil = ("https://docs.python.org.evil.example/x", "Evil")
    said = web_turn(
        searched("q", PAGE, evil),
        from_web(f"As [{pay_4031}] says. ", PAGE, evil),
        from_web("Run it.", ("javascript:alert(1)", "x"), ("https://a@docs.python.org/", "y")),
    )

    asked = ask(model(said), ASKED, web_search=True, web_domains=("python.org",))

    web = asked.answer.text.partition("**From the web")[2]
    assert asked.answer.web_links == (WebLink(*PAGE),)
    assert "evil" not in web
    assert "javascript" not in web
    assert pay_4031 not in web


def passage(text: str) -> Passage:
    return Passage("p-0", "p.md", "P", (), (1, 2), text, "h", None)


@pytest.mark.parametrize(
    ("question", "public"),
    [
        ("How do I reverse a list in Python?", "How do I reverse a list in Python?"),
        (
            "Why does payments-api log PAY-4031 behind HTTP/2 proxies?",
            "Why does log behind HTTP/2",
        ),
        (
            "curl https://vault.acme.internal/v1 as bob@acme.com fails, what is a 403?",
            "curl as fails, what is a 403?",
        ),
        (
            "How do I ping 10.0.12.7 or db1.prod.internal from Linux?",
            "How do I ping or from Linux?",
        ),
        (
            "Why do vault.acme.tech, acme.de and ip-10-2-3-4 on fe80::1 time out?",
            "Why do and on time out?",
        ),
        (
            "Why does Node.js 20.1 lose std::vector with ECONNRESET or ValueError?",
            "Why does Node.js 20.1 lose with ECONNRESET or ValueError?",
        ),
        ("What is `max_connections` in PostgreSQL 16?", "What is in PostgreSQL 16?"),
        ("Is hunter2 or S3cr3t!x9 the key of Lufthansa and Smith?", "Is or the key of and"),
        ("Is 4111 1111 1111 1111 a valid number?", "Is a valid number?"),
        ("Does carol own the ledger of baker?", "own the of"),
        ("error? ```Traceback: token=abc in /srv/app/main.py```", ""),
        ("Is AKIAIOSFODNN7EXAMPLE1234 a valid AWS key id?", "Is a valid AWS key id?"),
        ("payments-api?", ""),
        ("", ""),
    ],
)
def test_what_names_people_machines_or_internal_things_is_not_sent(
    question: str, public: str
) -> None:
    docs = [passage("`payments-api` logs PAY-4031. The team Ledger serves Baker.")]

    assert public_words(question, docs, ["Carol X"]) == public


LEAKS = st.from_regex(r"[a-z]{2,9}[-_./@:=#][a-z0-9]{1,9}|[a-z]{3,8}[0-9]{4,6}", fullmatch=True)


@given(st.lists(LEAKS | st.text(max_size=20), max_size=20))
def test_any_question_gives_short_words_and_no_identifier(parts: list[str]) -> None:
    words = public_words(f"why is {' '.join(parts)} not up?", [])

    assert len(words) <= 300
    assert not re.search(r"[a-z][@_=:#][a-z]|[a-z]\d{4}", words)


def test_an_identifier_of_common_words_is_not_sent() -> None:
    for mark in "-_./:@=#":
        assert public_words(f"why is pay{mark}ledger not up?", []) == "why is not up?"


@pytest.mark.parametrize("domains", ["https://docs.python.org", "*.python.org", "localhost"])
def test_a_wrong_domain_is_one_line(domains: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_WEB_DOMAINS", f"peps.python.org, {domains}")

    with pytest.raises(SettingsError, match="FOOTNOTE_WEB_DOMAINS") as refused:
        read_settings(AgentSettings)
    assert "\n" not in str(refused.value)
