"""Texts -> unit vectors of whole texts and of their tokens, by an ONNX model with its tokenizer.

``ingest.embedding.embedder`` chooses and finds the model.
"""

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

import numpy as np
import numpy.typing as npt
import onnxruntime
from tokenizers import Encoding, Tokenizer

from ingest.embedding.late_interaction import Vectors, meaningful
from ingest.errors import EmbedderError

Pooling = Literal["mean", "cls"]


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
        for batch, of_batch, _tokens in self._in_batches(texts, progress):
            vectors[batch] = of_batch
        return vectors

    def embed_tokens(
        self, texts: Sequence[str], progress: Callable[[int], None] | None = None
    ) -> tuple[Vectors, list[Vectors]]:
        vectors = np.zeros((len(texts), self.dimensions), np.float32)
        tokens = [vectors[:0]] * len(texts)
        for batch, of_batch, of_tokens in self._in_batches(texts, progress):
            vectors[batch] = of_batch
            for number, of_text in zip(batch, of_tokens, strict=True):
                tokens[number] = of_text
        return vectors, tokens

    def _in_batches(
        self, texts: Sequence[str], progress: Callable[[int], None] | None
    ) -> Iterator[tuple[list[int], Vectors, list[Vectors]]]:
        """Yield positions of texts, their vectors, and the vectors of their tokens."""
        # Texts of similar length share a batch, which saves computing on padding.
        order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
        batches = [order[at : at + self.batch] for at in range(0, len(order), self.batch)]
        # A query must not wait behind the thousands of batches of an ingest.
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
        # A lone surrogate, which broken JSON can contain, is an error for the tokenizer.
        return self.tokenizer.encode(text.encode("utf-8", "replace").decode())

    def _run(self, texts: Sequence[str]) -> tuple[Vectors, list[Vectors]]:
        encodings = [self._encode(text) for text in texts]
        output, mask = self._output(encodings)
        vectors = _unit(_pooled(output, mask, self.pooling))
        if output.ndim == 2:  # the graph pools by itself and returns no token vectors
            return vectors, [vectors[:0]] * len(texts)
        return vectors, [
            _unit(rows[[i for i in meaningful(e.tokens) if not e.special_tokens_mask[i]]])
            for e, rows in zip(encodings, output, strict=True)
        ]

    def _output(self, encodings: Sequence[Encoding]) -> tuple[Vectors, npt.NDArray[np.int64]]:
        shape = (len(encodings), max(len(encoding.ids) for encoding in encodings))
        ids = np.full(shape, self.pad_id, np.int64)
        mask = np.zeros(shape, np.int64)
        for row, encoding in enumerate(encodings):
            ids[row, : len(encoding.ids)] = encoding.ids
            mask[row, : len(encoding.ids)] = 1
        inputs = {"input_ids": ids, "attention_mask": mask, "token_type_ids": np.zeros_like(ids)}
        try:
            expected = {node.name: inputs[node.name] for node in self.session.get_inputs()}
            output: Vectors = self.session.run(None, expected)[0]
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


def load_model(
    name: str,
    model: Path,
    tokenizer_file: Path,
    max_tokens: int,
    pooling: Pooling,
    batch: int,
    threads: int,
) -> OnnxEmbedder:
    """Load a model with its tokenizer. Raises EmbedderError. ``threads`` of 0: one per core."""
    threads = threads or min(os.cpu_count() or 1, 8)
    options = onnxruntime.SessionOptions()
    # One thread per run and several runs at once: with short texts twice as fast as the reverse.
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
    parts = (read_hash(model), read_hash(tokenizer_file), str(max_tokens), pooling)
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


def read_hash(file: Path) -> str:
    """Return the SHA-256 of a file. Raises EmbedderError."""
    try:
        with file.open("rb") as content:
            return hashlib.file_digest(content, "sha256").hexdigest()
    except OSError as error:
        raise EmbedderError(f"{file} cannot be read: {error.strerror}.") from error
