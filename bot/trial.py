"""``footnote try``: a local Slack workspace, an index of the docs, and the real bot.

All data are in the folder ``try`` of the data folder, so that a trial never changes a real index.
"""

import logging
from pathlib import Path

from pydantic import SecretStr

from agent.settings import AgentSettings
from bot.app import Service
from bot.sandbox.server import Sandbox
from bot.settings import BotSettings
from bot.signals import Ending
from ingest.documents import IndexedDocument
from ingest.errors import FootnoteError, IngestError
from ingest.index import Index
from ingest.runs.terminal_run import ingest_anywhere
from ingest.settings import IndexSettings, read_settings
from ingest.shipped import SAMPLE_DOCS
from ingest.terminal import VisibleConsole

QUESTION = "@Footnote what does error PAY-4031 mean?"
_FENCES = ("```", "~~~")

log = logging.getLogger(__name__)


def run_trial(docs: Path | None, port: int, ending: Ending) -> None:
    """Serve until interrupted. ``docs`` replaces the sample docs."""
    console = VisibleConsole(stderr=True, highlight=False)
    folder = _docs_folder(docs)
    texts = DocumentTexts()
    sandbox = Sandbox(page=texts) if docs is None else Sandbox(page=texts, prompts=())
    try:
        url = sandbox.start(port)
    except OSError as error:
        raise FootnoteError(
            f"port {port} cannot be used ({error.strerror}). "
            'Stop the program that uses it, or choose another: make try ARGS="--port 8766".'
        ) from error
    try:
        _serve(sandbox, url, texts, folder, console, ending, samples=docs is None)
    finally:
        sandbox.stop()


def _serve(
    sandbox: Sandbox,
    url: str,
    texts: "DocumentTexts",
    folder: Path,
    console: VisibleConsole,
    ending: Ending,
    *,
    samples: bool,
) -> None:
    index_settings = read_settings(IndexSettings)
    index_settings = index_settings.model_copy(
        update={
            "docs_repo": str(folder),
            "docs_branch": None,
            "docs_root": "",
            "data_dir": index_settings.data_dir / "try",
            "link_template": f"{url}/docs/{{page}}#L{{first}}-L{{last}}",
        }
    )
    # The person chose the folder, so a large deletion needs no confirmation.
    options = {"confirm_large_deletion": True}
    with ending.interrupting():
        report = ingest_anywhere(index_settings, options, console, ask=False)
        agent_settings = read_settings(AgentSettings)
        service = Service(_sandbox_settings(sandbox), index_settings, agent_settings)
        texts.index = service.index
        service.connect(http=False)
    service.start()
    try:
        console.print(f"{report['documents']} pages are indexed. Open {url} and write:")
        console.print(f"    {QUESTION if samples else '@Footnote and your question'}", style="bold")
        console.print(_mode(agent_settings), style="dim")
        console.print("Ctrl-C ends it.", style="dim")
        ending.wait()
    finally:
        service.stop()


def _sandbox_settings(sandbox: Sandbox) -> BotSettings:
    return read_settings(BotSettings).model_copy(
        update={
            "bot_token": SecretStr("xoxb-sandbox"),
            "app_token": SecretStr("xapp-sandbox"),
            "signing_secret": None,
            "slack_api_url": sandbox.api_url,
            "database_url": None,
            "digest_channel": None,
            "admin_channel": None,
        }
    )


def _mode(settings: AgentSettings) -> str:
    if settings.has_key:
        return f"{settings.model} answers."
    return (
        "No ANTHROPIC_API_KEY is set: answers are the best passages, word for word. "
        "Set it and start again to let Claude answer."
    )


def _docs_folder(docs: Path | None) -> Path:
    folder = (docs or SAMPLE_DOCS).expanduser().resolve()
    if not folder.is_dir():
        raise FootnoteError(f"{folder} is not a folder. Give --docs a folder with your docs.")
    return folder


class DocumentTexts:
    """Returns the text of a document as it was indexed, by its path."""

    def __init__(self) -> None:
        self.index: Index | None = None
        """Set when the bot is built."""

    def __call__(self, path: str) -> str | None:
        try:
            document = self.index.document(path) if self.index else None
        except IngestError as error:
            log.warning("%s cannot be shown: %s", path, error)
            return None
        return document_text(document) if document else None


def document_text(document: IndexedDocument) -> str:
    """Join the chunks of a document, each line at its number; lines in no chunk are empty."""
    lines: dict[int, str] = {}
    cut = False
    for passage in document.own:
        first, last = passage.lines
        text = passage.text.split("\n")
        extra = max(0, len(text) - (last - first + 1))
        # Each part of a cut block repeats its fences, or the head of its table.
        before = min(extra, 1) if cut else 0 if text[-1].startswith(_FENCES) else extra
        cut = extra > before
        for number, line in enumerate(text[before : len(text) - (extra - before)], first):
            lines[number] = lines.get(number, "") + line
    return "\n".join(lines.get(number, "") for number in range(1, max(lines, default=0) + 1))
