"""``footnote try``: a local Slack workspace, the docs as its index, and the real bot in between.

Everything lies in a folder of its own (``try`` in the data folder), so that a trial never touches
a real index.
"""

import logging
import signal
import threading
from collections.abc import Callable
from pathlib import Path

from pydantic import SecretStr
from rich.console import Console

from agent.settings import AgentSettings
from bot.run import build_bot
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from ingest.errors import FootnoteError
from ingest.handover import ingest_anywhere
from ingest.settings import IndexSettings, read_settings

SAMPLES = Path(__file__).resolve().parent.parent / "examples" / "docs"
QUESTION = "@Footnote what does error PAY-4031 mean?"

log = logging.getLogger(__name__)


def run_trial(docs: Path | None, port: int) -> None:
    """Serve until interrupted. ``docs`` takes the place of the sample docs."""
    console = Console(stderr=True, highlight=False)
    folder = _docs_folder(docs)
    page = read_page(folder)
    sandbox = Sandbox(page=page) if docs is None else Sandbox(page=page, prompts=())
    try:
        url = sandbox.start(port)
    except OSError as error:
        raise FootnoteError(
            f"port {port} cannot be used ({error.strerror}). "
            'Stop what uses it, or choose another: make try ARGS="--port 8766".'
        ) from error
    try:
        _serve(sandbox, url, folder, console, samples=docs is None)
    finally:
        sandbox.stop()


def _serve(sandbox: Sandbox, url: str, folder: Path, console: Console, *, samples: bool) -> None:
    index_settings = read_settings(IndexSettings)
    index_settings = index_settings.model_copy(
        update={
            "docs_repo": str(folder),
            "docs_root": "",
            "data_dir": index_settings.data_dir / "try",
            "link_template": f"{url}/docs/{{page}}#L{{first}}-L{{last}}",
        }
    )
    # A folder named by hand is what the person wants indexed, however little of it is left.
    report = ingest_anywhere(index_settings, {"confirm_large_deletion": True}, console, ask=False)
    agent_settings = read_settings(AgentSettings)
    bot = build_bot(_sandbox_settings(sandbox), index_settings, agent_settings)
    stop = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stop.set())
    bot.start(http=False)
    try:
        console.print(f"{report['documents']} pages are indexed. Open {url} and write:")
        console.print(f"    {QUESTION if samples else '@Footnote and your question'}", style="bold")
        console.print(_mode(agent_settings), style="dim")
        console.print("Ctrl-C ends it.", style="dim")
        stop.wait()
    finally:
        bot.stop()


def _sandbox_settings(sandbox: Sandbox) -> BotSettings:
    return read_settings(BotSettings).model_copy(
        update={
            "bot_token": SecretStr("xoxb-sandbox"),
            "app_token": SecretStr("xapp-sandbox"),
            "signing_secret": None,
            "slack_api_url": sandbox.api_url,
            "database_url": None,
            "digest_channel": None,
        }
    )


def _mode(settings: AgentSettings) -> str:
    if settings.api_key or settings.auth_token:
        return f"{settings.model} answers."
    return (
        "No ANTHROPIC_API_KEY is set: answers are the best passages, word for word. "
        "Set it and start again to let Claude answer."
    )


def _docs_folder(docs: Path | None) -> Path:
    folder = (docs or SAMPLES).expanduser().resolve()
    if folder.is_dir():
        return folder
    if docs is None:
        raise FootnoteError(
            "the sample docs are not installed with this package. "
            "Run it from a checkout, or name your own docs with --docs FOLDER."
        )
    raise FootnoteError(f"{docs} is not a folder. Give --docs a folder with your docs.")


def read_page(folder: Path) -> Callable[[str], str | None]:
    """Path -> text of a page under ``folder``; None for what is not there or leads out of it."""

    def page(path: str) -> str | None:
        file = (folder / path).resolve()
        if not file.is_relative_to(folder) or not file.is_file():
            return None
        return file.read_text(encoding="utf-8", errors="replace")

    return page
