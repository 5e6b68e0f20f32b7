"""The sources of the docs, the vectors and the embedding model, as small frozen values.

Settings are read where a command or the bot is put together. Everything below gets one of these
values, so that the parameters of a function show its dependencies.
"""

from dataclasses import dataclass
from pathlib import Path

from pydantic import SecretStr


@dataclass(frozen=True, slots=True)
class DocsSource:
    """The docs repo and the part of it that is indexed."""

    address: str | None
    """Git address or local folder; None while FOOTNOTE_DOCS_REPO is not set."""
    branch: str | None = None
    """Branch, tag or commit; None means the remote's default branch."""
    root: str = ""
    """Folder inside the repo that holds the docs."""
    include: tuple[str, ...] = ()
    """Globs relative to the docs root; empty means every file."""
    exclude: tuple[str, ...] = ()
    token: SecretStr | None = None
    """Access token for a private https repo."""
    git_timeout: float = 300.0
    """Seconds that one git command may take."""
    max_file_bytes: int = 20_000_000


@dataclass(frozen=True, slots=True)
class ChromaServer:
    """A Chroma server, and the values that a client sends to it."""

    host: str
    """Host name, or an address such as ``https://chroma.example.com``."""
    port: int
    tenant: str
    database: str
    key: SecretStr | None = None


@dataclass(frozen=True, slots=True)
class EmbedderSource:
    """The embedding model, and the folder in which its int8 graph is cached."""

    model: str
    """``builtin``, or a folder with an ONNX model and its tokenizer."""
    cache: Path
    """Folder for the int8 graph of the built-in model."""
    int8: bool = True
    threads: int = 0
    """0 means one worker per core, at most 8."""
