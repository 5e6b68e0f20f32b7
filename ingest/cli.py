"""The commands ``footnote ingest`` and ``footnote search``."""

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from itertools import groupby
from pathlib import Path
from typing import Annotated, Any

import typer

from ingest.documents import DEFAULT_BUDGET
from ingest.settings import IndexSettings, read_settings
from ingest.terminal import AsJson, DataDir, VisibleConsole, print_json
from ingest.time_to_go import described

# Modules that load Chroma, which takes a second, are imported in the commands that need them.

app = typer.Typer(no_args_is_help=True, add_completion=False)

_PATHS_PER_REASON = 10
_NOTHING = "nothing is indexed yet: run `footnote ingest`"
_UNLIKELY = "Nothing here is likely to answer that."


@app.command()
def ingest(
    source: Annotated[
        str | None,
        typer.Argument(
            help="Git address or folder; else FOOTNOTE_DOCS_REPO.",
            metavar="SOURCE",
            show_default=False,
        ),
    ] = None,
    data_dir: DataDir = None,
    branch: Annotated[
        str | None,
        typer.Option(
            help="Branch, tag or commit; else FOOTNOTE_DOCS_BRANCH, else the default branch."
        ),
    ] = None,
    root: Annotated[
        str | None, typer.Option(help="Folder inside the repo that holds the docs.")
    ] = None,
    include: Annotated[
        list[str] | None, typer.Option(help="Glob of files to index. May be repeated.")
    ] = None,
    exclude: Annotated[
        list[str] | None, typer.Option(help="Glob of files to leave out. May be repeated.")
    ] = None,
    yes: Annotated[
        bool,
        typer.Option(
            "--yes", "-y", "--confirm-large-deletion", help="Delete even most of the pages."
        ),
    ] = False,
    dry: Annotated[
        bool,
        typer.Option("--dry-run", help="Only say what would be read, left out and why."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Bring the index up to date with the docs: only changed pages are read and embedded.

    A second run in a row changes nothing. If the bot is running, it carries out the ingest and this
    command shows its progress.

    Pages are Markdown, MDX, AsciiDoc, reStructuredText, Org, MediaWiki, Creole, Textile, POD, HTML,
    notebooks, text and descriptions of interfaces (OpenAPI, Swagger, AsyncAPI).

    - `footnote ingest ./docs --dry-run`
    - `footnote ingest ./docs`
    - `footnote ingest https://github.com/acme/handbook --root docs`
    """
    from ingest.runs.expectation import expect
    from ingest.runs.terminal_run import ingest_anywhere

    if source and Path(source).expanduser().is_dir():
        source = str(Path(source).expanduser().resolve())  # the bot may run in another folder
    options = {
        "docs_repo": source,
        "docs_branch": branch,
        "docs_root": root,
        "docs_include": tuple(include) if include else None,
        "docs_exclude": tuple(exclude) if exclude else None,
    }
    options = {name: value for name, value in options.items() if value is not None}
    settings = read_settings(IndexSettings, data_dir=data_dir, **options)
    if dry:
        expect(settings, as_json=as_json)
        return
    confirmation = {"confirm_large_deletion": yes}
    report = ingest_anywhere(
        settings, options | confirmation, VisibleConsole(stderr=True), ask=not as_json
    )
    if as_json:
        print_json(report)
    else:
        _print_report(report, VisibleConsole(highlight=False))
    if report["failed"]:
        raise typer.Exit(1)


def _not_empty(query: str) -> str:
    if not query.strip():
        raise typer.BadParameter("the query is empty: write some words")
    return query


@app.command()
def search(
    query: Annotated[
        str, typer.Argument(help="Words, an error code, a question.", callback=_not_empty)
    ],
    k: Annotated[
        int | None,
        typer.Option(
            "-k", min=1, max=200, help=f"Number of passages; else {DEFAULT_BUDGET:,} characters."
        ),
    ] = None,
    path: Annotated[
        str | None, typer.Option(help="Only pages whose path begins with this.")
    ] = None,
    collection: Annotated[
        str | None, typer.Option(help="Only this collection of footnote.toml.")
    ] = None,
    tag: Annotated[
        list[str] | None, typer.Option(help="Only pages with this tag. May be repeated.")
    ] = None,
    updated_after: Annotated[
        datetime | None,
        typer.Option(help="Only pages changed since.", formats=["%Y-%m-%d"], metavar="YYYY-MM-DD"),
    ] = None,
    data_dir: DataDir = None,
    as_json: AsJson = False,
) -> None:
    """Show the passages for a query, best first."""
    from ingest.index import open_index

    index = open_index(read_settings(IndexSettings, data_dir=data_dir))
    try:
        result = index.search(
            query,
            k=k,
            path=path,
            collection=collection,
            tags=tag or (),
            updated_after=updated_after.replace(tzinfo=UTC) if updated_after else None,
        )
    finally:
        index.close()
    if as_json:
        print_json(result.to_json())
        return
    console = VisibleConsole(highlight=False)
    for passage in result.passages:
        first, last = passage.lines
        console.print(f"[{passage.id}]", style="bold", markup=False)
        where = f"{passage.path} lines {first}-{last}, distance {passage.distance:.2f}"
        console.print(" > ".join(passage.heading) or passage.title, style="cyan", markup=False)
        console.print(passage.url or where, style="dim", markup=False, soft_wrap=True)
        for place in passage.places:
            line = f"also in {place.path} lines {place.lines[0]}-{place.lines[1]}"
            line += (
                f", version {place.version}" * bool(place.version) + ", differing" * place.differs
            )
            console.print(line, style="dim", markup=False, soft_wrap=True)
        console.print(passage.text + "\n", markup=False, soft_wrap=True)
    if result.note:
        VisibleConsole(stderr=True).print(result.note, style="yellow")
    if result.weak:
        none_passed = not result.passages and (path or collection or tag or updated_after)
        why = "No page passes these filters." if none_passed else _UNLIKELY
        VisibleConsole(stderr=True).print(why, style="yellow")


def print_state(state: Mapping[str, Any]) -> None:
    """Print the state of the index, one line per fact."""
    console = VisibleConsole(highlight=False)
    for name, value in _described(state):
        console.print(f"{name:<10} {value}", markup=False, soft_wrap=True)


def _described(state: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    last, owner = state["last_run"], state["owner"]
    old = " (old)" if state["stale"] else ""
    revision = state["revision"]
    none = "the first ingest has not ended" if state.get("growth") else _NOTHING
    yield "revision", _short(revision) or none
    yield "ingested", f"{_age(state['age_hours'])} ago{old}" if state["ingested_at"] else "never"
    yield "content", f"{state['documents']} documents, {state['chunks']} chunks"
    if growth := state.get("growth"):
        yield "", growth["words"]
    if differing := state["documents_of_another_revision"]:
        why = "a run is under way" if state["running"] else "the last run did not write them all"
        yield "", f"{differing} documents are of another revision: {why}"
    for collection in state["collections"]:
        size = f"{collection['documents']} documents"
        yield "", f"{collection['name']}: {size}. {collection['description']}"
    yield "embedder", state["embedder"] or "-"
    how = f": {last['error']}" if last and last["error"] else ""
    when = last["finished_at"] or last["started_at"] if last else ""
    yield "last run", f"{last['state']} {when}{how}" if last else "-"
    if outage := state["outage"]:
        tries = f"{outage['attempts']} failed run{'' if outage['attempts'] == 1 else 's'}"
        next_try = outage["next_try_at"] or "with the next run"
        yield "failing", f"since {outage['since']}, {tries}; next try {next_try}"
    if running := state["running"]:
        progress = (running[name] for name in ("stage", "done", "total", "seconds_left"))
        yield "running", f"{described(*progress)} (since {running['started_at']})"
    yield "next run", state["next_run_at"] or "not scheduled: no bot is running"
    yield "owner", f"{owner['command']}, process {owner['pid']}" if owner else "-"
    if test := state["self_test"]:
        yield "self-test", f"{test['found']} of {test['questions']} questions found their page"
    for warning in state["warnings"]:
        yield "warning", warning


def _print_report(report: Mapping[str, Any], console: VisibleConsole) -> None:
    console.print(
        f"{report['documents']} documents, {report['chunks']} chunks "
        f"at {_short(report['revision'])}: {report['added']} added, {report['updated']} changed, "
        f"{report['deleted']} deleted, {report['unchanged']} as before; "
        f"{report['embedded']} embedded, in {report['seconds']:.1f} s.",
        soft_wrap=True,
    )
    if test := report["self_test"]:
        console.print(
            f"self-test {test['found']} of {test['questions']} questions found their page"
        )
    for failed in report["failed"]:
        line = f"failed   {failed['path']}: {failed['reason']}"
        console.print(line, markup=False, style="red", soft_wrap=True)
    for warning in report["warnings"]:
        console.print(f"warning  {warning}", markup=False, style="yellow", soft_wrap=True)
    by_reason = sorted(report["skipped"], key=lambda s: (s["reason"], s["path"]))
    for reason, files in groupby(by_reason, key=lambda s: s["reason"]):
        paths = [file["path"] for file in files]
        console.print(f"skipped  {len(paths)}: {reason}", markup=False)
        for path in paths[:_PATHS_PER_REASON]:
            console.print(f"         {path}", markup=False, soft_wrap=True)
        if len(paths) > _PATHS_PER_REASON:
            console.print(f"         and {len(paths) - _PATHS_PER_REASON} more (--json names all)")


def _short(revision: str | None) -> str:
    """A revision with ten digits of its commit, and with its mark for local changes."""
    return re.sub(r"^([0-9a-f]{10})[0-9a-f]{30}", r"\1", revision or "")


def _age(hours: float) -> str:
    if hours < 2:
        minutes = round(hours * 60)
        return f"{minutes} minute{'' if minutes == 1 else 's'}"
    return f"{hours:.0f} hours" if hours < 48 else f"{hours / 24:.0f} days"
