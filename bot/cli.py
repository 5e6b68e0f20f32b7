"""The ``footnote`` command, with the commands of all three packages.

Each command is defined in its package and imported when it is run, so that the list of commands
loads fast. Only this module turns errors into one line and an exit code.
"""

import os
import sys
import traceback
from importlib import import_module
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_group

from ingest.errors import FootnoteError
from ingest.invisible import without_hidden


class Deferred(TyperCommand):
    """A command that is imported when it is used; ``location`` is ``module:Typer app``."""

    def __init__(self, name: str, location: str, line: str) -> None:
        super().__init__(name, short_help=line)
        self.location = location

    def load(self) -> Any:
        """Import the command."""
        module, _, attribute = self.location.partition(":")
        holder = typer.Typer(rich_markup_mode="markdown")
        holder.add_typer(getattr(import_module(module), attribute))
        return get_group(holder).commands[str(self.name)]

    def make_context(self, *args: Any, **extra: Any) -> Any:
        """Start a command, its help, or the completion of its options."""
        return self.load().make_context(*args, **extra)


class CommandGroup(TyperGroup):
    """A group of commands, listed in their order; without a command it shows the list.

    The list is plain text: the library that draws boxes takes most of the loading time.
    """

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"rich_markup_mode": None})

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if not args and not ctx.resilient_parsing:
            typer.echo(ctx.get_help(), err=True)
            raise typer.Exit(2)
        return super().parse_args(ctx, args)


class Footnote(CommandGroup):
    """The group of all commands."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings | {"commands": COMMANDS})


def _group(name: str, line: str, *commands: Deferred) -> CommandGroup:
    return CommandGroup(name=name, help=line, short_help=line, commands=commands)


COMMANDS = (
    Deferred(
        "try",
        "bot.cli_commands:app",
        "Run the whole product on this machine: a local Slack workspace, the bot, sample docs.",
    ),
    Deferred(
        "run",
        "bot.cli_commands:app",
        "Run the bot: it answers questions in Slack and re-ingests the docs every night.",
    ),
    Deferred(
        "ingest",
        "ingest.cli:app",
        "Bring the index up to date with the docs: only changed pages are read and embedded.",
    ),
    Deferred(
        "search",
        "ingest.cli:app",
        "Show the passages for a query, best first.",
    ),
    Deferred("ask", "agent.cli:app", "Answer one question from the docs."),
    Deferred(
        "chat",
        "agent.cli:app",
        "Talk with the docs in the terminal; an empty line or Ctrl-D ends it.",
    ),
    Deferred(
        "status",
        "bot.cli_commands:app",
        "Show the state of the index, its next update, and replies that Slack has not accepted.",
    ),
    Deferred(
        "doctor",
        "bot.cli_commands:app",
        "Check settings, docs repo, index, Slack and model, and say how to correct each fault.",
    ),
    Deferred(
        "trace",
        "bot.cli_commands:app",
        "Show how an answer came about: requests, searches, passages, checks, time and cost.",
    ),
    Deferred(
        "replay",
        "bot.cli_commands:app",
        "Ask an old question again, with today's index, and show the differences.",
    ),
    Deferred(
        "report",
        "bot.cli_commands:app",
        "Show unanswered questions, thumbs down, old pages, cost and latency.",
    ),
    _group(
        "eval",
        "Measure the quality of search and of answers on case files: one JSON object a line.",
        Deferred(
            "retrieval",
            "ingest.evaluate.cli:app",
            "Ask questions whose pages are known, and see how much text holds the answer.",
        ),
        Deferred(
            "calibrate",
            "ingest.evaluate.cli:app",
            "Choose the confidence below which a result is weak, and store it with the index.",
        ),
        Deferred(
            "decisions",
            "agent.evals.cli:app",
            "Does the agent search when it must, and only then?",
        ),
        Deferred(
            "answers",
            "agent.evals.cli:app",
            "Are the answers right: cited, complete, supported, and silent where the docs are?",
        ),
    ),
    Deferred(
        "sandbox",
        "bot.cli_commands:app",
        "Run only the local Slack workspace, for a bot that is started separately.",
    ),
    _group(
        "debug",
        "Run one step of the pipeline on JSON: stdin in, JSON out.",
        Deferred(
            "message",
            "bot.cli_commands:debug_app",
            "A Slack message object -> {text}: what the bot reads in it.",
        ),
        Deferred(
            "render",
            "bot.cli_commands:debug_app",
            "{text, passages} -> {messages}: the Slack payload of an answer.",
        ),
        Deferred(
            "ground",
            "bot.cli_commands:debug_app",
            "{question, passages, answer, ...} -> the verdict on an answer's citations and spans.",
        ),
    ),
)

app = typer.Typer(
    name="footnote",
    cls=Footnote,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="""Answers questions in Slack from your own docs, with a citation behind every claim.

Start with `footnote try`: the whole product on this machine, no account needed.""",
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        from importlib.metadata import version

        typer.echo(f"footnote {version('footnote')}")
        raise typer.Exit


@app.callback()
def _root(
    context: typer.Context,
    _version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Give commands the journal: it opens at its first use, and closes at the end."""
    # Here and not above: the list of commands needs no report, and shows sooner without it.
    from bot.report.terminal_answers import Terminal

    terminal = Terminal()
    context.obj = terminal
    context.call_on_close(terminal.close)


def main() -> None:
    """Run a command; every failure is one line on stderr and an exit code."""
    try:
        code = app(prog_name="footnote", standalone_mode=False)
    except FootnoteError as error:
        _fail(str(error), error.exit_code)
    except typer.TyperException as error:
        _fail(_usage(error), error.exit_code)
    except typer.Abort:
        _fail("the input ended before it was complete.", 1)
    except Exception as error:  # noqa: BLE001  # any failure: a person gets one line
        if os.environ.get("FOOTNOTE_LOG_LEVEL", "").upper() == "DEBUG":
            traceback.print_exc()
        _fail(
            f"unexpected {type(error).__name__}. This is a bug: run it again with "
            "FOOTNOTE_LOG_LEVEL=DEBUG and report the traceback.",
            1,
        )
    sys.exit(code)


def _usage(error: typer.TyperException) -> str:
    """Describe the fault in the command line, and name its help."""
    fault = " ".join(error.format_message().split()).replace(": Value error, ", ": ")
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "footnote"
    return f"{fault}{'' if fault.endswith(('.', '?')) else '.'} See `{path} --help`."


def _fail(message: str, code: int) -> NoReturn:
    sys.stderr.write(f"footnote: {without_hidden(message)}\n")
    sys.exit(code)
