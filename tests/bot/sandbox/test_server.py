"""Starting, stopping and serving in the foreground."""

import signal
import socket
import subprocess
import sys

import pytest

from bot.sandbox.server import Sandbox, SandboxError
from tests.bot.sandbox.conftest import Person
from tests.waiting import PATIENCE, wait_for


def test_starts_on_a_free_port_and_stops_for_good() -> None:
    sandbox = Sandbox()
    url = sandbox.start()
    assert sandbox.api_url == f"{url}/api/"
    assert Person(url).get("state")["connections"] == 0
    sandbox.stop()
    sandbox.stop()
    with socket.create_server(("127.0.0.1", int(url.rpartition(":")[2]))):
        pass


@pytest.mark.skipif(sys.platform != "linux", reason="needs a second address of loopback")
def test_no_other_machine_reaches_it() -> None:
    sandbox = Sandbox()
    port = int(sandbox.start().rpartition(":")[2])
    # Beside a server on all addresses of the machine, this port would be taken.
    with socket.create_server(("127.0.0.2", port)):
        pass
    sandbox.stop()


def test_a_port_in_use_is_said_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with pytest.raises(SandboxError, match=f"port {port} cannot be used .* --port"):
            Sandbox().serve_forever(port)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_serves_in_the_foreground_until_interrupted(number: signal.Signals) -> None:
    code = (
        "from bot.sandbox.server import Sandbox\n"
        "Sandbox().serve_forever(0, ready=lambda url: print(url, flush=True))\n"
    )
    with subprocess.Popen(
        [sys.executable, "-W", "error", "-c", code],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdout is not None
        person = Person(process.stdout.readline().strip())
        wait_for(lambda: person.get("state"))
        process.send_signal(number)
        _, errors = process.communicate(timeout=PATIENCE)
    assert errors == ""
    assert process.returncode == (0 if number == signal.SIGINT else -signal.SIGTERM)
