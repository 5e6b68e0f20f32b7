"""Commands that start the bot, show its answers, or check its settings.

Each command imports its libraries itself: they take seconds to load, and `--help` has to be fast.
"""

import json
import logging
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.logging import RichHandler

from ingest.errors import SettingsError
from ingest.terminal import AsJson, DataDir, VisibleConsole, print_json

app = typer.Typer()
debug_app = typer.Typer()

Port = Annotated[int, typer.Option(min=1, max=65535, help="Port of the local Slack workspace.")]
ANSWER_ID = "Id of an answer, or Slack's link to its question or reply"


@app.command("try")
def try_it(
    docs: Annotated[
        Path | None,
        typer.Option(help="Folder with your docs, instead of the samples.", metavar="FOLDER"),
    ] = None,
    port: Port = 8765,
) -> None:
    """Run the whole product on this machine: a local Slack workspace, the bot, sample docs.

    Without ANTHROPIC_API_KEY answers are the best passages, verbatim; with it, Claude answers.
    """
    from bot.signals import Ending

    ending = Ending().listen()
    with ending.interrupting():
        from bot.trial import run_trial
    run_trial(docs, port, ending)


@app.command()
def run(
    http: Annotated[
        bool, typer.Option("--http", help="Serve Slack's events endpoint instead of Socket Mode.")
    ] = False,
    port: Annotated[
        int | None, typer.Option(min=1, max=65535, help="Port of --http; else PORT, else 3000.")
    ] = None,
) -> None:
    """Run the bot: it answers questions in Slack and re-ingests the docs every night.

    Needs SLACK_BOT_TOKEN and SLACK_APP_TOKEN (with --http: SLACK_SIGNING_SECRET) and
    FOOTNOTE_DOCS_REPO. `footnote doctor` says what is missing.
    """
    from bot.settings import BotSettings
    from bot.signals import Ending
    from ingest.settings import read_settings

    settings = read_settings(BotSettings, port=port)
    settings.require_tokens(http=http)
    _log_to_stderr(settings.log_level)
    ending = Ending().listen()
    with ending.interrupting():
        from bot.app import serve  # loads all libraries
    serve(settings, ending, http=http)


@app.command()
def sandbox(
    port: Port = 8765,
    events: Annotated[
        str | None,
        typer.Option(help="Deliver events to this URL by signed HTTP instead of Socket Mode."),
    ] = None,
) -> None:
    """Run only the local Slack workspace, for a bot that is started separately.

    Point the bot at it with SLACK_API_URL=http://127.0.0.1:8765/api/,
    SLACK_BOT_TOKEN=xoxb-sandbox and SLACK_APP_TOKEN=xapp-sandbox.
    """
    from bot.sandbox.server import Sandbox

    _log_to_stderr("INFO")
    Sandbox(events_url=events).serve_forever(port)


@app.command()
def status(data_dir: DataDir = None, as_json: AsJson = False) -> None:
    """Show the state of the index, its next update, and replies that Slack has not accepted."""
    from bot.report.terminal_answers import replies_not_taken
    from ingest.cli import print_state
    from ingest.runs.state import read_state
    from ingest.settings import IndexSettings, read_settings

    settings = read_settings(IndexSettings, data_dir=data_dir)
    state, replies = read_state(settings), replies_not_taken(settings.data_dir)
    if as_json:
        print_json({**state, "replies": [reply.to_json() for reply in replies]})
        return
    print_state(state)
    for reply in replies:
        _console().print(f"{'reply':<10} {reply}", markup=False)


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Check settings, docs repo, index, Slack and model, and say how to correct each fault."""
    from bot.doctor import examine, print_findings

    findings = examine()
    if as_json:
        print_json({"ok": all(f.ok for f in findings), "checks": [f.to_json() for f in findings]})
    else:
        print_findings(findings)
    if not all(finding.ok for finding in findings):
        raise typer.Exit(1)


@app.command()
def trace(
    context: typer.Context,
    answer_id: Annotated[
        str | None,
        typer.Argument(metavar="ID", help=f"{ANSWER_ID}; without it, the newest are listed."),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show how an answer came about: requests, searches, passages, checks, time and cost."""
    from bot.report.traces import find_answer, newest, print_newest, print_trace, trace_json

    journal = context.obj.journal
    if answer_id is None:
        lines = newest(journal)
        if as_json:
            print_json({"answers": lines})
        else:
            print_newest(lines, _console())
        return
    steps = trace_json(find_answer(journal, answer_id), journal)
    if as_json:
        print_json(steps)
    else:
        print_trace(steps, _console())


@app.command()
def replay(
    context: typer.Context,
    answer_id: Annotated[str, typer.Argument(metavar="ID", help=f"{ANSWER_ID}.")],
    as_json: AsJson = False,
) -> None:
    """Ask an old question again, with today's index, and show the differences.

    The question is read from Slack again. A question from the terminal can be replayed only if
    FOOTNOTE_STORE_TEXT was on.
    """
    from bot.report.replay import print_difference, replay
    from bot.report.traces import find_answer

    record = find_answer(context.obj.journal, answer_id)
    answer, difference = replay(record, context.obj)
    if as_json:
        print_json(difference)
    else:
        print_difference(difference, _console())
    if answer.verdict == "failed":
        raise typer.Exit(1)


@app.command()
def report(
    context: typer.Context,
    days: Annotated[
        int, typer.Option(min=1, max=366, help="Days to look back; the journal keeps 30.")
    ] = 7,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a page with plots to this file.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Show unanswered questions, thumbs down, old pages, cost and latency."""
    from bot.report.cli import print_report, read_last_days, write_page

    figures, links = read_last_days(context.obj.journal, days)
    if html is not None:
        write_page(figures, links, html)
    if as_json:
        print_json(figures.to_json(links))
    elif html is None:
        print_report(figures, links, _console())


@debug_app.command("message")
def debug_message() -> None:
    """A Slack message object -> {text}: what the bot reads in it."""
    from bot.reading.message import message_json

    _filter_json(message_json)


@debug_app.command("render")
def debug_render() -> None:
    """{text, passages} -> {messages}: the Slack payload of an answer."""
    from bot.blocks import render_json

    _filter_json(render_json)


@debug_app.command("ground")
def debug_ground() -> None:
    """{question, passages, answer, ...} -> the verdict on an answer's citations and spans."""
    from agent.grounding import ground_json

    _filter_json(ground_json)


def _filter_json(convert: Callable[[dict[str, Any]], dict[str, Any]]) -> None:
    try:
        request = json.load(sys.stdin)
    except ValueError as error:
        raise SettingsError(f"stdin is not JSON ({error}). Pipe one JSON object in.") from None
    if not isinstance(request, dict):
        raise SettingsError("stdin is not a JSON object. Pipe one JSON object in.")
    print_json(convert(request))


def _console() -> VisibleConsole:
    return VisibleConsole(highlight=False, soft_wrap=True)


def _log_to_stderr(level: str) -> None:
    """Log our own records from ``level`` on, and only warnings of libraries.

    Outside a terminal each record is one line with its date.
    """
    if sys.stderr.isatty():
        handler: logging.Handler = RichHandler(
            console=VisibleConsole(stderr=True), show_path=False, markup=False
        )
        handler.setFormatter(logging.Formatter("%(message)s", datefmt="[%X]"))
    else:
        handler = logging.StreamHandler()
        handler.setFormatter(logging.Formatter("%(asctime)s %(levelname)s %(name)s: %(message)s"))
    logging.basicConfig(level=logging.WARNING, handlers=[handler])
    for package in ("bot", "agent", "ingest"):
        logging.getLogger(package).setLevel(level)
