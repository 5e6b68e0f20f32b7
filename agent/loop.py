"""Conversation -> Answer: the loop of requests and tool calls, and what happens when it fails.

Whatever the model does, an answer comes: within the deadline by the model, else from the passages
alone. Its text was checked against the passages before anybody sees it.
"""

import logging
import threading
from collections.abc import Callable, Sequence
from typing import Any

from anthropic.types import Message

from agent.answer import Answer
from agent.asides.web import search_web
from agent.conversation import Conversation
from agent.draft import Draft
from agent.errors import Cancelled, ModelUnavailable, ParameterRefused
from agent.exchange import Exchange, tool_calls
from agent.fallback import HELP, passages_answer
from agent.history import history, query_of, question, recalled
from agent.model.budget import Budget, Spending
from agent.model.client import ClaudeModel, Model
from agent.model.deadline import Deadline, DeadlinePassed
from agent.passages import reply_text
from agent.preview import Preview
from agent.prompts import prompt
from agent.route import searches_first
from agent.searches import Retrieval, SearchCache
from agent.settings import AgentSettings
from agent.tools import Corpus
from agent.trace import Progress
from agent.verdict import Judged, judge
from ingest.errors import IngestError, UnknownCollection
from ingest.index import Index

__all__ = ["Agent", "Progress", "build_agent"]

log = logging.getLogger(__name__)

_PAUSES = 2
_CUT = ("max_tokens", "model_context_window_exceeded")
_CORPORA = 50
"""Descriptions of the docs that are kept: one for each selection of collections."""


class _NotSearched(Exception):
    """The model asked for searches, none of which could be made: what it says rests on nothing."""


