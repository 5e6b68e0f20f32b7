"""Cases and settings -> a measurement: the agent answers as many cases as the budget allows."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from agent.evals.agent_case import AgentCase
from agent.evals.outcomes import CaseOutcome, Outcomes, Pair, ask_all
from agent.evals.trajectory import Trajectory, trajectory
from agent.settings import AgentSettings
from ingest.embedding.embedder import open_embedder
from ingest.evaluate.evaluate import EVAL_FOLDER, open_corpus
from ingest.settings import IndexSettings
from ingest.terminal import ShowProgress

NO_MODEL = "no language model is set up (ANTHROPIC_API_KEY)"
NOT_CLAUDE = (
    "a script or another model answered, since its messages do not carry Claude's ids "
    "(--any-model scores it all the same)"
)


class _SpentError(Exception):
    """The budget of this run is spent."""


@dataclass(frozen=True, slots=True)
class Measurement:
    """The outcomes of a set of cases, and whether they are a measurement of a model."""

    pairs: tuple[Pair, ...]
    total: int
    """Number of cases, including those that were not asked."""
    mode: str
    model: str | None
    not_measured: str | None
    """Reason why the model's decisions and answers cannot be scored, or None."""
    stopped: str | None
    """Reason why some cases were not asked, or None."""

    @property
    def trajectory(self) -> Trajectory:
        return trajectory(self.pairs)

    def to_json(self) -> dict[str, Any]:
        return {
            "measured": self.not_measured is None,
            "not_measured": self.not_measured,
            "stopped": self.stopped,
            "mode": self.mode,
            "model": self.model,
            "cases": self.total,
            "asked": len(self.pairs),
            "trajectory": asdict(self.trajectory),
        }


def measure(
    grouped: Mapping[Path, Sequence[AgentCase]],
    settings: AgentSettings,
    index_settings: IndexSettings,
    outcomes: Outcomes,
    *,
    any_model: bool,
    max_usd: float | None,
    report: ShowProgress,
) -> Measurement:
    """Ask the cases against their docs; an interrupt keeps the outcomes so far."""
    pairs: list[Pair] = []
    total = sum(map(len, grouped.values()))
    stopped = None
    try:
        embedder = open_embedder(index_settings.embedder_source)
        cache = index_settings.data_dir / EVAL_FOLDER
        for docs, cases in grouped.items():
            by_id = {case.id: case for case in cases}

            def add(outcome: CaseOutcome, by_id: Mapping[str, AgentCase] = by_id) -> None:
                pairs.append((by_id[outcome.case], outcome))
                spent = sum(o.cost_usd or 0.0 for _, o in pairs)
                report(f"asking, ${spent:.3f} so far", len(pairs), total)
                if max_usd is not None and spent >= max_usd and len(pairs) < total:
                    raise _SpentError

            with open_corpus(docs, index_settings, embedder, cache=cache, report=report) as index:
                report("asking", len(pairs), total)
                ask_all(index, cases, settings, outcomes, add)
    except KeyboardInterrupt:
        stopped = "interrupted"
    except _SpentError:
        stopped = f"--max-usd {max_usd:g} is spent"
    return Measurement(
        tuple(pairs),
        total,
        outcomes.mode,
        outcomes.model,
        _not_measured(pairs, outcomes.model, any_model=any_model),
        stopped,
    )


def _not_measured(pairs: Sequence[Pair], model: str | None, *, any_model: bool) -> str | None:
    if model is None:
        return NO_MODEL
    answered = [outcome for _, outcome in pairs if outcome.answered_by_model]
    if not answered:
        reasons = {outcome.reason for _, outcome in pairs if outcome.reason}
        return f"the model answered no case. {min(reasons, default='')}".strip()
    if not any_model and not all(outcome.claude for outcome in answered):
        return NOT_CLAUDE
    return None
