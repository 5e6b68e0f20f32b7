"""``footnote ask`` and ``footnote chat``: the agent in a terminal, answering as in Slack."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer
from pydantic import BaseModel, ConfigDict, TypeAdapter, ValidationError
from rich.markdown import Markdown

from agent.answer import Answer
from agent.conversation import CitedChunk, Conversation, Turn
from agent.settings import AgentSettings
from ingest.errors import SettingsError
from ingest.settings import IndexSettings, read_settings
from ingest.terminal import VisibleConsole, print_json

if TYPE_CHECKING:
    from agent.loop import Agent, Progress
    from agent.model.budget import Spending

app = typer.Typer(no_args_is_help=True, add_completion=False)

ASKER = "you"
FOOTNOTE = "footnote"


class Ledger(Protocol):
    """Records answers and what their requests cost; the root command's ``obj``."""

    @property
    def spending(self) -> "Spending": ...

    def record(self, conversation: Conversation, answer: Answer) -> None: ...


class _ThreadTurn(BaseModel):
    """One turn of a ``--thread`` file."""

    model_config = ConfigDict(extra="ignore")

    user: str
    text: str


@app.command()
def ask(
    context: typer.Context,
    question: Annotated[str, typer.Argument(help="The question, in quotes.")],
    thread: Annotated[
        Path | None,
        typer.Option(
            help="Earlier turns, oldest first: a JSON list of "
            '{"user": a name or "footnote", "text": …}.',
            metavar="FILE",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every step.")] = False,
) -> None:
    """Answer one question from the docs.

    Without ANTHROPIC_API_KEY the answer is the best passages, word for word.
    """
    turns = _read_thread(thread) if thread else ()
    conversation = Conversation((*turns, Turn("person", ASKER, question)))
    with _agent(context.obj) as agent:
        answer = agent.answer(conversation)
    _record(context.obj, conversation, answer)
    if as_json:
        trace = {"trace": answer.trace.to_json()} if verbose else {}
        print_json(answer.to_json() | trace)
    else:
        _print(answer, VisibleConsole(), verbose=verbose)
    if answer.verdict == "failed":
        raise typer.Exit(1)


@app.command()
def chat(
    context: typer.Context,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Show every step.")] = False,
) -> None:
    """Talk with the docs in the terminal; an empty line or Ctrl-D ends it."""
    console = VisibleConsole()
    turns: list[Turn] = []
    with _agent(context.obj) as agent:
        while question := _line(console):
            turns.append(Turn("person", ASKER, question))
            conversation = Conversation(tuple(turns))
            with console.status("thinking …") as status:
                answer = agent.answer(
                    conversation,
                    on_progress=lambda p: status.update(_progress(p)),
                )
            _record(context.obj, conversation, answer)
            _print(answer, console, verbose=verbose)
            cited = tuple(CitedChunk(passage.id, passage.hash) for passage in answer.citations)
            turns.append(Turn("footnote", FOOTNOTE, answer.text, cited))


@contextmanager
def _agent(ledger: Ledger | None) -> "Iterator[Agent]":
    # Imported here because the libraries of model and index take seconds to load.
    from agent.loop import build_agent
    from ingest.index import open_index

    settings = read_settings(AgentSettings)
    index = open_index(read_settings(IndexSettings))
    try:
        yield build_agent(index, settings, ledger.spending if ledger else None)
    finally:
        index.close()


def _record(ledger: Ledger | None, conversation: Conversation, answer: Answer) -> None:
    if ledger is not None:
        ledger.record(conversation, answer)


def _read_thread(path: Path) -> tuple[Turn, ...]:
    try:
        entries = TypeAdapter(list[_ThreadTurn]).validate_json(path.read_bytes())
    except OSError as error:
        raise SettingsError(f"cannot read {path}: {error.strerror}.") from None
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise SettingsError(
            f"{path} is not a list of turns ({where or 'file'}: {fault['msg']}). "
            'Give [{"user": "name", "text": "…"}, …], oldest first.'
        ) from None
    return tuple(_turn(turn) for turn in entries)


def _turn(turn: _ThreadTurn) -> Turn:
    ours = turn.user.lower() == FOOTNOTE
    return Turn("footnote" if ours else "person", turn.user, turn.text)


def _line(console: VisibleConsole) -> str:
    try:
        return console.input("[bold]> [/bold]").strip()
    except (EOFError, KeyboardInterrupt):
        return ""


def _progress(progress: "Progress") -> str:
    line = f"{progress.kind} {progress.detail}".strip()
    return line.replace("[", "\\[") + " …"


def _print(answer: Answer, console: VisibleConsole, *, verbose: bool) -> None:
    if verbose:
        for event in answer.trace.events:
            detail = json.dumps(event.detail, ensure_ascii=False)
            line = f"{event.at:8.3f}s  {event.kind:<12} {detail}"
            console.print(line, style="dim", markup=False)
    console.print(Markdown(answer.text))
    for passage in answer.citations:
        first, last = passage.lines
        place = passage.url or f"{passage.path}, lines {first}-{last}"
        line = f"  [{passage.id}] {place}"
        console.print(line, style="cyan", markup=False, soft_wrap=True)
    console.print(_summary(answer), style="dim", markup=False)


def _summary(answer: Answer) -> str:
    facts: list[Any] = [answer.id, answer.verdict, f"{answer.seconds:.1f} s"]
    if answer.model:
        facts += [answer.model, f"{answer.steps} steps", f"{len(answer.searches)} searches"]
        cost = answer.cost_usd
        facts.append("cost unknown" if cost is None else f"≈ ${cost:.4f}")
    if answer.removed:
        facts.append(f"removed ids that were never retrieved: {', '.join(answer.removed)}")
    return " · ".join(map(str, facts))
