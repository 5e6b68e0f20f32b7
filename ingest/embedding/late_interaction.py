"""Late interaction: texts are compared word by word, by the vectors of their tokens.

The one vector of a text blurs its details; here every meaningful token has its own. Of a token's
vector only the signs are stored, one bit per dimension. The model computes them together with the
text's vector, so they cost nothing extra; they take about 3 kB per chunk and some milliseconds per
search.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ingest.store.terms import STOP_WORDS

Vectors = npt.NDArray[np.float32]


def meaningful(tokens: Sequence[str]) -> list[int]:
    """Return the positions of meaningful tokens: no stop words, no punctuation."""
    return [
        position
        for position, token in enumerate(tokens)
        if token.startswith("##") or (token not in STOP_WORDS and any(map(str.isalnum, token)))
    ]


def packed(vectors: Vectors) -> bytes:
    """Pack the signs of vectors, one bit per dimension; each vector starts at a byte."""
    return np.packbits(vectors > 0, axis=1).tobytes()


def closeness(query: Vectors, signs: Mapping[int, bytes]) -> dict[int, float]:
    """Return the closeness of texts to a query: the mean over its tokens of the nearest token.

    ``query`` has one row per token; ``signs`` are packed signs by row number. The result is scaled
    from 0 for the farthest text to 1 for the nearest; texts without tokens are left out.
    """
    dimensions = query.shape[1] if len(query) else 0
    width = -(-dimensions // 8)
    texts = {row: of_text for row, of_text in signs.items() if of_text} if width else {}
    if not texts:
        return {}
    together = np.frombuffer(b"".join(texts.values()), dtype=np.uint8).reshape(-1, width)
    bits = np.unpackbits(together, axis=1, count=dimensions).astype(np.float32)
    # A set bit means +1, a clear one -1.
    similar = 2 * (bits @ query.T) - query.sum(axis=1)
    starts = np.cumsum([0, *(len(of_text) // width for of_text in texts.values())])[:-1]
    means = np.maximum.reduceat(similar, starts, axis=0).mean(axis=1)
    low, high = float(means.min()), float(means.max())
    if low == high:
        return dict.fromkeys(texts, 0.0)
    return {row: (float(m) - low) / (high - low) for row, m in zip(texts, means, strict=True)}
