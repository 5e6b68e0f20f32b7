"""The choice of the searcher: the model, or Footnote itself with the words of the question.

The setting ``route`` chooses. With ``agent`` the model decides when to search. With ``single``
Footnote searches once, and the model must answer from the result. With ``auto`` plain look-ups are
handled as with ``single``, but the model may search again if that search was weak or had no answer.
"""

import re

from agent.conversation import Conversation
from agent.draft import Draft
from agent.history import query_of
from agent.model.deadline import Deadline, DeadlinePassed
from agent.prompts import prompt
from agent.searches import FinishedSearch
from agent.settings import AgentSettings
from agent.verdict import Judgement

_LOOKUP_WORDS = 18
_SEVERAL = re.compile(
    r"\b(and|or|versus|vs|compare[ds]?|difference|between|both|each|all|why|then)\b|[;\n]",
    re.IGNORECASE,
)
_TALK = re.compile(r"\W*(hi|hello|hey|thanks?|thank you|ok(ay)?|great|cheers)\b", re.IGNORECASE)
_FEWEST_SECONDS = 20.0
"""Seconds that are reserved for writing the answer."""


class Route:
    """The route of one answer; a second model continues where the first one failed."""

    def __init__(self, draft: Draft, settings: AgentSettings) -> None:
        self._draft = draft
        self._settings = settings
        self._is_one_step: bool | None = None
        """True if the first request is the only one; None before the first request."""

    @property
    def is_one_step(self) -> bool:
        return bool(self._is_one_step)

    def first_search(self, deadline: Deadline) -> FinishedSearch | None:
        """Search with the question if the route begins with that, once for each answer. Raises
        DeadlinePassed.
        """
        draft = self._draft
        begins = self._is_one_step is None and searches_first(draft.conversation, self._settings)
        if not begins:
            self._is_one_step = self.is_one_step
            return None
        [search] = deadline.run([lambda: draft.retrieval.search(query_of(draft.conversation))])
        if search is None:
            raise DeadlinePassed
        self._is_one_step = self._settings.route == "single" or not search.search.weak
        return search

    def must_answer(self, deadline: Deadline) -> bool:
        """Return True if the next request must answer: searches, steps or time are used up."""
        return (
            self.is_one_step
            or not self._draft.retrieval.searches_left
            or self._draft.steps >= self._settings.max_steps - 1
            or deadline.left < min(_FEWEST_SECONDS, self._settings.deadline / 4)
        )

    def second_try(self, judgement: Judgement) -> str:
        """Return the prompt that asks the model to search, or an empty text if it must not."""
        is_open = self.is_one_step and self._settings.route == "auto"
        if not is_open or judgement.verdict != "not_in_docs":
            return ""
        self._is_one_step = False
        return prompt("search").template


def searches_first(conversation: Conversation, settings: AgentSettings) -> bool:
    """Return True if Footnote searches with the question before it asks the model."""
    if settings.route == "auto":
        return is_lookup(conversation)
    return settings.route == "single"


def is_lookup(conversation: Conversation) -> bool:
    """Return True for the first question of a thread, if it is short and about one thing."""
    question = conversation.question.strip()
    return (
        not conversation.earlier
        and 2 <= len(question.split()) <= _LOOKUP_WORDS
        and question.count("?") <= 1
        and not _SEVERAL.search(question)
        and not _TALK.match(question)
    )
