"""Fixtures for all tests: a network guard and the optional shared data."""

import os
import re
import signal
import socket
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Machines differ: how long an example takes says nothing. In CI examples are the same each time.
settings.register_profile(
    "footnote",
    deadline=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("footnote")

ROOT = Path(__file__).resolve().parent.parent

# What machines differ in: proxies that no test needs, width and colours, people's git settings.
for name in list(os.environ):
    if re.fullmatch(r"(?i)git_.*|.*_proxy|(force|no)_color|py_colors|github_actions|lines", name):
        del os.environ[name]
os.environ |= {"COLUMNS": "80", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}

# The commands and bots that tests start are not measured: it would take them half as long again.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.pop("COVERAGE_PROCESS_CONFIG", None)

# Who starts tests in the background may ignore SIGINT, and processes of tests would inherit that.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True)
def _loopback_only(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Refuse every connection beyond this machine."""
    if request.node.get_closest_marker("live"):
        return
    connect = socket.socket.connect

    def guarded(self: socket.socket, address: object) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            raise AssertionError(f"a test tried to reach {address[0]}")
        connect(self, address)  # type: ignore[arg-type]  # socket accepts any address family

    monkeypatch.setattr(socket.socket, "connect", guarded)


@pytest.fixture(autouse=True)
def _own_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run every test in an empty folder, without the developer's settings or keys."""
    for name in list(os.environ):
        if name.startswith(("FOOTNOTE_", "SLACK_", "ANTHROPIC_", "CHROMA_")) or name in (
            "PORT",
            "DATABASE_URL",
        ):
            monkeypatch.delenv(name)
    monkeypatch.chdir(tmp_path)


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder with shared cases and the benchmark, if it exists."""
    folder = Path(os.environ.get("FOOTNOTE_SHARED", ROOT.parent / "shared"))
    if not (folder / "cases").is_dir():
        pytest.skip(f"no shared cases in {folder} (set FOOTNOTE_SHARED)")
    return folder


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the known limits of the checks."""
    reports = [each for some in terminalreporter.stats.values() for each in some]
    called = [each for each in reports if getattr(each, "when", "") == "call"]
    properties = [each for report in called for each in report.user_properties]
    if limits := [value for name, value in properties if name == "known limit"]:
        terminalreporter.write_line(f"{len(limits)} known limits: {', '.join(limits)}")
