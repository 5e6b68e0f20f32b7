"""The docs repo -> a checkout of it, whether it is a git remote or a local folder.

A git address is read at the newest commit of its branch, or at a tag or a commit, a local folder
with its files as they are.
"""

import re
from collections.abc import Callable
from pathlib import Path

from ingest.errors import DocsRepoError, SettingsError
from ingest.repo.checkout import Checkout, File
from ingest.repo.commit import CommitCheckout
from ingest.repo.folder import FolderCheckout
from ingest.repo.git import Git
from ingest.repo.git_address import Remote
from ingest.repo.tip import newest_commit
from ingest.sources import DocsSource

__all__ = ["Checkout", "File", "open_checkout"]


def open_checkout(
    source: DocsSource,
    data_dir: Path,
    *,
    progress: Callable[[int, int | None], None] | None = None,
) -> Checkout:
    """Open the docs at their present state. Raises DocsRepoError and SettingsError.

    ``data_dir`` holds the clone of a git remote and the dates of files between runs.
    """
    place = _locate(source)
    if progress:
        progress(0, None)
    if isinstance(place, Path):
        return FolderCheckout(place, source, data_dir)
    # Git works in the folder of the clone, where a relative path would mean another place.
    return CommitCheckout(place, source, data_dir.resolve())


def probe_docs_repo(source: DocsSource, data_dir: Path) -> str:
    """Return a line about the docs repo without reading its documents. Raises DocsRepoError."""
    place = _locate(source)
    if isinstance(place, Path):
        with FolderCheckout(place, source, data_dir) as checkout:
            return "; ".join((f"{place}, {len(checkout.files)} files", *checkout.warnings))
    git = Git(Path.cwd(), min(source.git_timeout, 30.0), place, fresh=True)
    tip = newest_commit(git, source.branch, data_dir / "clone")
    return f"{place.url}, {tip.label} at {tip.commit[:10]}"


def _locate(source: DocsSource) -> Path | Remote:
    address = source.address
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
    token = source.token.get_secret_value() if source.token else None
    return Remote.parse(address, token)