class Agent:
    """Answers conversations from the index, with a model or without one."""

    def __init__(
        self,
        index: Index,
        model: Model | None,
        settings: AgentSettings,
        *,
        fallback: Model | None = None,
        spending: Spending | None = None,
    ) -> None:
        self._index = index
        self._models = [m for m in (model, fallback) if m is not None]
        self._settings = settings
        self._budget = Budget(settings, spending)
        self._cache = SearchCache()
        self._corpora: dict[str, Corpus] = {}

    def answer(
        self,
        conversation: Conversation,
        *,
        on_progress: Callable[[Progress], None] | None = None,
        on_paragraph: Callable[[Answer], bool] | None = None,
        cancel: threading.Event | None = None,
    ) -> Answer:
        """Answer the newest turn. Raises Cancelled when ``cancel`` is set, and nothing else.

        ``on_paragraph`` gets the answer so far whenever more of it was checked, and tells whether
        people see it: then it is not mended. What is returned goes on from there, except where the
        model began anew: then it takes the place of that.
        """
        draft = self._begin(conversation, on_progress, cancel)
        if on_paragraph:
            draft.on_text = Preview(draft, on_paragraph).grow
        if not conversation.question.strip() and not any(t.text for t in conversation.earlier):
            return draft.answer("no_search", HELP)
        why = "No language model is set up."
        models = self._models
        if models and (refusal := self._budget.refusal(conversation.asker_id)):
            why, models = refusal, []
            draft.note("degrade", error="budget")
        for model in models:
            try:
                return self._with_model(model, draft)
            except DeadlinePassed:
                why = "The model did not answer in time."
                draft.note("degrade", model=model.name, error="deadline")
                break
            except ModelUnavailable as error:
                why = error.reason
                draft.note("degrade", model=model.name, error=str(error))
                log.warning("answer %s: %s", draft.id, error)
            except Cancelled:
                raise
            except (IngestError, _NotSearched) as error:
                why = "The model could not search the docs."
                draft.note("degrade", model=model.name, error=type(error).__name__)
                log.warning("answer %s: %s", draft.id, error)
                break
            except Exception as error:  # whatever it was: passages are better than nothing
                why = "Answering with the model failed."
                draft.note("degrade", model=model.name, error=type(error).__name__)
                log.exception("answer %s", draft.id)
                break
        return passages_answer(draft, why, self._settings.deadline)

    def _begin(
        self,
        conversation: Conversation,
        on_progress: Callable[[Progress], None] | None,
        cancel: threading.Event | None,
    ) -> Draft:
        deadline = Deadline(self._settings.deadline, cancel)
        index, corpus = self._scoped(conversation.collections), Corpus(())
        revision, version = None, str(conversation.collections)
        try:
            status = self._index.status()
            revision = status.revision.label if status.revision else None
            version = f"{revision} {status.ingested_at} {version}"
            corpus = self._corpus(version, index)
        except IngestError as error:
            log.warning("index: %s", error)
        except Exception:  # the answer will fail in its own words, or need nothing of it
            log.exception("index")
        retrieval = Retrieval(index, self._cache, version, self._settings.max_searches)
        return Draft(conversation, deadline, retrieval, revision, on_progress, corpus)

    def _scoped(self, collections: Sequence[str] | None) -> Index:
        if collections is None:
            return self._index
        try:
            return self._index.within(collections)
        except UnknownCollection as error:
            log.warning("index: %s", error)
            return self._index.within(())  # rather nothing than what may not be seen here

    def _corpus(self, version: str, index: Index) -> Corpus:
        """What the model is told there is: the same words until the next ingest."""
        corpus = self._corpora.get(version)
        if corpus is None:
            corpus = Corpus(index.documents(), index.collections())
            if len(self._corpora) >= _CORPORA:
                self._corpora.clear()
            self._corpora[version] = corpus
        return corpus

    def _with_model(self, model: Model, draft: Draft) -> Answer:
        while True:
            try:
                return self._converse(model, draft)
            except ParameterRefused as error:
                # The same model, spoken to more plainly each time.
                log.info("answer %s: %s", draft.id, error)

    def _converse(self, model: Model, draft: Draft) -> Answer:
        """Steps until there is a text, then its check, with one chance to mend it."""
        deadline = draft.deadline.earlier(min(2.0, self._settings.deadline / 10))
        exchange = self._open(model, draft, deadline)
        message = self._steps(exchange, draft, deadline)
        retrieval = draft.retrieval
        if retrieval.failed and not retrieval.searches and not retrieval.sources:
            raise _NotSearched
        judged = self._judged(reply_text(message.content), draft)
        auto = self._settings.route == "auto"
        if draft.one_step and auto and judged.verdict == "not_in_docs":
            draft.one_step = False
            exchange.keep(message)
            exchange.say(prompt("search").template)
            message = self._steps(exchange, draft, deadline)
            judged = self._judged(reply_text(message.content), draft)
        if judged.faults and not draft.is_shown and not draft.cut:
            judged = self._mended(judged, message, exchange, draft)
        grounded = judged.grounded
        if not grounded.text:
            raise ModelUnavailable("nothing but ids never retrieved", "The model gave no answer.")
        cut = f"\n\n_{draft.cut}_" if draft.cut else ""
        web = None
        if judged.verdict == "not_in_docs" and self._settings.web_search:
            web = search_web(model, self._settings, draft, deadline)
        return draft.answer(
            judged.verdict,
            grounded.text + cut + (f"\n\n{web.text}" if web else ""),
            citations=[draft.retrieval.sources[i] for i in grounded.citations],
            removed=grounded.removed,
            unsupported=grounded.unsupported,
            web_links=web.links if web else (),
            reason=draft.cut,
        )

    def _open(self, model: Model, draft: Draft, deadline: Deadline) -> Exchange:
        """The first request's messages; what another model searched already goes along."""
        conversation, retrieval, settings = draft.conversation, draft.retrieval, self._settings
        found = tuple(retrieval.sources.values())
        searched: dict[str, Any] = {}
        if draft.one_step is None and searches_first(conversation, settings):
            [first] = deadline.run([lambda: retrieval.search(query_of(conversation))])
            if first is None:
                raise DeadlinePassed
            found = retrieval.take(first)
            searched = first.search.traced()
            draft.one_step = settings.route == "single" or not first.search.weak
        one_step = draft.one_step = bool(draft.one_step)
        cited = retrieval.supply(recalled(conversation, retrieval.index))
        ids = [passage.id for passage in cited]
        draft.note("open", route=settings.route, one_step=one_step, recalled=ids, **searched)
        profile = model.profile
        newest = question(conversation, profile, settings.conversation_tokens, cited, found)
        native = profile.native_citations
        citations = prompt("citations-native" if native else "citations-brackets")
        system = prompt("system").substitute(
            citations=citations.template, max_searches=settings.max_searches
        )
        messages = [*history(conversation, settings.conversation_tokens), newest]
        check = settings.self_check
        return Exchange(model, profile, system, messages, draft, deadline, self_check=check)

    def _steps(self, exchange: Exchange, draft: Draft, deadline: Deadline) -> Message:
        """Request, run the tools it asks for, request again; every stop reason has its branch."""
        max_tokens = self._settings.max_tokens
        enlarged = nudged = False
        pauses = 0
        while True:
            final = self._is_last_step(draft, deadline)
            message = exchange.request(max_tokens, final=final)
            calls, text, stop = (
                tool_calls(message),
                reply_text(message.content),
                message.stop_reason,
            )
            if stop == "refusal":
                raise ModelUnavailable("refusal", "The model declined to answer this.")
            if stop in ("tool_use", "end_turn") and calls and not (final and nudged):
                nudged = nudged or final  # some gateways let a model call what it may not
                exchange.use_tools(message, lambda: self._is_last_step(draft, deadline))
            elif stop == "pause_turn" and pauses < _PAUSES:
                pauses += 1
                exchange.keep(message)
                if not any(block.type == "server_tool_use" for block in message.content):
                    # Nothing is under way on the server: a message that ends ours is refused.
                    exchange.say(prompt("continue").template)
            elif stop == "max_tokens" and (calls or not text) and not enlarged:
                # The input of a call may be cut in the middle without a sign: it is never run.
                enlarged = True
                max_tokens *= 2
            elif text and not calls:
                if stop in _CUT:
                    draft.cut = "The answer was cut off here: it grew too long."
                return message
            elif nudged or calls:
                raise ModelUnavailable(
                    f"no answer, stop reason {stop}", "The model gave no answer."
                )
            else:
                nudged = True
                exchange.keep(message)
                exchange.say(prompt("continue").template)

    def _is_last_step(self, draft: Draft, deadline: Deadline) -> bool:
        """Whether searches, steps or time are used up, so that the next request must answer."""
        return (
            bool(draft.one_step)
            or not draft.retrieval.searches_left
            or draft.steps >= self._settings.max_steps - 1
            or deadline.left < min(20.0, self._settings.deadline / 4)
        )

    def _mended(self, judged: Judged, message: Message, exchange: Exchange, draft: Draft) -> Judged:
        """The better of the first version and the one that the model makes of it."""
        draft.on_text = None  # which of the two it will be is not known before its end
        draft.note("mend", faults=len(judged.faults))
        faults = "\n".join(f"- {fault}" for fault in judged.faults)
        try:
            mended = exchange.mend(message, faults, self._settings.max_tokens)
        except (ModelUnavailable, DeadlinePassed) as error:
            draft.note("mend_failed", error=str(error) or "deadline")
            return judged
        text = reply_text(mended.content)
        if not text or mended.stop_reason in (*_CUT, "refusal"):
            draft.note("mend_failed", error=f"stop reason {mended.stop_reason}")
            return judged
        second = self._judged(text, draft)
        return second if second.is_better_than(judged) else judged

    def _judged(self, text: str, draft: Draft) -> Judged:
        judged = judge(text, draft.conversation, draft.retrieval)
        draft.note(
            "verify",
            verdict=judged.verdict,
            citations=list(judged.grounded.citations),
            removed=len(judged.grounded.removed),
            unsupported=len(judged.grounded.unsupported),
        )
        return judged


def build_agent(index: Index, settings: AgentSettings, spending: Spending | None = None) -> Agent:
    """The agent that ``settings`` describe; without a key it answers from passages alone.

    ``spending`` knows what was spent today; without it no daily limit holds.
    """
    if not settings.has_key:
        return Agent(index, None, settings)
    fallback = settings.fallback_model
    return Agent(
        index,
        ClaudeModel(settings.model, settings),
        settings,
        fallback=ClaudeModel(fallback, settings) if fallback else None,
        spending=spending,
    )
