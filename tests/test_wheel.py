"""The installed product: a wheel in an environment without the checkout."""

import json
import os
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from tests.conftest import ROOT
from tests.trial import ask, trial
from tests.waiting import PATIENCE

# What the script does that an installer makes of the entry point.
FOOTNOTE = (
    "import sys; from importlib.metadata import entry_points;"
    "[one] = entry_points(group='console_scripts', name='footnote'); sys.exit(one.load()())"
)


@pytest.fixture(scope="session")
def python(tmp_path_factory: pytest.TempPathFactory) -> str:
    """The Python of a new environment with the wheel and this environment's libraries."""
    folder = tmp_path_factory.mktemp("installed")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=ROOT,
        check=True,
        capture_output=True,
    )
    [wheel] = folder.glob("footnote-*.whl")
    venv.create(folder / "venv", symlinks=True)
    paths = sysconfig.get_paths(vars={"base": str(folder / "venv")})
    packages = Path(paths["purelib"])
    ZipFile(wheel).extractall(packages)
    # A folder named like this is searched, but its own .pth files, such as the checkout's, are not.
    (packages / "libraries.pth").write_text(sysconfig.get_path("purelib"))
    return str(Path(paths["scripts"]) / "python")


@pytest.fixture(scope="session")
def environment(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path_factory.mktemp("home")),
        "PYTHONUNBUFFERED": "1",
        "FOOTNOTE_DATA_DIR": str(tmp_path_factory.mktemp("data")),
        "FOOTNOTE_EMBEDDER_INT8": "false",
    }


@pytest.fixture
def footnote(python: str) -> list[str]:
    return [python, "-c", FOOTNOTE]


def output(command: list[str], folder: Path, environment: dict[str, str]) -> str:
    done = subprocess.run(
        command,
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_it_holds_every_file_that_is_not_code_and_sees_nothing_of_the_checkout(
    python: str, tmp_path: Path, environment: dict[str, str]
) -> None:
    look = "import sys, agent, bot, ingest; print(*sys.path, *bot.__path__)"
    *path, bot = output([python, "-c", look], tmp_path, environment).split()
    assert str(ROOT) not in path

    packages = Path(bot).parent
    assert packages in Path(python).parent.parent.rglob("site-packages")
    shipped = packages / "ingest" / "_shipped"
    places = {ROOT / name: packages / name for name in ("agent", "bot", "ingest")}
    places |= {ROOT / "examples": shipped / "examples"}
    for here, there in places.items():
        assert _files(here) == _files(there)
    assert (shipped / "manifest.yml").read_bytes() == (ROOT / "manifest.yml").read_bytes()


def _files(folder: Path) -> dict[str, bytes]:
    """Files in a folder of the checkout or of the wheel."""
    paths = (path.relative_to(folder) for path in folder.rglob("*") if path.is_file())
    return {
        str(path): (folder / path).read_bytes()
        for path in paths
        if path.suffix not in (".py", ".pyc") and path.parts[0] != "_shipped"
    }


def test_a_trial_shows_its_page_answers_and_passes_the_doctor(
    footnote: list[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    with trial(footnote, tmp_path, environment) as slack:
        for path in ("/", "/static/sandbox.css", "/static/sandbox.js", "/static/icon.svg"):
            with urlopen(slack.url(path), timeout=PATIENCE) as page:
                assert page.read()
        _, answer = ask(slack, "<@U0FOOTNOTE> what does error PAY-4031 mean?")
        assert "PAY-4031 means that signature verification failed" in answer

        connected = {
            "SLACK_API_URL": slack.url("/api/"),
            "SLACK_BOT_TOKEN": "xoxb-sandbox",
            "SLACK_APP_TOKEN": "xapp-sandbox",
            "FOOTNOTE_DOCS_REPO": str(tmp_path),
            "FOOTNOTE_DATA_DIR": str(tmp_path / "data"),
        }
        checks = json.loads(
            output([*footnote, "doctor", "--json"], tmp_path, environment | connected)
        )
    said = {check["name"]: check["said"] for check in checks["checks"]}
    assert said["scopes"] == "as in the manifest"


def test_the_cases_are_asked_about_the_sample_docs(
    footnote: list[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    result = json.loads(output([*footnote, "eval", "decisions", "--json"], tmp_path, environment))
    cases = (ROOT / "examples" / "evals" / "decisions.jsonl").read_text().splitlines()
    assert result["asked"] == len(cases)
    assert result["measured"] is False


def test_a_report_has_its_style(
    footnote: list[str], tmp_path: Path, environment: dict[str, str]
) -> None:
    output([*footnote, "report", "--html", "report.html"], tmp_path, environment)
    css = (ROOT / "bot" / "report" / "report.css").read_text()
    assert css in (tmp_path / "report.html").read_text()
