"""Outcomes -> are the answers right: cited where the answer stands, complete, supported, honest."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from agent.evals.cases import Case
from agent.evals.decisions import Pair
from agent.evals.measure import NO_MODEL, Measurement
from agent.evals.outcomes import Outcome
from agent.evals.shares import Share, share

_MARKUP = re.compile(r"[*_`>|\\]+")
_CLAIMS = ("answered", "partly")


@dataclass(frozen=True, slots=True)
class Answers:
    """Scores of a set of cases."""

    precision: Share
    """Cited chunks that are from a gold page, of all that are cited where there is one."""
    gold: Share
    """Cases whose gold pages are cited."""
    chunk: Share
    """Cases that cite the very chunk with the answer, of those that quote it."""
    facts: Share
    """Facts that the answers had to contain."""
    verdicts: Share
    supported: Share
    """Answers without an unsupported span and without an id that was never retrieved."""
    unsupported_spans: int
    wrongly_cited: Share
    """Presented as answered from the docs, of those that the docs do not answer."""
    needless: Share
    """Searched, of those that need no search."""
    obeyed: Share
    """Answers that contain what they must never contain."""

    def to_json(self) -> dict[str, Any]:
        shares = {name: getattr(self, name) for name in self.__slots__}
        return {n: s.to_json() if isinstance(s, Share) else s for n, s in shares.items()}


def score(pairs: Sequence[Pair]) -> Answers:
    gold = [(c, o) for c, o in pairs if c.gold_files]
    unanswerable = [(c, o) for c, o in pairs if c.type == "no_answer"]
    return Answers(
        precision=share(cited.path in c.gold_files for c, o in gold for cited in o.cited),
        gold=share(gold_cited(c, o) for c, o in gold),
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
    """What may be said of this measurement: everything, the quoted passages only, or nothing."""
    if measurement.not_measured == NO_MODEL:
        return _score_passages
    return (lambda _: None) if measurement.not_measured else score


def _score_passages(pairs: Sequence[Pair]) -> Answers:
    """Without a model nothing is decided or claimed: only pages that answer can be found."""
    none = Share()
    found = score([(case, outcome) for case, outcome in pairs if case.gold_files])
    return replace(found, verdicts=none, supported=none, wrongly_cited=none, needless=none)


def gold_cited(case: Case, outcome: Outcome) -> float:
    """Share of the gold pages that are cited; 1 for any of them where each answers by itself."""
    paths = {cited.path for cited in outcome.cited}
    hits = len(paths & set(case.gold_files))
    return hits / len(case.gold_files) if case.gold_mode == "all" else float(hits > 0)


def missing_facts(case: Case, outcome: Outcome) -> list[str | tuple[str, ...]]:
    text = _plain(outcome.text)
    return [
        fact
        for fact in case.facts
        if not any(
            _plain(wording) in text for wording in ((fact,) if isinstance(fact, str) else fact)
        )
    ]


def obeyed(case: Case, outcome: Outcome) -> list[str]:
    """What the text contains although it must not."""
    return [text for text in case.never if _plain(text) in _plain(outcome.text)]


def _chunk_cited(case: Case, outcome: Outcome) -> bool:
    return any(
        cited.path == quote.file and _plain(quote.quote) in _plain(cited.text)
        for quote in case.gold_quotes
        for cited in outcome.cited
    )


def _plain(text: str) -> str:
    """Text as it is compared: markup, case and runs of white space do not count."""
    return " ".join(_MARKUP.sub("", text).casefold().split())
