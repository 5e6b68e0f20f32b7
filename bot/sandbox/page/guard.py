"""The sandbox serves programs on this machine and its own page, and refuses other web pages.

A page on the open web can make a browser send any request to loopback: a form posts, an image gets.
The browser says in its headers where such a request comes from, and no page can change them;
programs send none of these headers. A foreign name that resolves to 127.0.0.1 (DNS rebinding) shows
in the Host header.
"""

import re
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

OWN_NAMES = {"127.0.0.1", "localhost", "::1"}
_OPENED = re.compile(r"/|/docs/.*", re.DOTALL)
"""Paths of the pages that a person opens by their address; to get them changes nothing."""
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
        if not _is_from_here(Headers(scope=scope), str(scope["path"])):
            response = PlainTextResponse("This workspace serves only this machine.", 403)
            await response(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                pairs = [(name.encode(), value.encode()) for name, value in HEADERS.items()]
                message["headers"] = [*message["headers"], *pairs]
            await send(message)

        await self._app(scope, receive, with_headers)


def _is_from_here(headers: Headers, path: str) -> bool:
    """Return True for a request of a program on this machine, or of the sandbox's own page."""
    host = headers.get("host", "")
    # An address that a person types, or clicks in a terminal or a mail, belongs to no site.
    sites = {"same-origin", "none"} if _OPENED.fullmatch(path) else {"same-origin"}
    return (
        _is_own(f"//{host}")
        and all(_names(origin, host) for origin in headers.getlist("origin"))
        and all(_names(page, host) for page in headers.getlist("referer"))
        and sites.issuperset(headers.getlist("sec-fetch-site"))
    )


def _names(address: str, host: str) -> bool:
    """Return True if an address leads to this host and port."""
    try:
        return urlsplit(address).netloc == host
    except ValueError:
        return False


def _is_own(address: str) -> bool:
    try:
        return urlsplit(address).hostname in OWN_NAMES
    except ValueError:
        return False
