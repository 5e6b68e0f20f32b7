"""Requests of other web pages, of programs and of the page itself, by their headers."""

import http.client
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest

from bot.sandbox.server import Sandbox
from bot.slack.manifest import Manifest
from tests.bot.sandbox.conftest import Json, Person

POST = "/api/chat.postMessage?token=xoxb-sandbox&channel=C0GENERAL&text=forged"
DOCS = {"oncall.md": "# On call\n"}


@pytest.fixture(scope="module")
def sandbox() -> Iterator[Sandbox]:
    running = Sandbox(page=DOCS.get, manifest=Manifest())
    running.start()
    yield running
    running.stop()


def status(sandbox: Sandbox, method: str, path: str, headers: dict[str, str]) -> int:
    connection = http.client.HTTPConnection(urlsplit(sandbox.url).netloc, timeout=30)
    try:
        connection.request(method, path, b"{}" if method == "POST" else None, headers)
        return connection.getresponse().status
    finally:
        connection.close()


def posted(person: Person) -> list[Json]:
    found: list[Json] = person.get("messages?channel=C0GENERAL")["messages"]
    return found


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"},
        {"Sec-Fetch-Site": "same-site"},  # another port of this machine
        {"Origin": "https://evil.test"},
        {"Origin": "http://127.0.0.1:1"},
        {"Origin": "null"},
        {"Origin": "http://[evil"},
        {"Referer": "https://evil.test/page"},
        {"Host": "evil.test"},
    ],
)
@pytest.mark.parametrize(
    ("method", "path"),
    [
        ("GET", POST),
        ("POST", POST),
        ("HEAD", POST),
        ("POST", "/sandbox/say"),
        ("GET", "/sandbox/calls"),
        ("POST", "/response/key"),
        ("GET", "/"),
        ("GET", "/page?channel=C0GENERAL"),
        ("GET", "/docs/oncall.md"),
    ],
)
def test_no_request_of_another_web_page_is_carried_out(
    sandbox: Sandbox, person: Person, method: str, path: str, headers: dict[str, str]
) -> None:
    assert status(sandbox, method, path, headers) == 403
    assert not posted(person)


def test_an_address_that_a_person_opens_shows_a_page_and_calls_no_method(
    sandbox: Sandbox, person: Person
) -> None:
    typed = {"Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"}
    assert [status(sandbox, "GET", path, typed) for path in ("/", "/docs/oncall.md")] == [200, 200]
    assert status(sandbox, "GET", POST, typed) == 403
    assert not posted(person)


def test_programs_and_the_page_itself_may_call_everything(sandbox: Sandbox, person: Person) -> None:
    own = {"Sec-Fetch-Site": "same-origin", "Origin": sandbox.url, "Referer": f"{sandbox.url}/"}
    assert status(sandbox, "GET", POST, {}) == status(sandbox, "GET", POST, own) == 200
    assert [message["text"] for message in posted(person)] == ["forged", "forged"]
    assert status(sandbox, "GET", "/sandbox/calls", own) == 200
