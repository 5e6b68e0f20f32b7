"""Lines of a document at a revision -> the address that opens them on its code host."""

import posixpath
import re
from urllib.parse import quote, unquote, urlsplit

from ingest.documents import Revision

# Code hosts render these files, and show their lines only with an option for the source.
_RENDERED = (".md", ".markdown", ".mdx", ".rst", ".ipynb")

PLACEHOLDERS = ("commit", "path", "page", "first", "last")
"""Names that a template may contain in braces."""

# Names of hosts that accept ssh on the https port.
_WEB_HOSTS = {
    "ssh.github.com": "github.com",
    "altssh.gitlab.com": "gitlab.com",
    "altssh.bitbucket.org": "bitbucket.org",
}


def permalink(
    revision: Revision, docs_root: str, path: str, lines: tuple[int, int], template: str | None
) -> str | None:
    """Return the address of ``lines`` of ``path`` as indexed, or None if no host shows them.

    A template may contain ``{commit}``, ``{path}`` (from the top of the repo), ``{page}`` (from the
    docs root), ``{first}`` and ``{last}``.
    """
    # A file that a page includes may lie above the docs root.
    from_top = quote(posixpath.normpath(f"{docs_root.strip('/')}/{path}".lstrip("/")))
    # No commit shows files that were edited in a local folder.
    commit = None if revision.dirty else revision.commit
    if template:
        return _filled(template, commit, path=from_top, page=_page(path), lines=lines)
    if commit is None or revision.remote is None:
        return None
    return _at_host(revision.remote, commit, from_top, lines)


def _page(path: str) -> str:
    """Quote a path from the docs root; a browser would resolve ``../`` itself."""
    below = path
    while below.startswith("../"):
        below = below.removeprefix("../")
    return quote(path.removesuffix(below), safe="") + quote(below)


def _filled(
    template: str, commit: str | None, path: str, page: str, lines: tuple[int, int]
) -> str | None:
    if commit is None and "{commit}" in template:
        return None
    first, last = lines
    values = dict(zip(PLACEHOLDERS, (commit, path, page, first, last), strict=True))
    return re.sub(r"\{(\w+)\}", lambda name: str(values.get(name[1], name[0])), template)


def _at_host(remote: str, commit: str, path: str, lines: tuple[int, int]) -> str | None:
    address = _web_address(remote)
    if address is None:
        return None
    host, repo = address
    site = f"https://{host}"
    first, last = lines
    rendered = path.lower().endswith(_RENDERED)
    match _kind(host, repo):
        case "github":
            plain = "?plain=1" if rendered else ""
            return f"{site}/{repo}/blob/{commit}/{path}{plain}#L{first}-L{last}"
        case "gitlab":
            plain = "?plain=1" if rendered else ""
            return f"{site}/{repo}/-/blob/{commit}/{path}{plain}#L{first}-{last}"
        case "gitea":
            source = "?display=source" if rendered else ""
            return f"{site}/{repo}/src/commit/{commit}/{path}{source}#L{first}-L{last}"
        case "bitbucket cloud":
            return f"{site}/{repo}/src/{commit}/{path}#lines-{first}:{last}"
        case "bitbucket server":
            project, _, name = repo.removeprefix("scm/").partition("/")
            browse = f"{site}/projects/{project}/repos/{name}/browse"
            return f"{browse}/{path}?at={commit}#{first}-{last}"
    return None


def _web_address(remote: str) -> tuple[str, str] | None:
    """Host (with port) and quoted path of the repo's web page."""
    if short := re.fullmatch(r"(?:[\w.-]+@)?([\w.-]+):(?!//)(.+)", remote):
        host, repo = short[1], short[2]
    else:
        parts = urlsplit(remote)
        if parts.scheme not in ("https", "ssh") or not parts.hostname:
            return None
        host, repo = parts.hostname, unquote(parts.path)
        # An ssh port is not the port of the web site.
        if parts.scheme == "https" and parts.port:
            host = f"{host}:{parts.port}"
    repo = repo.strip("/").removesuffix(".git")
    return (_WEB_HOSTS.get(host.lower(), host.lower()), quote(repo)) if "/" in repo else None


def _kind(host: str, repo: str) -> str | None:
    """Guess the software of a code host from its name."""
    if host == "bitbucket.org":
        return "bitbucket cloud"
    for word, kind in (
        ("github", "github"),
        ("gitlab", "gitlab"),
        ("bitbucket", "bitbucket server"),
        ("gitea", "gitea"),
        ("forgejo", "gitea"),
        ("codeberg", "gitea"),
    ):
        if word in host:
            return kind
    # Only GitLab has groups inside groups.
    return "gitlab" if repo.count("/") > 1 else None
