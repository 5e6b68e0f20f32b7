"""``footnote doctor``: one line per check, with its result and the cure.

It changes nothing: it runs no ingest, posts no message and sends no question to the model.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal

from slack_sdk import WebClient

from agent.model.checkup import examine_model
from agent.settings import AgentSettings
from bot.channels import SECTIONS, read_channels
from bot.journal.database import open_database
from bot.settings import BotSettings
from bot.slack.clients import SILENT, SLACK_FAILED, greet, open_clients, slack_error
from bot.slack.manifest import read_manifest
from ingest.config_file import read_collections, read_config_file
from ingest.data_folder import probe_data_folder
from ingest.embedding.embedder import open_embedder
from ingest.errors import FootnoteError, SettingsError
from ingest.index import probe_server
from ingest.repo import probe_docs_repo
from ingest.runs.cron import read_times
from ingest.runs.state import read_state
from ingest.settings import IndexSettings, Settings, read_settings
from ingest.terminal import VisibleConsole

CheckState = Literal["ok", "note", "fail"]
_MARKS = {"ok": "[green]ok[/]  ", "note": "[yellow]note[/]", "fail": "[red]FAIL[/]"}


@dataclass(frozen=True, slots=True)
class CheckResult:
    """The result of one check."""

    name: str
    state: CheckState
    said: str

    @property
    def ok(self) -> bool:
        return self.state != "fail"

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


def examine() -> list[CheckResult]:
    """Run all checks, in the order of a new installation."""
    findings: list[CheckResult] = []
    index = _settings(IndexSettings, findings)
    agent = _settings(AgentSettings, findings)
    bot = _settings(BotSettings, findings)
    if not findings:
        findings.append(_sources())
    if index is not None:
        findings += _docs(index)
        if bot is not None and _is_fine("data folder", findings):
            findings += _check("journal", lambda: _journal(bot, index))
    if agent is not None:
        findings += _model(agent)
    if bot is not None:
        findings += _slack(bot)
    return findings


def _docs(settings: IndexSettings) -> list[CheckResult]:
    """Check everything that the ingest uses; skip checks that depend on failed ones."""
    findings = [
        *_check("footnote.toml", lambda: _config(settings)),
        *_check("data folder", lambda: probe_data_folder(settings.data_dir)),
        *_check("embedder", lambda: open_embedder(settings.embedder_source).name),
        *_check("schedule", lambda: _schedule(settings)),
    ]
    if (server := settings.chroma_server) is not None:
        findings += _check("chroma", lambda: probe_server(server))
    if _is_fine("data folder", findings):
        findings += _check(
            "docs repo", lambda: probe_docs_repo(settings.docs_source, settings.data_dir)
        )
        if _is_fine("footnote.toml", findings):
            findings.append(_index(settings))
    return findings


def _is_fine(name: str, findings: Sequence[CheckResult]) -> bool:
    return all(finding.ok for finding in findings if finding.name == name)


def print_findings(findings: list[CheckResult]) -> None:
    """Print one line per finding on stdout."""
    console = VisibleConsole(highlight=False, soft_wrap=True)
    for finding in findings:
        console.print(f"{_MARKS[finding.state]}  {finding.name:<14}", end="")
        console.print(finding.said, markup=False)


def _settings(kind: type[Settings], findings: list[CheckResult]) -> Settings | None:
    try:
        return read_settings(kind)
    except SettingsError as error:
        findings.append(CheckResult("settings", "fail", str(error)))
        return None


def _sources() -> CheckResult:
    if Path(".env").is_dir():
        return CheckResult(
            "settings", "note", ".env is a folder here: only the environment is read"
        )
    return CheckResult("settings", "ok", "all readable")


def _check(name: str, look: Callable[[], str]) -> list[CheckResult]:
    try:
        return [CheckResult(name, "ok", look())]
    except FootnoteError as error:
        return [CheckResult(name, "fail", str(error))]


def _config(settings: IndexSettings) -> str:
    config = read_config_file(settings.config, SECTIONS)
    collections = read_collections(config)
    channels = read_channels(config, collections).configured
    if not config.text:
        return "none: one collection with all docs, the same settings for every channel"
    return f"{config.path}: {len(collections)} collections, {len(channels)} sections for channels"


def _schedule(settings: IndexSettings) -> str:
    read_times(settings.ingest_at, settings.timezone)
    return f"ingest at {settings.ingest_at} ({settings.timezone})"


def _index(settings: IndexSettings) -> CheckResult:
    try:
        state = read_state(settings)
    except FootnoteError as error:
        return CheckResult("index", "fail", str(error))
    if state["revision"] is None:
        return CheckResult("index", "note", "empty: footnote run fills it, or run footnote ingest")
    size = f"{state['documents']} documents, {state['chunks']} chunks"
    last = state["last_run"]
    if last and last["state"] == "failed":
        return CheckResult("index", "fail", f"{size}; the last ingest failed: {last['error']}")
    if state["stale"]:
        return CheckResult(
            "index", "note", f"{size}, {state['age_hours']:.0f} hours old: run an ingest"
        )
    if state["left_out"]:
        return CheckResult("index", "note", f"{size}. {state['left_out']}")
    return CheckResult("index", "ok", size)


def _journal(settings: BotSettings, index_settings: IndexSettings) -> str:
    engine = open_database(settings.journal_url, index_settings.data_dir)
    engine.dispose()
    place = f"{engine.url.host or 'this machine'}, " if engine.dialect.name != "sqlite" else ""
    return f"{place}{engine.url.database} can be used"


def _model(settings: AgentSettings) -> list[CheckResult]:
    if not settings.has_key:
        line = "no ANTHROPIC_API_KEY: answers are the best passages, word for word"
        return [CheckResult("model", "note", line)]
    try:
        check = examine_model(settings)
    except FootnoteError as error:
        return [CheckResult("model", "fail", str(error))]
    return [
        CheckResult("model", "ok" if check.verified else "note", check.summary),
        *(CheckResult("model", "note", difference) for difference in check.differences),
    ]


def _slack(settings: BotSettings) -> list[CheckResult]:
    if not (settings.bot_token or settings.app_token or settings.signing_secret):
        line = "no tokens: footnote try needs none, docs/slack.md shows how to get them"
        return [CheckResult("slack", "note", line)]
    try:
        me = greet(open_clients(settings).read)
    except FootnoteError as error:
        return [CheckResult("slack", "fail", str(error))]
    return [
        CheckResult("slack", "ok", f"connected to team {me['team_id']} as {me['user_id']}"),
        _scopes(me.headers),
        *_app_token(settings),
    ]


def _scopes(headers: Mapping[str, str]) -> CheckResult:
    """Check the token's scopes, which Slack lists in a header of every response."""
    granted = headers.get("x-oauth-scopes") or ""
    missing = (read_manifest().scopes or frozenset()) - set(granted.replace(" ", "").split(","))
    if missing and granted:
        names = ", ".join(sorted(missing))
        line = f"the bot token lacks {names}: add them and install the app again (docs/slack.md)"
        return CheckResult("scopes", "fail" if "chat:write" in missing else "note", line)
    return CheckResult(
        "scopes", "ok", "as in the manifest" if granted else "not listed by this Slack"
    )


def _app_token(settings: BotSettings) -> list[CheckResult]:
    if settings.app_token is None:
        line = "no SLACK_APP_TOKEN: only footnote run --http works"
        return [CheckResult("app token", "note", line)]
    base = settings.slack_api_url.rstrip("/") + "/"
    client = WebClient(base_url=base, timeout=15, logger=SILENT)
    try:
        client.apps_connections_open(app_token=settings.app_token.get_secret_value())
    except SLACK_FAILED as error:
        line = (
            f"Slack refuses SLACK_APP_TOKEN ({slack_error(error)}). Create one with "
            'connections:write under "Basic Information", and switch Socket Mode on.'
        )
        return [CheckResult("app token", "fail", line)]
    return [CheckResult("app token", "ok", "opens a socket")]
