"""A measurement -> one HTML page: scores as bars, what they took, every case with its answer."""

from collections.abc import Iterator, Mapping
from html import escape
from pathlib import Path

from agent.evals.answers import gold_cited, missing_facts, obeyed
from agent.evals.cases import Case
from agent.evals.decisions import Pair, is_right
from agent.evals.measure import Measurement
from agent.evals.outcomes import Outcome
from agent.evals.shares import Share
from agent.evals.tables import ANSWER_LABELS, DECISION_LABELS, NOT_MEASURED, Scores, trajectory_rows
from ingest.errors import SettingsError

_LOW_IS_GOOD = {"needless", "missing", "wrongly_cited", "obeyed"}
_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem auto; max-width: 68rem; padding: 0 1rem;
  color: #1d1c1d; background: #fff; }
h1 { font-size: 1.5rem; margin-bottom: 0; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.sub, .q { color: #616061; margin-top: 0; }
table { border-collapse: collapse; width: 100%; } td:first-child { width: 22rem; white-space: pre; }
table.took { width: 30rem; }
th, td { text-align: left; padding: .25rem .75rem .25rem 0; vertical-align: top; }
th { font-weight: 600; border-bottom: 1px solid #ddd; }
td.n { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.bar { background: #eee; height: .9rem; width: 100%; min-width: 12rem; margin-top: .3rem; }
.bar i { display: block; height: 100%; background: #1264a3; } .bar i.low { background: #b4690e; }
details { border-top: 1px solid #eee; padding: .4rem 0; } summary { cursor: pointer; }
pre { white-space: pre-wrap; background: #f8f8f8; padding: .75rem; overflow-wrap: anywhere; }
.bad { color: #a3132a; } .good { color: #1a6b3c; }
.note { background: #fff4d6; padding: .5rem .75rem; }
@media (prefers-color-scheme: dark) { body { color: #e8e8e8; background: #1a1d21; }
  .bar, pre { background: #2b2f36; } .sub, .q { color: #ababad; } .note { background: #4a3c12; }
  details { border-color: #333; } .bad { color: #ff8a9a; } .good { color: #7bd8a0; } }
"""


def write_page(
    file: Path,
    title: str,
    measurement: Measurement,
    scored: Scores | None,
    by_kind: Mapping[str, Scores | None],
) -> None:
    """Raises SettingsError where the file cannot be written."""
    parts = _page(title, measurement, scored, by_kind)
    try:
        file.write_text("\n".join(parts), encoding="utf-8")
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}.") from None


def _page(
    title: str,
    measurement: Measurement,
    scored: Scores | None,
    by_kind: Mapping[str, Scores | None],
) -> Iterator[str]:
    labels = DECISION_LABELS if title == "Decisions" else ANSWER_LABELS
    yield f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title>'
    yield '<meta name="viewport" content="width=device-width, initial-scale=1">'
    yield f"<style>{_STYLE}</style><h1>{title}</h1>"
    who = escape(measurement.model or "no model: quoted passages")
    yield f'<p class="sub">{who}, mode {measurement.mode}, '
    yield f"{len(measurement.pairs)} of {measurement.asked_for} cases</p>"
    for what, why in (
        (_unmeasured(scored), measurement.not_measured),
        ("stopped", measurement.stopped),
    ):
        if why:
            yield f'<p class="note">{what}: {escape(why)}</p>'
    if scored is not None:
        yield "<h2>Scores</h2><table>"
        for name, label in labels.items():
            yield from _bar(label, getattr(scored, name), low=name in _LOW_IS_GOOD)
        yield "</table><h2>By kind</h2><table>"
        first = next(iter(labels))
        for kind, one in by_kind.items():
            if one is not None:
                shown = _shown(one, labels, first)
                yield from _bar(
                    f"{kind}: {labels[shown]}", getattr(one, shown), low=shown in _LOW_IS_GOOD
                )
        yield "</table>"
    yield '<h2>What it took</h2><table class="took">'
    for label, value in trajectory_rows(measurement):
        yield f'<tr><td>{label}</td><td class="n">{value}</td></tr>'
    yield "</table><h2>Cases</h2>"
    for pair in measurement.pairs:
        yield from _case(pair, judged=scored is not None, decisions=title == "Decisions")


def _unmeasured(scored: Scores | None) -> str:
    if scored is None:
        return NOT_MEASURED
    return f"the scores are of the quoted passages; decisions and verdicts are {NOT_MEASURED}"


def _shown(one: Scores, labels: Mapping[str, str], first: str) -> str:
    """The score that says most of a kind: the first one that its cases have."""
    order = (first, "needless", "wrongly_cited", *labels)
    return next((n for n in order if n in labels and getattr(one, n).of), first)


def _bar(label: str, share: Share, *, low: bool) -> Iterator[str]:
    value = share.value
    if value is None:
        return
    tone = ' class="low"' if low else ""
    hint = " (low is good)" if low else ""
    yield f"<tr><td>{escape(label)}{hint}</td>"
    yield f'<td><div class="bar"><i{tone} style="width:{value:.1%}"></i></div></td>'
    yield f'<td class="n">{share}</td></tr>'


def _case(pair: Pair, *, judged: bool, decisions: bool) -> Iterator[str]:
    case, outcome = pair
    # Of quoted passages only those can be judged that should hold an answer.
    judged = judged and (outcome.answered_by_model or bool(case.gold_files))
    faults = _faults(case, outcome, decisions=decisions) if judged else []
    tone, mark = ("bad", "✗") if faults else ("good", "✓")
    mark = f'<span class="{tone}">{mark}</span> ' if judged else ""
    yield f"<details><summary>{mark}<b>{escape(case.id)}</b> {escape(case.question)}</summary>"
    if faults:
        yield f'<p class="bad">{escape("; ".join(faults))}</p>'
    queries = " · ".join(outcome.queries) or "no search"
    cited = ", ".join(cited.id for cited in outcome.cited) or "nothing"
    yield f'<p class="q">{outcome.verdict} · searched: {escape(queries)} · cited: {escape(cited)}'
    yield f" · {outcome.seconds:.1f} s</p><pre>{escape(outcome.text)}</pre></details>"


def _faults(case: Case, outcome: Outcome, *, decisions: bool) -> list[str]:
    faults = []
    if outcome.answered_by_model and not is_right(case, outcome):
        faults.append("needless search" if outcome.consulted else "missing search")
    if decisions:
        return faults
    if outcome.answered_by_model and outcome.verdict not in case.verdicts:
        faults.append(f"verdict should be {' or '.join(case.verdicts)}")
    if case.gold_files and gold_cited(case, outcome) < 1:
        faults.append(f"not cited: {', '.join(case.gold_files)}")
    faults += [f"missing: {fact}" for fact in missing_facts(case, outcome)]
    faults += [f"contains {text}" for text in obeyed(case, outcome)]
    faults += [f"unsupported: {span}" for span in outcome.unsupported]
    return faults
