"""A git address as people write it -> its parts: the address to show, and the credentials."""

import re
from dataclasses import dataclass
from urllib.parse import quote, unquote, urlsplit, urlunsplit

from ingest.errors import DocsRepoError

_TOKEN_LENGTH = 20


@dataclass(frozen=True)
class Remote:
    """A git address, and apart from it the credentials."""

    url: str
    """Address without password: shown, stored and passed to git."""
    username: str | None = None
    token: str | None = None

    @staticmethod
    def parse(address: str, token: str | None = None) -> "Remote":
        """Split an address into address and credentials. Raises DocsRepoError."""
        if re.match(r"[\w.-]+@[\w.-]+:(?!//)", address):  # git@host:group/repo.git
            return Remote(address)
        # Text before an @ may be a secret, even in an address that makes no sense otherwise.
        refused = DocsRepoError(
            f"{address.rpartition('@')[2]!r} is not an address footnote reads from. "
            "Use https://…, ssh://…, user@host:path, file://… or a folder that exists.",
            "transport_refused",
        )
        try:
            parts = urlsplit(address)
            _ = parts.port  # raises ValueError for a malformed port
        except ValueError:
            raise refused from None
        if parts.scheme not in ("https", "ssh", "file") or not address.isprintable():
            raise refused
        host = parts.netloc.rpartition("@")[2]
        if host.startswith("-"):
            raise DocsRepoError(f"{host} is not a host name.", "transport_refused")
        username = unquote(parts.username) if parts.username else None
        # The user of an ssh address names the account and is not a secret.
        login = f"{quote(username)}@" if username and parts.scheme == "ssh" else ""
        url = urlunsplit((parts.scheme, login + host, parts.path, "", ""))
        if parts.scheme != "https":
            return Remote(url)
        secret = token or (unquote(parts.password) if parts.password else None)
        if username and not secret and len(username) >= _TOKEN_LENGTH:
            username, secret = None, username  # some people write https://TOKEN@host/…
        if secret and not username:
            username = "x-token-auth" if host == "bitbucket.org" else "x-access-token"
        return Remote(url, username, secret.strip() if secret else None)


def without_password(text: str) -> str:
    """Remove user and password from the addresses in a text for people."""
    return re.sub(r"(?<!\w)(\w++://)[^/\s@]++@", r"\1", text)
