"""The public events endpoint: forged, old, broken and slow requests beside honest ones."""

import hashlib
import hmac
import json
import socket
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from urllib.error import HTTPError
from urllib.request import Request, urlopen

from tests.chaos.catalogue import item
from tests.chaos.items.events import TEXT, envelope
from tests.chaos.ledger import Ledger
from tests.chaos.processes import until
from tests.chaos.trial import Trial
from tests.waiting import free_port

GROUP = "The events endpoint"
CHALLENGE = b'{"type":"url_verification","challenge":"abc"}'
WELL = 200


def send(
    url: str,
    body: bytes,
    *,
    secret: str = "sandbox",
    at: str = "",
    signed: bool = True,
    timeout: float = 10,
) -> int:
    """Send a request as Slack does, and return its status; 0 if there was no response."""
    at = at or str(int(time.time()))
    digest = hmac.new(secret.encode(), f"v0:{at}:".encode() + body, hashlib.sha256).hexdigest()
    headers = {"Content-Type": "application/json", "X-Slack-Request-Timestamp": at}
    if signed:
        headers["X-Slack-Signature"] = f"v0={digest}"
    try:
        with urlopen(Request(url, body, headers), timeout=timeout) as response:
            return int(response.status)
    except HTTPError as error:
        return error.code
    except OSError:
        return 0


def honest(url: str) -> bool:
    return send(url, CHALLENGE, timeout=3) == WELL


@item(
    GROUP,
    breaks="forged, old, broken and huge requests; 20 to 300 slow connections, unsigned",
    holds="all turned away; honest events are answered meanwhile",
    minutes=3,
)
def endpoint(trial: Trial) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}/slack/events"
    with trial.system(events_url=url) as system:
        bot = system.run(wait=False, arguments=("--http", "--port", str(port)))
        until(lambda: honest(url), 90, 0.2)
        system.indexed()
        good = json.dumps(envelope("app_mention", "C0GENERAL", "1.000001", TEXT)).encode()
        now = time.time()
        forged = {
            "no signature": send(url, good, signed=False),
            "another secret": send(url, good, secret="other"),
            "six minutes old": send(url, good, at=str(int(now - 360))),
            "six minutes ahead": send(url, good, at=str(int(now + 360))),
            "a time that is not a number": send(url, good, at="12e4"),
        }
        odd = {
            "not JSON": send(url, b"\xff\xfe{not json"),
            "empty": send(url, b""),
            "a list": send(url, b"[1,2,3]"),
            "100,000 brackets": send(url, b"[" * 100_000),
            "no event": send(url, b'{"type":"event_callback","event":null}'),
            "5 MB": send(url, b'{"a":"' + b"x" * 5_000_000 + b'"}'),
        }
        messages = system.slack.messages("C0GENERAL")
        trial.row(
            "forged, old and broken requests",
            accepted=sum(200 <= status < 300 for status in forged.values()),
            server_errors=sum(status >= 500 for status in odd.values()),
            replies=sum(bool(message.get("bot_id")) for message in messages),
            dead=int(not bot.alive),
            tracebacks=bot.text().count("Traceback"),
            statuses=forged | odd,
            most=dict.fromkeys(("accepted", "server_errors", "replies", "dead", "tracebacks"), 0),
        )
        ledger = Ledger(system.slack, "h")
        for _ in range(10):
            ledger.some(("mention", "direct", "mention"))
        ledger.wait(130)
        trial.row("30 questions over HTTP", ledger.count())
        for number in (20, 90, 110, 300):
            with slow_connections(port, number) as opened:
                waits = [_timed(url) for _ in range(5)]
                ledger = Ledger(system.slack, "s")
                ledger.ask()
                ledger.wait(30)
                trial.row(
                    f"{number} connections that send a byte every 2 s",
                    ledger.count(),
                    opened=opened,
                    honest_wait_s=max(waits) if None not in waits else None,  # type: ignore[type-var]  # none is None
                    most={"honest_wait_s": 3},
                )


def _timed(url: str) -> float | None:
    begun = time.monotonic()
    return round(time.monotonic() - begun, 2) if honest(url) else None


@contextmanager
def slow_connections(port: int, number: int) -> Iterator[int]:
    """Keep so many requests open, none of which comes to its end."""
    head = b"POST /slack/events HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\nX-A: "
    sockets, stop = list[socket.socket](), threading.Event()
    for _ in range(number):
        with suppress(OSError):
            one = socket.create_connection(("127.0.0.1", port), 3)
            one.sendall(head)
            sockets.append(one)

    def feed() -> None:
        while not stop.wait(2):
            for each in sockets:
                with suppress(OSError):
                    each.sendall(b"a")

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield len(sockets)
    finally:
        stop.set()
        thread.join()
        for each in sockets:
            each.close()
