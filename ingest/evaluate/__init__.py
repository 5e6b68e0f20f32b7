"""Question files -> how well the search does on them, and the threshold for weak results."""

from ingest.evaluate.evaluate import (
    ASKED_FOR,
    EVAL_FOLDER,
    NOT_DOCS,
    Evaluation,
    corpus_folder,
    evaluate,
    open_corpus,
)

__all__ = [
    "ASKED_FOR",
    "EVAL_FOLDER",
    "NOT_DOCS",
    "Evaluation",
    "corpus_folder",
    "evaluate",
    "open_corpus",
]
