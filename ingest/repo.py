"""The docs repo -> a checkout: which files there are at which revision, and their bytes.

A git address is read at the newest commit of its branch; a local folder as its files lie.
"""

import re
from collections.abc import Callable
from pathlib import Path

from ingest.checkout import Checkout, File
from ingest.commit import CommitCheckout
from ingest.errors import DocsRepoError, SettingsError
from ingest.folder import FolderCheckout
from ingest.git import Remote
from ingest.settings import IndexSettings

__all__ = ["Checkout", "File", "open_checkout"]


def open_checkout(
    settings: IndexSettings,
    *,
    source: str | None = None,
    progress: Callable[[int, int | None], None] | None = None,
) -> Checkout:
    """The docs as they are now. ``source`` takes the place of the configured docs repo."""
    address = (source or settings.docs_repo or "").strip()
    if not address:
        raise SettingsError("FOOTNOTE_DOCS_REPO is not set. Give it a git address or a folder.")
    if progress:
        progress(0, None)
    folder = Path(address).expanduser()
    if folder.is_dir():
        if (folder / "HEAD").is_file() and (folder / "objects").is_dir():  # a bare repository
            return CommitCheckout(Remote(folder.resolve().as_uri()), settings)
        return FolderCheckout(folder, settings)
    if not re.search(r"^[\w.+-]+:|@", address):
        raise DocsRepoError(
            f"{address} is neither a folder nor a git address. Check FOOTNOTE_DOCS_REPO.",
            "not_a_folder",
        )
    token = settings.docs_token.get_secret_value() if settings.docs_token else None
    return CommitCheckout(Remote.parse(address, token), settings)
