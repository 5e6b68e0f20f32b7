"""Settings of ingest and the index, read from the environment and ``.env``."""

from pathlib import Path
from typing import Annotated

from pydantic import Field, SecretStr, field_validator
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict


class IndexSettings(BaseSettings):
    """Where the docs come from, where the index lies, and how it is built."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )

    docs_repo: str | None = None
    """Git address (https, ssh or file) or a local folder."""
    docs_branch: str | None = None
    """None follows the remote's default branch."""
    docs_root: str = ""
    """Folder inside the repo that holds the docs."""
    docs_include: Annotated[tuple[str, ...], NoDecode] = ()
    """Globs relative to the docs root; empty means every file."""
    docs_exclude: Annotated[tuple[str, ...], NoDecode] = ()
    docs_token: SecretStr | None = None
    """Access token for a private https repo."""
    link_template: str | None = None
    """Permalink with ``{commit}``, ``{path}``, ``{first}``, ``{last}``; None: by the remote."""
    data_dir: Path = Path(".footnote")
    git_timeout: float = Field(default=300.0, gt=0)
    """Seconds one git command may take."""
    max_file_bytes: int = Field(default=20_000_000, gt=0)
    max_deleted_share: float = Field(default=0.5, gt=0, le=1)
    """A run that would delete a larger share of the pages stops and asks."""
    ingest_at: str = "03:00"
    """Time of day (``HH:MM``) or a five-field cron expression."""
    timezone: str = "UTC"
    stale_after_hours: float = Field(default=36.0, gt=0)
    embedder: str = "builtin"
    """``builtin``, or a folder with an ONNX sentence-embedding model and its tokenizer."""
    embedder_int8: bool = True
    """Rebuild the built-in model once as an int8 graph: about twice the speed."""
    embedder_threads: int = Field(default=0, ge=0)
    """0 lets onnxruntime choose."""
    chroma_host: str | None = Field(default=None, validation_alias="CHROMA_HOST")
    chroma_port: int = Field(default=8000, validation_alias="CHROMA_PORT")

    @field_validator("docs_include", "docs_exclude", mode="before")
    @classmethod
    def _split(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(part.strip() for part in value.split(",") if part.strip())
        return value
