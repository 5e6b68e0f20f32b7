"""The docs repo -> a checkout: which files there are at which revision, and their bytes.

A git address is read at the newest commit of its branch; a local folder as its files lie.
"""

import re
from collections.abc import Callable
from pathlib import Path

from ingest.errors import DocsRepoError, SettingsError
from ingest.repo.checkout import Checkout, File
from ingest.repo.clone import newest_commit
from ingest.repo.commit import CommitCheckout
from ingest.repo.folder import FolderCheckout
from ingest.repo.git import Git, Remote
from ingest.settings import IndexSettings

__all__ = ["Checkout", "File", "open_checkout"]


def open_checkout(
    settings: IndexSettings,
    *,
    progress: Callable[[int, int | None], None] | None = None,
) -> Checkout:
    """The docs as they are now."""
    place = _locate(settings)
    if progress:
        progress(0, None)
    if isinstance(place, Path):
        return FolderCheckout(place, settings)
    return CommitCheckout(place, settings)


def probe_docs_repo(settings: IndexSettings) -> str:
    """What can be said of the configured docs repo without reading it. Raises DocsRepoError."""
    place = _locate(settings)
    if isinstance(place, Path):
        with FolderCheckout(place, settings) as checkout:
            return "; ".join((f"{place}, {len(checkout.files)} files", *checkout.warnings))
    git = Git(Path.cwd(), min(settings.git_timeout, 30.0), place)
    branch, commit = newest_commit(git, settings.docs_branch)
    return f"{place.url}, branch {branch} at {commit[:10]}"


def _locate(settings: IndexSettings) -> Path | Remote:
    address = settings.docs_repo
    if not address:
        raise SettingsError("FOOTNOTE_DOCS_REPO is not set. Give it a git address or a folder.")
    folder = Path(address).expanduser()
    if folder.is_dir():
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():  # a bare repository
            return Remote(folder.resolve().as_uri())
        return folder
    if not re.search(r"^[\w.+-]+:|@", address):
        what = "a file, not a folder" if folder.is_file() else "neither a folder nor a git address"
        raise DocsRepoError(
            f"{address} is {what}. Give a folder or a git address, in FOOTNOTE_DOCS_REPO or as the"
            " SOURCE of `footnote ingest`.",
            "not_a_folder",
        )
    token = settings.docs_token.get_secret_value() if settings.docs_token else None
    return Remote.parse(address, token)
