"""Apps that listen, and a line that can be broken."""

from collections.abc import Iterator

import pytest

from bot.sandbox.server import Sandbox
from bot.slack.socket_mode import Timing
from tests.bot.slack.ears import QUICK, Ears, Open
from tests.fakes.bad_line import BadLine


@pytest.fixture
def ears() -> Iterator[Open]:
    made: list[Ears] = []

    def open_ears(api_url: str, timing: Timing = QUICK, *, connect: bool = True) -> Ears:
        made.append(Ears(api_url, timing))
        if connect:
            made[-1].socket.connect()
        return made[-1]

    yield open_ears
    for each in made:
        each.held.set()
        each.socket.close()


@pytest.fixture
def line(workspace: Sandbox) -> Iterator[BadLine]:
    """What lies between the bot and the sandbox."""
    straight = workspace.slack.base_url
    with BadLine(int(straight.rpartition(":")[2])) as line:
        workspace.slack.base_url = f"http://127.0.0.1:{line.port}"
        yield line
        workspace.slack.base_url = straight
