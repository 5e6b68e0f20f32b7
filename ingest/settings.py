"""Settings of ingest and the index, read from the environment and ``.env``."""

import re
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import urlsplit

from dotenv.parser import parse_stream
from pydantic import AfterValidator, BeforeValidator, Field, SecretStr, ValidationError
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from ingest.errors import SettingsError
from ingest.globs import checked_glob
from ingest.permalinks import PLACEHOLDERS
from ingest.sources import ChromaServer, DocsSource, EmbedderSource


class EnvironmentSettings(BaseSettings):
    """Base of the settings of all packages: they are read from the environment and ``.env``."""

    model_config = SettingsConfigDict(
        env_prefix="FOOTNOTE_",
        env_file=".env",
        env_ignore_empty=True,
        extra="ignore",
        frozen=True,
        populate_by_name=True,
    )


Settings = TypeVar("Settings", bound=EnvironmentSettings)


def _parts(value: object) -> object:
    if isinstance(value, str):
        return tuple(part.strip() for part in value.split(",") if part.strip())
    return value


Listed = Annotated[tuple[str, ...], NoDecode, BeforeValidator(_parts)]
"""Several values in one variable, separated by commas."""

Globs = Annotated[Listed, AfterValidator(lambda globs: tuple(map(checked_glob, globs)))]


def _link_template(template: str) -> str:
    placeholders = [f"{{{name}}}" for name in PLACEHOLDERS]
    unknown = set(re.findall(r"\{[^{}]*\}?|\}", template)).difference(placeholders)
    if unknown:
        raise ValueError(f"{min(unknown)} is not a placeholder; use {', '.join(placeholders)}")
    return _http(template)


def _http(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"{value!r} is not an address such as https://example.com")
    return value


HttpAddress = Annotated[str, AfterValidator(_http)]
"""Address of a service."""


def read_settings(kind: type[Settings], **overrides: Any) -> Settings:
    """Read the settings of one package. An override of None keeps the environment's value.

    Raises SettingsError, which names each wrong variable and its cure.
    """
    _check_env_file(Path(str(kind.model_config.get("env_file"))))
    values = {name: value for name, value in overrides.items() if value is not None}
    try:
        return kind(**values)
    except ValidationError as error:
        faults = [
            f"{_variable(kind, str(fault['loc'][0]))}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        ]
        raise SettingsError(
            f"{'; '.join(faults)}. Correct it in the environment or in .env (see .env.example)."
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(".env is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(
            f".env cannot be read ({error.strerror}): correct its permissions."
        ) from None


def _check_env_file(path: Path) -> None:
    """Raise SettingsError for a malformed line, which would be ignored silently."""
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8") as file:
            faulty = [binding.original.line for binding in parse_stream(file) if binding.error]
    except (OSError, UnicodeDecodeError):
        return  # reported when the values are read
    if faulty:
        raise SettingsError(
            f"{path}, line {faulty[0]}: cannot be read. Write NAME=value, with quotes at both "
            "ends of the value or at neither."
        )


def _variable(kind: type[EnvironmentSettings], location: str) -> str:
    """Name of the environment variable of a field."""
    field = kind.model_fields.get(location)
    if field is None or field.validation_alias is not None:
        return str(field.validation_alias) if field else location
    return f"{kind.model_config.get('env_prefix', '')}{location}".upper()


class IndexSettings(EnvironmentSettings):
    """Settings of the docs repo, the index and the ingest."""

    docs_repo: str | None = None
    """Git address (https, ssh or file) or a local folder."""
    docs_branch: str | None = None
    """Branch, tag or commit; None means the remote's default branch."""
    docs_root: str = ""
    """Folder inside the repo that holds the docs."""
    docs_include: Globs = ()
    """Globs relative to the docs root; empty means every file."""
    docs_exclude: Globs = ()
    docs_token: SecretStr | None = None
    """Access token for a private https repo."""
    link_template: Annotated[str, AfterValidator(_link_template)] | None = None
    """Template of permalinks, see ``ingest.permalinks``; None: the form of the code host."""
    data_dir: Path = Path(".footnote")
    config: Path | None = None
    """File with collections and channels; None: ``footnote.toml``, if it exists."""
    git_timeout: float = Field(default=300.0, gt=0)
    """Seconds that one git command may take."""
    max_file_bytes: int = Field(default=20_000_000, gt=0)
    max_deleted_share: float = Field(default=0.5, gt=0, le=1)
    """A run that would delete a larger share of the documents needs a confirmation."""
    self_test_drop: float = Field(default=0.1, ge=0, le=1)
    """A larger drop in the share of self-test hits is reported."""
    ingest_at: str = "03:00"
    """Time of day (``HH:MM``) or a five-field cron expression."""
    timezone: str = "UTC"
    stale_after_hours: float = Field(default=36.0, gt=0)
    embedder: str = "builtin"
    """``builtin``, or a folder with an ONNX sentence-embedding model and its tokenizer."""
    embedder_int8: bool = True
    """Build an int8 graph of the built-in model once: about twice as fast."""
    embedder_threads: int = Field(default=0, ge=0)
    """0: one worker per core, at most 8."""
    late_interaction: bool = True
    """Compare the leading passages of a search again, word by word, for a better order."""
    chroma_host: str | None = Field(default=None, validation_alias="CHROMA_HOST")
    """Host name, or an address such as ``https://chroma.example.com``; None: the data folder."""
    chroma_port: int = Field(default=8000, ge=1, le=65535, validation_alias="CHROMA_PORT")
    chroma_api_key: SecretStr | None = Field(default=None, validation_alias="CHROMA_API_KEY")
    chroma_tenant: str = Field(default="default_tenant", validation_alias="CHROMA_TENANT")
    chroma_database: str = Field(default="default_database", validation_alias="CHROMA_DATABASE")

    @property
    def docs_source(self) -> DocsSource:
        """The docs repo and the part of it that is indexed."""
        return DocsSource(
            address=self.docs_repo,
            branch=self.docs_branch,
            root=self.docs_root,
            include=self.docs_include,
            exclude=self.docs_exclude,
            token=self.docs_token,
            git_timeout=self.git_timeout,
            max_file_bytes=self.max_file_bytes,
        )

    @property
    def chroma_server(self) -> ChromaServer | None:
        """The Chroma server, or None when the vectors are in the data folder."""
        if self.chroma_host is None:
            return None
        return ChromaServer(
            host=self.chroma_host,
            port=self.chroma_port,
            tenant=self.chroma_tenant,
            database=self.chroma_database,
            key=self.chroma_api_key,
        )

    @property
    def embedder_source(self) -> EmbedderSource:
        """The embedding model."""
        return EmbedderSource(
            model=self.embedder,
            cache=self.data_dir / "embedder",
            int8=self.embedder_int8,
            threads=self.embedder_threads,
        )
