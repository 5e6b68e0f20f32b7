"""The way to Slack's socket: proxies of the environment, TLS, and whom it trusts."""

import base64
import shutil
import ssl
import subprocess
from pathlib import Path

import pytest
from websockets.sync.server import ServerConnection

from bot.slack.clients import SlackRefused
from bot.slack.socket_connection import Connection
from bot.slack.socket_mode import Timing
from tests.bot.slack.ears import Open, readers
from tests.fakes.bad_line import BadLine, Break
from tests.fakes.switchboard import Switchboard, acknowledged, envelope, greet
from tests.fakes.tunnel import Tunnel
from tests.waiting import PATIENCE, wait_for


@pytest.fixture
def no_proxies(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    for name in ("HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.lower(), raising=False)
    return monkeypatch


def hang_on(_number: int, connection: ServerConnection) -> None:
    greet(connection)
    connection.recv()


@pytest.mark.parametrize("name", ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"])
def test_the_socket_goes_through_the_proxy_of_the_environment(
    name: str, ears: Open, no_proxies: pytest.MonkeyPatch
) -> None:
    with Tunnel() as tunnel, Switchboard(hang_on) as board:
        no_proxies.setenv(name, "http://" + tunnel.address)
        ears(board.api_url)
        [head] = [head for head in tunnel.heads if head.startswith("CONNECT")]
        assert head.split()[1] in board.socket_url


@pytest.mark.parametrize("written", ["http://{}", "http://{}/", "https://{}", "{}"])
def test_a_proxy_is_reached_however_its_address_is_written(written: str) -> None:
    with Tunnel() as tunnel, Switchboard(hang_on) as board:
        proxy = written.format("who:p%40ss@" + tunnel.address)
        line = Connection(
            board.socket_url, proxy, lambda *_: None, open_seconds=PATIENCE, ping_seconds=PATIENCE
        )
        line.wait_for_hello()
        assert base64.b64encode(b"who:p@ss").decode() in tunnel.heads[0]
        line.close()


def test_hosts_that_need_no_proxy_are_reached_without_one(
    ears: Open, no_proxies: pytest.MonkeyPatch
) -> None:
    with Tunnel() as tunnel, Switchboard(hang_on) as board:
        no_proxies.setenv("HTTPS_PROXY", "http://" + tunnel.address)
        no_proxies.setenv("NO_PROXY", "127.0.0.1,localhost")
        ears(board.api_url)
        assert not tunnel.heads


def test_a_proxy_that_lets_nobody_through_is_told_without_its_password(
    ears: Open, no_proxies: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    with Switchboard(hang_on) as board:
        there = ears(board.api_url, Timing(connect=0.1), connect=False)
        there.socket.web_client.proxy = "http://who:secret@127.0.0.1:9"
        with pytest.raises(SlackRefused) as refused:
            there.socket.connect()
    assert "secret" not in f"{refused.value} {caplog.text}"


@pytest.fixture
def tls(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ssl.SSLContext:
    """A server's context; the environment says whom to trust, as companies do for their proxies."""
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-subj", "/CN=slack"]
    command += ["-addext", "subjectAltName=IP:127.0.0.1", "-keyout", str(key)]
    subprocess.run([*command, "-out", str(certificate)], check=True, capture_output=True)
    monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(certificate, key)
    return context


@pytest.mark.parametrize("how", ["fin", "rst", "hole"])
def test_over_tls_lines_that_break_are_replaced_as_well(
    how: Break, tls: ssl.SSLContext, ears: Open
) -> None:
    acks: list[str] = []

    def script(number: int, connection: ServerConnection) -> None:
        greet(connection)
        for mention in range(20):
            envelope(connection, f"{number}-{mention}")
        while True:
            acks.append(acknowledged(connection))

    with Switchboard(script, tls) as board, BadLine(board.socket_port) as line:
        board.socket_url = board.socket_url.replace(str(board.socket_port), str(line.port))
        there = ears(board.api_url)
        wait_for(lambda: len(acks) == 20)
        line.cut(how)
        wait_for(lambda: len(acks) == 40)
        wait_for(lambda: readers() == 1)
        there.socket.close()


def test_a_certificate_that_is_not_trusted_is_told_in_one_line(
    tls: ssl.SSLContext, ears: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE")
    with Switchboard(hang_on, tls) as board:
        there = ears(board.api_url, Timing(connect=0.1), connect=False)
        with pytest.raises(SlackRefused, match="SSLCertVerificationError"):
            there.socket.connect()
