"""Cases -> outcomes: each is asked of the real agent, and what came back is kept in a file.

An outcome holds all that is scored, so that a run that was stopped goes on where it was.
"""

import json
import re
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Literal

from anthropic.types import Message
from pydantic import TypeAdapter, ValidationError

from agent.answer import Answer, Usage, Verdict
from agent.evals.cases import Case
from agent.loop import Agent
from agent.model.client import ClaudeModel, Listener, Request
from agent.model.deadline import Deadline
from agent.model.profiles import Profile
from agent.settings import AgentSettings
from ingest.errors import SettingsError
from ingest.index import Index

Mode = Literal["agent", "no-search", "search-first"]

CLAUDES_ID = re.compile(r"msg_(?:[a-z]+_)?01[A-Za-z0-9]{20,}")
"""A script or a local model gives other ids to its messages."""


@dataclass(frozen=True, slots=True)
class Cited:
    """A chunk that an answer cites."""

    id: str
    path: str
    text: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What the agent made of one case."""

    case: str
    question: str
    mode: Mode
    model: str | None
    """None: no model is set up."""
    verdict: Verdict
    text: str
    reason: str = ""
    cited: tuple[Cited, ...] = ()
    removed: tuple[str, ...] = ()
    unsupported: tuple[str, ...] = ()
    queries: tuple[str, ...] = ()
    found: tuple[int, ...] = ()
    """How many passages each query gave."""
    opened: int = 0
    """Calls of the other tools."""
    steps: int = 0
    usage: Usage = field(default_factory=Usage)
    cost_usd: float | None = None
    seconds: float = 0.0
    claude: bool = False
    """Every message came from Claude, as far as its id tells."""

    @property
    def answered_by_model(self) -> bool:
        return self.model is not None and self.verdict not in ("retrieval_only", "failed")

    @property
    def consulted(self) -> bool:
        """Whether the docs were consulted at all."""
        return bool(self.queries or self.opened)


_OUTCOME = TypeAdapter(Outcome)


class Outcomes:
    """Outcomes so far; with a file, those that an earlier run left there count too."""

    def __init__(self, file: Path | None, mode: Mode, model: str | None) -> None:
        self.mode = mode
        self.model = model
        self._file = file
        self._done = {o.case: o for o in _read(file) if (o.mode, o.model) == (mode, model)}

    def of(self, case: Case) -> Outcome | None:
        """What is known of this very question."""
        outcome = self._done.get(case.id)
        return outcome if outcome and outcome.question == case.question else None

    def add(self, outcome: Outcome) -> None:
        self._done[outcome.case] = outcome
        if self._file is not None:
            with self._file.open("a", encoding="utf-8") as file:
                # The newline comes first: what a killed run left unfinished is a line of its own.
                file.write("\n" + json.dumps(asdict(outcome), ensure_ascii=False))


def _read(file: Path | None) -> list[Outcome]:
    """Raises SettingsError for a file that is something else, so that nothing is added to it."""
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


def _parsed(line: bytes) -> Outcome | None:
    try:
        return _OUTCOME.validate_json(line)
    except ValidationError:
        return None


class _Heard:
    """The model, and the ids of the messages it gave."""

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


def in_mode(settings: AgentSettings, mode: Mode) -> AgentSettings:
    """``no-search`` shows what the model makes up, ``search-first`` what one search is worth."""
    # A fallback would be measured under the other model's name.
    changes: dict[str, object] = {"fallback_model": None}
    if mode == "no-search":
        # Neither of the docs nor of the web.
        changes |= {"max_searches": 0, "route": "agent", "web_search": False}
    elif mode == "search-first":
        changes |= {"route": "single"}
    return settings.model_copy(update=changes)


def ask_all(
    index: Index,
    cases: Sequence[Case],
    settings: AgentSettings,
    outcomes: Outcomes,
    heard: Callable[[Outcome], None],
) -> None:
    """Ask every case whose outcome is not known yet; ``heard`` is told of each, known or new."""
    settings = in_mode(settings, outcomes.mode)
    model = _Heard(ClaudeModel(settings.model, settings)) if settings.has_key else None
    agent = Agent(index, model, settings)
    for case in cases:
        outcome = outcomes.of(case)
        if outcome is None:
            before = len(model.ids) if model else 0
            answer = agent.answer(case.conversation)
            ids = model.ids[before:] if model else []
            outcome = _outcome(case, outcomes, answer, ids)
            outcomes.add(outcome)
        heard(outcome)


def _outcome(case: Case, outcomes: Outcomes, answer: Answer, ids: Sequence[str]) -> Outcome:
    calls = [e.detail["name"] for e in answer.trace.events if e.kind == "tool_call"]
    return Outcome(
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
