"""Query and texts, word by word: how close the nearest word of a text is to each of the query's.

One vector a text blurs what it says into one point; here every token keeps its own. It costs a run
of the model a text, so only the leading candidates are compared like this, where it is asked for.
"""

from collections.abc import Sequence
from typing import Protocol, runtime_checkable

from ingest.store import Vectors
from ingest.terms import STOP_WORDS


@runtime_checkable
class TokenEmbedder(Protocol):
    """An embedder that also tells its tokens apart."""

    def embed_tokens(self, texts: Sequence[str]) -> list[tuple[list[str], Vectors]]:
        """Each text's tokens, without the frame around them, and a unit vector for each."""
        ...


def closeness(query: str, texts: Sequence[str], embedder: TokenEmbedder) -> list[float]:
    """0 for the farthest of the texts, 1 for the closest."""
    if not texts:
        return []
    (tokens, vectors), *candidates = embedder.embed_tokens([query, *texts])
    telling = [place for place, token in enumerate(tokens) if _tells(token)]
    asked = vectors[telling] if telling else vectors
    if not len(asked):
        return [0.0] * len(texts)
    means = [float((asked @ v.T).max(axis=1).mean()) if len(v) else 0.0 for _, v in candidates]
    low, high = min(means), max(means)
    return [(mean - low) / (high - low) if high > low else 0.0 for mean in means]


def _tells(token: str) -> bool:
    return token.startswith("##") or (token not in STOP_WORDS and any(map(str.isalnum, token)))
