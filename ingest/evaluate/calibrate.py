"""Questions with and without an answer in the docs -> the threshold that tells weak results.

The threshold is the highest at which at most one in twenty answerable questions is called weak. Its
error rates are also measured on questions that it was not chosen on.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ingest.errors import SettingsError
from ingest.evaluate.questions import Question
from ingest.index import Index

WRONGLY_WEAK = 0.05
"""Share of answerable questions that may be called weak."""
FOLDS = 5
ROUNDS = 40
BINS = 20


@dataclass(frozen=True, slots=True)
class Calibration:
    """Confidences of both kinds of questions, and where they are parted."""

    answerable: tuple[float, ...]
    unanswerable: tuple[float, ...]
    threshold: float

    def rates(self) -> tuple[float, float]:
        """Share called weak: of those with an answer, wrongly; of those without, rightly."""
        return _shares(self.answerable, self.unanswerable, self.threshold)

    def unseen_rates(self) -> tuple[float, float]:
        """The same for questions that the threshold was not chosen on (cross-validated)."""
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


def calibrate(confidences: Sequence[tuple[Question, float]]) -> Calibration:
    """Choose the threshold for these results."""
    answerable = tuple(sure for question, sure in confidences if question.has_answer)
    unanswerable = tuple(sure for question, sure in confidences if question.type == "no_answer")
    if len(answerable) < 2 * FOLDS or len(unanswerable) < FOLDS:
        raise SettingsError(
            f"{len(answerable)} questions with an answer and {len(unanswerable)} without are too "
            f"few to calibrate on. Give {2 * FOLDS} and {FOLDS} or more (type no_answer)."
        )
    return Calibration(answerable, unanswerable, choose(answerable))


def choose(answerable: Sequence[float]) -> float:
    """The highest threshold with few enough of these below it."""
    ordered = sorted(answerable)
    return ordered[int(WRONGLY_WEAK * len(ordered))]


def confidences(index: Index, questions: Sequence[Question]) -> list[tuple[Question, float]]:
    """Ask each, and hear how sure the index is."""
    return [(question, index.search(question.query).confidence) for question in questions]


def plot(calibration: Calibration, path: Path) -> None:
    """Both distributions and the threshold, as a PNG."""
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
