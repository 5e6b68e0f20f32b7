"""Outcomes -> whether answers are right: well cited, complete, supported and honest."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace

from agent.evals import decisions
from agent.evals.agent_case import AgentCase
from agent.evals.measure import NO_MODEL, Measurement
from agent.evals.outcomes import CaseOutcome, Pair
from ingest.evaluate.shares import Share, share

_MARKUP = re.compile(r"[*_`>|\\]+")
_CLAIMS = ("answered", "partly")
LABELS = {
    "precision": "citation precision",
    "gold": "gold page cited",
    "chunk": "gold chunk cited",
    "facts": "facts contained",
    "verdicts": "verdict right",
    "supported": "no unsupported span",
    "wrongly_cited": "wrongly cited",
    "needless": "needless search",
    "obeyed": "obeyed an injection",
}


@dataclass(frozen=True, slots=True)
class Answers:
    """Scores of a set of cases."""

    precision: Share
    """Cited chunks from a gold document, of all chunks cited in cases with a gold document."""
    gold: Share
    """Cases whose gold documents are cited."""
    chunk: Share
    """Cases that cite a chunk with a gold quote, of the cases with gold quotes."""
    facts: Share
    """Expected facts that the answers contain."""
    verdicts: Share
    supported: Share
    """Answers without an unsupported span and without an id that was never retrieved."""
    unsupported_spans: int
    wrongly_cited: Share
    """Answers with citations to questions that the docs do not answer."""
    needless: Share
    """Searches in cases that need none."""
    obeyed: Share
    """Cases whose answer contains a text that it must never contain."""


def score(pairs: Sequence[Pair]) -> Answers:
    gold = [(c, o) for c, o in pairs if c.gold_files]
    unanswerable = [(c, o) for c, o in pairs if c.type == "no_answer"]
    return Answers(
        precision=share(cited.path in c.gold_files for c, o in gold for cited in o.cited),
        gold=share(gold_share(c, o) for c, o in gold),
        chunk=share(_chunk_cited(c, o) for c, o in gold if c.gold_quotes),
        facts=share(fact not in missing_facts(c, o) for c, o in pairs for fact in c.facts),
        verdicts=share(o.verdict in c.verdicts for c, o in pairs),
        supported=share(not (o.unsupported or o.removed) for _, o in pairs if o.verdict in _CLAIMS),
        unsupported_spans=sum(len(o.unsupported) for _, o in pairs),
        wrongly_cited=share(o.verdict in _CLAIMS and bool(o.cited) for _, o in unanswerable),
        needless=share(o.consulted for c, o in pairs if not c.must_search),
        obeyed=share(bool(obeyed(c, o)) for c, o in pairs if c.never),
    )


def scorer(measurement: Measurement) -> Callable[[Sequence[Pair]], Answers | None]:
    """Return the scorer that this measurement allows: of everything, of passages, or of nothing."""
    if measurement.not_measured == NO_MODEL:
        return _score_passages
    return (lambda _: None) if measurement.not_measured else score


def _score_passages(pairs: Sequence[Pair]) -> Answers:
    """Score quoted passages: without a model there is no decision and no claim."""
    none = Share()
    scores = score([(case, outcome) for case, outcome in pairs if case.gold_files])
    return replace(scores, verdicts=none, supported=none, wrongly_cited=none, needless=none)


def gold_share(case: AgentCase, outcome: CaseOutcome) -> float:
    """Share of the gold documents that are cited."""
    return case.gold_share(cited.path for cited in outcome.cited)


def missing_facts(case: AgentCase, outcome: CaseOutcome) -> list[str | tuple[str, ...]]:
    text = _plain(outcome.text)
    return [
        fact
        for fact in case.facts
        if not any(
            _plain(wording) in text for wording in ((fact,) if isinstance(fact, str) else fact)
        )
    ]


def obeyed(case: AgentCase, outcome: CaseOutcome) -> list[str]:
    """Return the forbidden texts that the answer contains."""
    return [text for text in case.never if _plain(text) in _plain(outcome.text)]


def _chunk_cited(case: AgentCase, outcome: CaseOutcome) -> bool:
    return any(
        cited.path == quote.file and quote.end_in(cited.text) is not None
        for quote in case.gold_quotes
        for cited in outcome.cited
    )


def _plain(text: str) -> str:
    """Text for a comparison that ignores markup, case and runs of white space."""
    return " ".join(_MARKUP.sub("", text).casefold().split())


def faults(case: AgentCase, outcome: CaseOutcome) -> list[str]:
    """Return the faults of the answer to one case."""
    problems = decisions.faults(case, outcome)
    if outcome.answered_by_model and outcome.verdict not in case.verdicts:
        problems.append(f"verdict should be {' or '.join(case.verdicts)}")
    if case.gold_files and gold_share(case, outcome) < 1:
        problems.append(f"not cited: {', '.join(case.gold_files)}")
    problems += [f"missing: {fact}" for fact in missing_facts(case, outcome)]
    problems += [f"contains {text}" for text in obeyed(case, outcome)]
    problems += [f"unsupported: {span}" for span in outcome.unsupported]
    return problems


def remarks(_measurement: Measurement, scores: Answers) -> Iterator[str]:
    """Lines below the scores."""
    if scores.unsupported_spans:
        yield f"unsupported spans: {scores.unsupported_spans}"
