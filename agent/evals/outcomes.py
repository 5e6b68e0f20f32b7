"""Cases -> outcomes: the real agent answers each case, and the outcomes are kept in a file.

An outcome holds everything that is scored, so a run that was stopped can continue.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from anthropic.types import Message
from pydantic import TypeAdapter, ValidationError

from agent.answer import Answer, Usage, Verdict
from agent.evals.agent_case import AgentCase
from agent.evals.modes import Mode, in_mode
from agent.loop import Agent
from agent.model.client import ClaudeModel, Request
from agent.model.deadline import Deadline
from agent.model.http_call import Listener
from agent.model.profiles import Profile
from agent.settings import AgentSettings
from ingest.errors import SettingsError
from ingest.index import Index

CLAUDES_ID = re.compile(r"msg_(?:[a-z]+_)?01[A-Za-z0-9]{20,}")
"""A script or a local model gives other ids to its messages."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A chunk that an answer cites."""

    id: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class CaseOutcome:
    """The agent's answer to one case, with everything that is scored."""

    case: str
    question: str
    mode: Mode
    model: str | None
    """None if no model is set up."""
    verdict: Verdict
    text: str
    reason: str = ""
    cited: tuple[Cited, ...] = ()
    removed: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    found: tuple[int, ...] = ()
    """Number of passages that each query found."""
    opened: int = 0
    """Number of calls of tools other than the search."""
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    seconds: float = 0.0
    claude: bool = False
    """True if the ids of all messages look like Claude's."""

    @property
    def answered_by_model(self) -> bool:
        return self.model is not None and self.verdict not in ("retrieval_only", "failed")

    @property
    def consulted(self) -> bool:
        """True if the agent searched the docs or opened a document."""
        return bool(self.queries or self.opened)

    @property
    def distinct_queries(self) -> int:
        return len({" ".join(query.lower().split()) for query in self.queries})


Pair = tuple[AgentCase, CaseOutcome]
"""A case and its outcome."""


_OUTCOME = TypeAdapter(CaseOutcome)


class Outcomes:
    """The outcomes so far, with those that an earlier run wrote to the file."""

    def __init__(self, file: Path | None, mode: Mode, model: str | None) -> None:
        self.mode = mode
        self.model = model
        self._file = file
        self._done = {o.case: o for o in _read(file) if (o.mode, o.model) == (mode, model)}

    def of(self, case: AgentCase) -> CaseOutcome | None:
        """Return the outcome of this case, unless its question has changed since."""
        outcome = self._done.get(case.id)
        return outcome if outcome and outcome.question == case.question else None

    def add(self, outcome: CaseOutcome) -> None:
        self._done[outcome.case] = outcome
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                # The newline comes first, so that an unfinished line of a killed run stays apart.
                file.write("\n" + json.dumps(asdict(outcome), ensure_ascii=False))


def _read(file: Path | None) -> list[CaseOutcome]:
    """Read the outcomes in a file. Raises SettingsError for a file with other content."""
    if file is None:
        return []
    try:
        file.open("a").close()
        lines = [line for line in file.read_bytes().splitlines() if line.strip()]
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}.") from None
    outcomes = [outcome for line in lines if (outcome := _parsed(line))]
    if lines and not outcomes:
        raise SettingsError(f"{file} holds no outcomes of an eval. Name another file with --keep.")
    return outcomes


def _parsed(line: bytes) -> CaseOutcome | None:
    try:
        return _OUTCOME.validate_json(line)
    except ValidationError:
        return None


class _RecordingModel:
    """A model that records the ids of its messages."""

    def __init__(self, model: ClaudeModel) -> None:
        self.name = model.name
        self.ids: list[str] = []
        self._model = model

    @property
    def profile(self) -> Profile:
        return self._model.profile

    @profile.setter
    def profile(self, profile: Profile) -> None:
        self._model.profile = profile

    def respond(self, request: Request, deadline: Deadline, listener: Listener) -> Message:
        message = self._model.respond(request, deadline, listener)
        self.ids.append(message.id)
        return message


def ask_all(
    index: Index,
    cases: Sequence[AgentCase],
    settings: AgentSettings,
    outcomes: Outcomes,
    report: Callable[[CaseOutcome], None],
) -> None:
    """Ask each case that has no outcome yet; ``report`` receives every outcome, old or new."""
    settings = in_mode(settings, outcomes.mode)
    model = _RecordingModel(ClaudeModel(settings.model, settings)) if settings.has_key else None
    agent = Agent(index, model, settings)
    for case in cases:
        outcome = outcomes.of(case)
        if outcome is None:
            before = len(model.ids) if model else 0
            answer = agent.answer(case.conversation)
            ids = model.ids[before:] if model else []
            outcome = _outcome(case, outcomes, answer, ids)
            outcomes.add(outcome)
        report(outcome)


def _outcome(
    case: AgentCase, outcomes: Outcomes, answer: Answer, ids: Sequence[str]
) -> CaseOutcome:
    calls = [e.detail["name"] for e in answer.trace.events if e.kind == "tool_call"]
    return CaseOutcome(
        case=case.id,
        question=case.question,
        mode=outcomes.mode,
        model=outcomes.model,
        verdict=answer.verdict,
        text=answer.text,
        reason=answer.reason,
        cited=tuple(Cited(p.id, p.path, p.text) for p in answer.citations),
        removed=answer.removed,
        unsupported=tuple(u.span for u in answer.unsupported),
        queries=tuple(search.query for search in answer.searches),
        found=tuple(len(search.ids) for search in answer.searches),
        opened=sum(name != "search_docs" for name in calls),
        steps=answer.steps,
        usage=answer.usage,
        cost_usd=answer.cost_usd,
        seconds=answer.seconds,
        claude=bool(ids) and all(CLAUDES_ID.fullmatch(id_) for id_ in ids),
    )
