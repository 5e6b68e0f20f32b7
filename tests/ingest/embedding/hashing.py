"""A tiny deterministic embedder for tests: words hashed into a few dimensions, nothing learnt."""

import hashlib
import re
from collections.abc import Callable, Sequence

import numpy as np

from ingest.embedding.late_interaction import Vectors
from ingest.errors import EmbedderError


class HashingEmbedder:
    """Texts that share words lie near each other. Remembers what it was given."""

    name = "hashing"
    dimensions = 384

    def __init__(self, version: str = "1") -> None:
        self.fingerprint = f"hashing-{version}"
        self.texts: list[str] = []
        self.refuses: str | None = None

    def embed(self, texts: Sequence[str], progress: Callable[[int], None] | None = None) -> Vectors:
        if self.refuses and any(self.refuses in text for text in texts):
            raise EmbedderError("The embedder refuses this text")
        self.texts.extend(texts)
        if progress:
            progress(len(texts))
        return np.stack([self._vector(text) for text in texts])

    def fits(self, text: str) -> bool:
        return len(text) < 2_000

    def _vector(self, text: str) -> Vectors:
        vector = np.full(self.dimensions, 0.01, dtype=np.float32)
        for word in re.findall(r"[a-z0-9]+|\w", text.lower()):
            digest = hashlib.sha256(f"{self.fingerprint} {word}".encode()).digest()
            vector[int.from_bytes(digest[:4]) % self.dimensions] += 1.0
        unit: Vectors = vector / np.linalg.norm(vector)
        return unit
