"""Routes of the page: the whole page, what changed in it, documents, and static files."""

from collections.abc import Callable

from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from bot.sandbox.page.docs_page import docs_page
from bot.sandbox.page.workspace_page import look_of, parts, version, whole_page
from bot.sandbox.webapi.slack import Slack

DocumentText = Callable[[str], str | None]
"""Returns the text of the document at a path, or None."""


def routes(slack: Slack, read_document: DocumentText | None) -> list[BaseRoute]:
    async def whole(request: Request) -> Response:
        return HTMLResponse(whole_page(slack, look_of(slack, dict(request.query_params))))

    async def changes(request: Request) -> Response:
        newest = version(slack)
        if request.query_params.get("since") == newest:
            return Response(status_code=204)
        look = look_of(slack, dict(request.query_params))
        return JSONResponse({"version": newest, "parts": parts(slack, look)})

    async def document(request: Request) -> Response:
        path = request.path_params["path"]
        text = read_document(path) if read_document else None
        page = docs_page(path, text, request.query_params.get("lines", ""))
        return HTMLResponse(page, 404 if text is None else 200)

    return [
        Route("/", whole),
        Route("/page", changes),
        Route("/docs/{path:path}", document),
        Mount("/static", StaticFiles(packages=[(__package__, "static")])),
    ]
