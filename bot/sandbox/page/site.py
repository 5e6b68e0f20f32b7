"""Routes of the page: the whole, what changed since, the docs, and the two files it needs."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.sandbox.events.sockets import SocketMode
from bot.sandbox.page import workspace_page as page
from bot.sandbox.page.docs_page import docs_page
from bot.sandbox.page.modal_page import modal
from bot.sandbox.page.safe_html import Child, Html, el
from bot.sandbox.page.workspace_page import Look
from bot.sandbox.webapi.slack import Slack

Docs = Callable[[str], str | None]


def routes(slack: Slack, docs: Docs | None) -> list[BaseRoute]:
    async def whole(request: Request) -> Response:
        return HTMLResponse(_page(slack, page.look_of(slack, dict(request.query_params))))

    async def parts(request: Request) -> Response:
        version = _version(slack)
        if request.query_params.get("since") == version:
            return Response(status_code=204)
        look = page.look_of(slack, dict(request.query_params))
        return JSONResponse({"version": version, "parts": _parts(slack, look)})

    async def document(request: Request) -> Response:
        path = request.path_params["path"]
        text = docs(path) if docs else None
        if text is None:
            missing = el("main", el("h1", path), el("p", "There is no such page."), cls="docs")
            return HTMLResponse(_document(path, missing), 404)
        body = docs_page(path, text, request.query_params.get("lines", ""))
        return HTMLResponse(_document(path, body, script="docs.js"))

    return [
        Route("/", whole),
        Route("/page", parts),
        Route("/docs/{path:path}", document),
        Mount("/static", StaticFiles(packages=[(__package__, "static")])),
    ]


def _version(slack: Slack) -> str:
    space = slack.workspace
    live = sum(bool(space.status(*key)) for key in space.statuses)
    return f"{space.version}.{_connections(slack)}.{live}"


def _connections(slack: Slack) -> int:
    transport = slack.delivery.transport
    return len(transport.connections) if isinstance(transport, SocketMode) else 1


def _parts(slack: Slack, look: Look) -> dict[str, str]:
    return {
        "sidebar": page.sidebar(slack, look),
        "title": page.main_title(slack, look),
        "main": page.main(slack, look),
        "thread": page.thread(slack, look),
        "overlay": modal(slack, look),
        "presence": _presence(slack),
    }


def _presence(slack: Slack) -> Html:
    ready = _connections(slack) > 0
    text = "is connected" if ready else "is not connected yet"
    return el("span", f"{slack.workspace.bot.name} {text}", cls="on" if ready else "off")


def _page(slack: Slack, look: Look) -> Html:
    parts = {key: Html(value) for key, value in _parts(slack, look).items()}
    home = look.channel == page.HOME
    people = [
        el("option", str(slack.workspace.users[one]["real_name"]),
           value=look.address(user=one, thread=""), selected=one == look.user)
        for one in page.speakers(slack)
    ]  # fmt: skip
    body = [
        el(
            "nav",
            el(
                "header",
                el("b", str(slack.workspace.team["name"])),
                el("p", parts["presence"], id="presence"),
            ),
            el("div", parts["sidebar"], id="sidebar"),
            el("footer", el("label", "You speak as", el("select", people, id="speaker"))),
        ),
        el(
            "main",
            el("header", parts["title"], id="title"),
            el("div", parts["main"], id="main", cls="scroll", tabindex="0"),
            None if home else _composer(slack, look, ""),
        ),
        el(
            "aside",
            el(
                "header",
                el("h1", "Thread"),
                el("a", "✕", href=look.address(thread=""), title="Close the thread"),
            ),
            el("div", parts["thread"], id="thread", cls="scroll", tabindex="0"),
            _composer(slack, look, look.thread),
        ) if look.thread else None,
        el("div", parts["overlay"], id="overlay"),
        el("p", id="notice", role="alert"),
    ]  # fmt: skip
    where = f"{look.channel} {look.thread}".strip()
    layout = "workspace with-thread" if look.thread else "workspace"
    return _document(
        str(slack.workspace.team["name"]),
        el("div", body, cls=layout, id="workspace", data_where=where, data_version=_version(slack)),
        script="sandbox.js",
    )


def _composer(slack: Slack, look: Look, thread_ts: str) -> Html:
    bot = slack.workspace.bot.name
    channel = slack.workspace.channel(look.channel)
    place = bot if channel["is_im"] else f"#{channel['name']}"
    hint = "Reply…" if thread_ts else f"Message {place}"
    return el(
        "form",
        el("textarea", placeholder=hint, rows="1", name="text", aria_label=hint),
        el(
            "div",
            el("button", f"@{bot}", type_="button", cls="quiet", data_do="mention",
               data_text=f"@{bot} "),
            el("span", "Enter sends, Shift+Enter breaks the line", cls="quiet hint"),
            el("button", "Send", type_="submit", cls="button primary"),
        ),
        cls="composer",
        data_channel=look.channel,
        data_user=look.user,
        data_thread=thread_ts or None,
    )  # fmt: skip


def _document(title: str, body: Child, script: str | None = None) -> Html:
    head = [
        el("meta", charset="utf-8"),
        el("meta", name="viewport", content="width=device-width, initial-scale=1"),
        el("title", title),
        el("link", rel="icon", href="/static/icon.svg"),
        el("link", rel="stylesheet", href="/static/sandbox.css"),
        el("script", src=f"/static/{script}", defer=True) if script else None,
    ]
    html = el("html", el("head", head), el("body", body), lang="en")
    return Html("<!doctype html>" + html)
