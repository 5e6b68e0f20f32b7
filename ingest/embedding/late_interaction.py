"""Late interaction: texts compared word by word, by vectors that are made along with the whole's.

One vector a text blurs what it says into one point; here every token that tells something keeps its
own. Of a chunk's tokens only the signs are stored, a bit a dimension: they cost no run of the model
when it is ingested, about 3 kB on disk, and some milliseconds a search.
"""

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from ingest.store.terms import STOP_WORDS

Vectors = npt.NDArray[np.float32]


def telling(tokens: Sequence[str]) -> list[int]:
    """Places of the tokens that say something by themselves: no stop words, no punctuation."""
    return [
        place
        for place, token in enumerate(tokens)
        if token.startswith("##") or (token not in STOP_WORDS and any(map(str.isalnum, token)))
    ]


def packed(vectors: Vectors) -> bytes:
    """The signs of these vectors, a bit a dimension, each vector beginning at a byte."""
    return np.packbits(vectors > 0, axis=1).tobytes()


def closeness(asked: Vectors, signs: Mapping[int, bytes]) -> dict[int, float]:
    """How near the nearest token of a text is to each of the query's, on average.

    From 0 for the farthest of these texts to 1 for the nearest; a text without tokens has none.
    """
    dimensions = asked.shape[1] if len(asked) else 0
    width = -(-dimensions // 8)
    texts = {row: own for row, own in signs.items() if own} if width else {}
    if not texts:
        return {}
    together = np.frombuffer(b"".join(texts.values()), dtype=np.uint8).reshape(-1, width)
    bits = np.unpackbits(together, axis=1, count=dimensions).astype(np.float32)
    # A set bit is +1, any other -1.
    similar = 2 * (bits @ asked.T) - asked.sum(axis=1)
    starts = np.cumsum([0, *(len(own) // width for own in texts.values())])[:-1]
    means = np.maximum.reduceat(similar, starts, axis=0).mean(axis=1)
    low, high = float(means.min()), float(means.max())
    if low == high:
        return dict.fromkeys(texts, 0.0)
    return {row: (float(m) - low) / (high - low) for row, m in zip(texts, means, strict=True)}
