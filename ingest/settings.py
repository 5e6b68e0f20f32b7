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


class EnvironmentSettings(BaseSettings):
    """What the settings of all three packages have in common: where they are read from."""

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
    unknown = set(re.findall(r"\{[^{}]*\}?|\}", template)) - {
        f"{{{name}}}" for name in PLACEHOLDERS
    }
    if unknown:
        known = ", ".join(f"{{{name}}}" for name in PLACEHOLDERS)
        raise ValueError(f"{min(unknown)} cannot be filled in; there are {known}")
    return _http(template)


def _http(value: str) -> str:
    parts = urlsplit(value)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.port == 0:
        raise ValueError(f"{value!r} is no address such as https://example.com")
    return value


HttpAddress = Annotated[str, AfterValidator(_http)]
"""Where a service is reached."""


def read_settings(kind: type[Settings], **overrides: Any) -> Settings:
    """Read one package's settings; ``overrides`` that are None leave the environment's value.

    Raises SettingsError, which names each variable that is wrong and what it may be.
    """
    _check_env_file(Path(str(kind.model_config.get("env_file"))))
    given = {name: value for name, value in overrides.items() if value is not None}
    try:
        return kind(**given)
    except ValidationError as error:
        faults = [
            f"{_variable(kind, str(fault['loc'][0]))}: {fault['msg'].removeprefix('Value error, ')}"
            for fault in error.errors()
        ]
        raise SettingsError(
            f"{'; '.join(faults)}. Mend it in the environment or in .env (see .env.example)."
        ) from None
    except UnicodeDecodeError:
        raise SettingsError(".env is not UTF-8 text. Save it as UTF-8.") from None
    except OSError as error:
        raise SettingsError(f".env cannot be read ({error.strerror}): let it be read.") from None


def _check_env_file(path: Path) -> None:
    """A line that would be left out in silence is a mistake."""
    if not path.is_file():
        return
    try:
        with path.open(encoding="utf-8") as file:
            faulty = [binding.original.line for binding in parse_stream(file) if binding.error]
    except (OSError, UnicodeDecodeError):
        return  # told where its values are read
    if faulty:
        raise SettingsError(
            f"{path}, line {faulty[0]}: cannot be read. Write NAME=value, with a quote at both "
            "ends of the value or at none."
        )


def _variable(kind: type[EnvironmentSettings], location: str) -> str:
    """The environment variable behind a field, since that is what a person can change."""
    field = kind.model_fields.get(location)
    if field is None or field.validation_alias is not None:
        return str(field.validation_alias) if field else location
    return f"{kind.model_config.get('env_prefix', '')}{location}".upper()


class IndexSettings(EnvironmentSettings):
    """Where the docs come from, where the index lies, and how it is built."""

    docs_repo: str | None = None
    """Git address (https, ssh or file) or a local folder."""
    docs_branch: str | None = None
    """None follows the remote's default branch."""
    docs_root: str = ""
    """Folder inside the repo that holds the docs."""
    docs_include: Globs = ()
    """Globs relative to the docs root; empty means every file."""
    docs_exclude: Globs = ()
    docs_token: SecretStr | None = None
    """Access token for a private https repo."""
    link_template: Annotated[str, AfterValidator(_link_template)] | None = None
    """Permalink with ``{commit}``, ``{path}``, ``{first}``, ``{last}``; None: by the remote."""
    data_dir: Path = Path(".footnote")
    config: Path | None = None
    """File with collections and channels; None: ``footnote.toml`` where there is one."""
    git_timeout: float = Field(default=300.0, gt=0)
    """Seconds one git command may take."""
    max_file_bytes: int = Field(default=20_000_000, gt=0)
    max_deleted_share: float = Field(default=0.5, gt=0, le=1)
    """A run that would delete a larger share of the pages stops and asks."""
    self_test_drop: float = Field(default=0.1, ge=0, le=1)
    """The docs' own questions may lose this share of hits before it is reported."""
    ingest_at: str = "03:00"
    """Time of day (``HH:MM``) or a five-field cron expression."""
    timezone: str = "UTC"
    stale_after_hours: float = Field(default=36.0, gt=0)
    embedder: str = "builtin"
    """``builtin``, or a folder with an ONNX sentence-embedding model and its tokenizer."""
    embedder_int8: bool = True
    """Rebuild the built-in model once as an int8 graph: about twice the speed."""
    embedder_threads: int = Field(default=0, ge=0)
    """0: one worker a core, at most 8."""
    late_interaction: bool = True
    """Compare the leading passages of a search once more, word by word: better order."""
    chroma_host: str | None = Field(default=None, validation_alias="CHROMA_HOST")
    """Name, or address such as ``https://chroma.example.com``; None: in the data folder."""
    chroma_port: int = Field(default=8000, ge=1, le=65535, validation_alias="CHROMA_PORT")
    chroma_api_key: SecretStr | None = Field(default=None, validation_alias="CHROMA_API_KEY")
    chroma_tenant: str = Field(default="default_tenant", validation_alias="CHROMA_TENANT")
    chroma_database: str = Field(default="default_database", validation_alias="CHROMA_DATABASE")
