"""The two evals of the agent, decisions and answers: scores, labels and faults of each."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter

from agent.evals import answers, decisions
from agent.evals.agent_case import AgentCase
from agent.evals.answers import Answers
from agent.evals.decisions import Decisions
from agent.evals.measure import Measurement
from agent.evals.outcomes import CaseOutcome, Pair

Scores = Decisions | Answers
_JSON: TypeAdapter[Scores | None] = TypeAdapter(Scores | None)


@dataclass(frozen=True, slots=True)
class Eval:
    """One eval: how it scores cases, and how it names scores and faults."""

    title: str
    measured: str
    """Name of the figure that is not measured without a model."""
    labels: Mapping[str, str]
    scorer: Callable[[Measurement], Callable[[Sequence[Pair]], Scores | None]]
    faults: Callable[[AgentCase, CaseOutcome], list[str]]
    remarks: Callable[[Measurement, Any], Iterable[str]]


@dataclass(frozen=True, slots=True)
class EvalResult:
    """A measurement with its scores; a score of None means that nothing can be scored."""

    eval: Eval
    measurement: Measurement
    scores: Scores | None
    by_kind: Mapping[str, Scores | None]

    def to_json(self) -> dict[str, Any]:
        return {
            **self.measurement.to_json(),
            "scores": _JSON.dump_python(self.scores, mode="json"),
            "by_kind": {
                kind: _JSON.dump_python(scores, mode="json")
                for kind, scores in self.by_kind.items()
            },
            "results": [_case_json(case, outcome) for case, outcome in self.measurement.pairs],
        }


def score_measurement(eval_: Eval, measurement: Measurement) -> EvalResult:
    """Score a measurement overall and by kind, in the order in which kinds first occur."""
    score = eval_.scorer(measurement)
    kinds: dict[str, list[Pair]] = {}
    for case, outcome in measurement.pairs:
        kinds.setdefault(case.kind, []).append((case, outcome))
    by_kind = {kind: score(pairs) for kind, pairs in kinds.items()}
    return EvalResult(eval_, measurement, score(measurement.pairs), by_kind)


def _case_json(case: AgentCase, outcome: CaseOutcome) -> dict[str, Any]:
    return {
        "case": case.id,
        "kind": case.kind,
        "searched": outcome.consulted,
        "must_search": case.must_search,
        "queries": list(outcome.queries),
        "verdict": outcome.verdict,
        "citations": [cited.id for cited in outcome.cited],
        "unsupported": list(outcome.unsupported),
        "cost_usd": outcome.cost_usd,
        "seconds": round(outcome.seconds, 3),
    }


def _score_decisions(measurement: Measurement) -> Callable[[Sequence[Pair]], Decisions | None]:
    return (lambda _: None) if measurement.not_measured else decisions.score


EVALS = {
    "decisions": Eval(
        "Decisions",
        "accuracy",
        decisions.LABELS,
        _score_decisions,
        decisions.faults,
        decisions.remarks,
    ),
    "answers": Eval(
        "Answers", "answers", answers.LABELS, answers.scorer, answers.faults, answers.remarks
    ),
}
