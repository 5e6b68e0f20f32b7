"""Questions with and without an answer in the docs -> the threshold below which results are weak.

It is the highest threshold at which at most one in twenty answerable questions is called weak. Its
error rates are also measured on questions that it was not chosen on.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ingest.embedding.embedder import open_embedder
from ingest.errors import SettingsError
from ingest.evaluate.cases import Case
from ingest.evaluate.evaluate import EVAL_FOLDER, corpus_folder, open_corpus
from ingest.index import Index, open_index
from ingest.index.folders import IndexFolder, live
from ingest.settings import IndexSettings
from ingest.terminal import ShowProgress

WRONGLY_WEAK = 0.05
"""Largest share of answerable questions that may be called weak."""
FOLDS = 5
ROUNDS = 40
BINS = 20


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidences of both kinds of questions, and the threshold between them."""

    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]
    threshold: float

    def rates(self) -> tuple[float, float]:
        """Shares called weak: of questions with an answer (wrongly) and without (rightly)."""
        return _shares(self.answerable, self.unanswerable, self.threshold)

    def unseen_rates(self) -> tuple[float, float]:
        """The same shares for questions that the threshold was not chosen on (cross-validated)."""
        rng = np.random.default_rng(0)
        rates = []
        for _ in range(ROUNDS):
            shuffled = [rng.permutation(self.answerable), rng.permutation(self.unanswerable)]
            for fold in range(FOLDS):
                others = np.delete(shuffled[0], np.s_[fold::FOLDS])
                chosen = choose(others.tolist())
                rates.append(
                    _shares(shuffled[0][fold::FOLDS].tolist(), shuffled[1].tolist(), chosen)
                )
        wrong, right = np.mean(rates, axis=0)
        return float(wrong), float(right)

    def to_json(self) -> dict[str, Any]:
        names = ("answerable_called_weak", "no_answer_called_weak")
        return {
            "threshold": round(self.threshold, 4),
            "answerable": len(self.answerable),
            "no_answer": len(self.unanswerable),
            **dict(zip(names, (round(rate, 4) for rate in self.rates()), strict=True)),
            "cross_validated": dict(
                zip(names, (round(rate, 4) for rate in self.unseen_rates()), strict=True)
            ),
        }


def calibrate(confidences: Sequence[tuple[Case, float]]) -> Calibration:
    """Choose the threshold for these confidences."""
    answerable = tuple(value for case, value in confidences if case.has_answer)
    unanswerable = tuple(value for case, value in confidences if case.type == "no_answer")
    if len(answerable) < 2 * FOLDS or len(unanswerable) < FOLDS:
        raise SettingsError(
            f"{len(answerable)} questions with an answer and {len(unanswerable)} without are too "
            f"few to calibrate on. Give {2 * FOLDS} and {FOLDS} or more (type no_answer)."
        )
    return Calibration(answerable, unanswerable, choose(answerable))


def choose(answerable: Sequence[float]) -> float:
    """Return the highest threshold with at most a share of WRONGLY_WEAK of the values below it."""
    ordered = sorted(answerable)
    return ordered[int(WRONGLY_WEAK * len(ordered))]


def confidences(index: Index, cases: Sequence[Case]) -> list[tuple[Case, float]]:
    """Search for each case, and return how confident the index is of the result."""
    return [(case, index.search(case.query).confidence) for case in cases]


def ask_live_index(
    cases: Sequence[Case], settings: IndexSettings
) -> tuple[list[tuple[Case, float]], list[IndexFolder]]:
    """Confidences of the live index, and its folder."""
    index = open_index(settings)
    try:
        _check_gold_files(cases, {document.path for document in index.documents()})
        values = confidences(index, cases)
    finally:
        index.close()
    folder = live(settings.data_dir)
    return values, [folder] if folder else []


def _check_gold_files(cases: Sequence[Case], indexed: Collection[str]) -> None:
    """Raise SettingsError for questions about other docs, which would give a wrong threshold."""
    for case in cases:
        for file in case.gold_files:
            if file not in indexed:
                raise SettingsError(
                    f"case {case.id}: {file} is not in the index. Correct its gold_files,"
                    " or name the folder with its docs by --corpora."
                )


def ask_corpora(
    grouped: Mapping[Path, Sequence[Case]], settings: IndexSettings, report: ShowProgress
) -> tuple[list[tuple[Case, float]], list[IndexFolder]]:
    """Confidences of the index of each folder of documents, and the folders of these indexes."""
    values: list[tuple[Case, float]] = []
    folders: list[IndexFolder] = []
    embedder = open_embedder(settings.embedder_source)
    cache = settings.data_dir / EVAL_FOLDER
    for docs, cases in sorted(grouped.items()):
        with open_corpus(docs, settings, embedder, cache=cache, report=report) as index:
            report(f"{docs.name}: asking", 0, len(cases))
            values += confidences(index, cases)
        folder = live(corpus_folder(cache, docs.name, embedder))
        folders += [folder] if folder else []
    return values, folders


def plot(calibration: Calibration, path: Path) -> None:
    """Draw both distributions and the threshold as a PNG."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise SettingsError(
            "The plot needs matplotlib: pip install 'footnote[plots]', or leave --plot out."
        ) from None
    figure = Figure(figsize=(8, 4.5), layout="constrained")
    axes = figure.subplots()
    edges = [step / BINS for step in range(BINS + 1)]
    for values, label, colour in (
        (calibration.answerable, "the docs have an answer", "#2a6f97"),
        (calibration.unanswerable, "they have none", "#d1495b"),
    ):
        weights = np.full(len(values), 100 / len(values))
        axes.hist(
            values,
            edges,
            weights=weights,
            alpha=0.6,
            color=colour,
            label=f"{label} ({len(values)})",
        )
    wrong, right = calibration.rates()
    axes.axvline(calibration.threshold, color="black", linestyle="--")
    axes.set(
        xlabel="confidence of the search",
        ylabel="% of the questions",
        xlim=(0, 1),
        title=f"Weak below {calibration.threshold:.2f}: "
        f"{wrong:.0%} of answerable questions, {right:.0%} of the others",
    )
    axes.legend(frameon=False)
    axes.spines[["top", "right"]].set_visible(False)
    try:
        figure.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise SettingsError(f"{path} cannot be written ({error}): give --plot FILE.png.") from None


def _shares(
    answerable: Sequence[float], unanswerable: Sequence[float], threshold: float
) -> tuple[float, float]:
    wrong = float(np.mean(np.asarray(answerable) < threshold))
    right = float(np.mean(np.asarray(unanswerable) < threshold))
    return wrong, right
