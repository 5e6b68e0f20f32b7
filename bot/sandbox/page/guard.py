"""The sandbox serves programs on this machine and its own page, and refuses other web pages.

A page on the open web can make a browser post to loopback; such a request names another origin. A
foreign name that resolves to 127.0.0.1 (DNS rebinding) shows in the Host header.
"""

from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_NAMES = {"127.0.0.1", "localhost", "::1"}
HEADERS = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
}


class Guard:
    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        headers = Headers(scope=scope)
        host, origin = headers.get("host", ""), headers.get("origin")
        if not _is_own(f"//{host}") or (origin and urlsplit(origin).netloc != host):
            response = PlainTextResponse("This workspace serves only this machine.", 403)
            await response(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                pairs = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *pairs]
            await send(message)

        await self._app(scope, receive, with_headers)


def _is_own(address: str) -> bool:
    try:
        return urlsplit(address).hostname in OWN_NAMES
    except ValueError:
        return False
