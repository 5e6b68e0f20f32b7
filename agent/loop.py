"""Conversation -> Answer: the loop of requests and tool calls, and the ways out when it fails.

Every question gets an answer: the model's within the deadline, else the passages alone. The model's
text is checked against the passages before anybody sees it.
"""

import logging
import threading
from collections.abc import Callable, Sequence

from anthropic.types import Message

from agent.answer import Answer
from agent.asides.web import search_web
from agent.conversation import Conversation
from agent.draft import Draft
from agent.errors import BudgetSpent, Cancelled, ModelUnavailable, ParameterRefused
from agent.exchange import Exchange, has_text, tool_calls
from agent.fallback import HELP, passages_answer
from agent.grounding.cited_text import CitedText, joined
from agent.history import fitted, history, question, recalled
from agent.model.budget import Budget, Spending
from agent.model.client import ClaudeModel, Model
from agent.model.deadline import Deadline, DeadlinePassed
from agent.preview import Preview
from agent.prompts import prompt
from agent.route import Route
from agent.searches import Retrieval, SearchCache
from agent.settings import AgentSettings
from agent.tools import Corpus
from agent.trace import Progress
from agent.verdict import Judgement, judge
from ingest.errors import IngestError, UnknownCollection
from ingest.index import Index

__all__ = ["Agent", "Progress", "build_agent"]

log = logging.getLogger(__name__)

_FEWEST_SHARE = 0.15
"""Share of the deadline that has to be left for a model."""
_PAUSES = 2
_CUT = ("max_tokens", "model_context_window_exceeded")
_CORPORA = 50
"""Maximum number of descriptions of the docs in memory, one for each selection of collections."""


class _NotSearched(Exception):
    """None of the model's searches could be made, so its answer has no basis."""


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

        ``on_paragraph`` receives the checked beginning of the answer each time it grows, and
        returns whether people see it. An answer that people see is not mended. The returned answer
        continues that beginning, or replaces it if the model began again.
        """
        draft = self._begin(conversation, on_progress, cancel)
        if not conversation.question.strip() and not any(t.text for t in conversation.earlier):
            return draft.answer("no_search", CitedText(HELP))
        why = "No language model is set up."
        models = self._models
        if models and draft.deadline.left < _FEWEST_SHARE * self._settings.deadline:
            why, models = "Too many questions came first, so no time is left for the model.", []
            draft.record("degrade", error="waited")
        preview, route = Preview(draft, on_paragraph), Route(draft, self._settings)
        for model in models:
            attempt = _Attempt(model, self._settings, draft, preview, route)
            try:
                return attempt.answer()
            except DeadlinePassed:
                why = "The model did not answer in time."
                draft.record("degrade", model=model.name, error="deadline")
                break
            except BudgetSpent as error:
                why = error.reason
                draft.record("degrade", error=str(error))
                break
            except ModelUnavailable as error:
                why = error.reason
                draft.record("degrade", model=model.name, error=str(error))
                log.warning("answer %s: %s", draft.id, error)
            except Cancelled:
                raise
            except (IngestError, _NotSearched) as error:
                why = "The model could not search the docs."
                draft.record("degrade", model=model.name, error=type(error).__name__)
                log.warning("answer %s: %s", draft.id, error)
                break
            except Exception as error:  # any error: passages are better than nothing
                why = "Answering with the model failed."
                draft.record("degrade", model=model.name, error=type(error).__name__)
                log.exception("answer %s", draft.id)
                break
        return passages_answer(draft, why, self._settings.deadline)

    def _begin(
        self,
        conversation: Conversation,
        on_progress: Callable[[Progress], None] | None,
        cancel: threading.Event | None,
    ) -> Draft:
        deadline = Deadline(self._settings.deadline, cancel, spent=conversation.waited)
        index, corpus = self._scoped(conversation.collections), Corpus(())
        revision, version = None, str(conversation.collections)
        try:
            status = self._index.status()
            revision = status.revision.label if status.revision else None
            version = f"{revision} {status.ingested_at} {version}"
            pages = status.documents if status.growth else ""
            corpus = self._corpus(f"{version} {pages}", index)
            version += f" {status.growth}"
        except IngestError as error:
            log.warning("index: %s", error)
        except Exception:  # the answer reports the failure, if it needs the index
            log.exception("index")
        retrieval = Retrieval(index, self._cache, version, self._settings.max_searches)
        thread = fitted(conversation, self._settings.conversation_tokens)
        return Draft(thread, deadline, retrieval, revision, on_progress, corpus, self._budget)

    def _scoped(self, collections: Sequence[str] | None) -> Index:
        if collections is None:
            return self._index
        try:
            return self._index.within(collections)
        except UnknownCollection as error:
            log.warning("index: %s", error)
            return self._index.within(())  # search nothing, rather than documents hidden here

    def _corpus(self, version: str, index: Index) -> Corpus:
        """Describe the docs for the model: with the same words until the next ingest."""
        corpus = self._corpora.get(version)
        if corpus is None:
            corpus = Corpus(index.documents(), index.collections())
            if len(self._corpora) >= _CORPORA:
                self._corpora.clear()
            self._corpora[version] = corpus
        return corpus


class _Attempt:
    """One model's attempt at an answer."""

    def __init__(
        self, model: Model, settings: AgentSettings, draft: Draft, preview: Preview, route: Route
    ) -> None:
        self._model = model
        self._settings = settings
        self._draft = draft
        self._preview = preview
        self._route = route
        self._deadline = draft.deadline.earlier(min(2.0, settings.deadline / 10))

    def answer(self) -> Answer:
        """Return the answer. Raises ModelUnavailable, DeadlinePassed, Cancelled or _NotSearched."""
        while True:
            try:
                return self._converse()
            except ParameterRefused as error:
                # The same model gets a plainer request each time.
                log.info("answer %s: %s", self._draft.id, error)

    def _converse(self) -> Answer:
        """Take steps until there is a text, check it, and give the model one chance to mend it."""
        draft, retrieval = self._draft, self._draft.retrieval
        exchange = self._open()
        message = self._steps(exchange)
        if retrieval.has_failed and not retrieval.searches and not retrieval.passages:
            raise _NotSearched
        judgement = self._judge(message)
        if more := self._route.second_try(judgement):
            exchange.keep(message)
            exchange.say(more)
            message = self._steps(exchange)
            judgement = self._judge(message)
        if judgement.faults and not self._preview.is_seen and not draft.cut:
            judgement = self._mended(judgement, message, exchange)
        grounded = judgement.grounded
        if not grounded.body:
            raise ModelUnavailable("nothing but ids never retrieved", "The model gave no answer.")
        parts = [grounded.body]
        if draft.cut:
            parts.append(CitedText(f"_{draft.cut}_"))
        web = None
        if judgement.verdict == "not_in_docs" and self._settings.web_search:
            web = search_web(self._model, self._settings, draft, self._deadline)
        if web:
            parts.append(web.text)
        return draft.answer(
            judgement.verdict,
            joined(parts, "\n\n"),
            citations=[retrieval.passages[i] for i in grounded.citations],
            removed=grounded.removed,
            unsupported=grounded.unsupported,
            web_links=web.links if web else (),
            reason=draft.cut,
        )

    def _open(self) -> Exchange:
        """Write the first request, with the passages of all searches so far."""
        draft, settings, profile = self._draft, self._settings, self._model.profile
        conversation, retrieval = draft.conversation, draft.retrieval
        first = self._route.first_search(self._deadline)
        passages = retrieval.take(first) if first else tuple(retrieval.passages.values())
        cited = retrieval.supply(recalled(conversation, retrieval.index))
        draft.record(
            "open",
            route=settings.route,
            one_step=self._route.is_one_step,
            recalled=[passage.id for passage in cited],
            **(first.search.traced() if first else {}),
        )
        newest = question(
            conversation,
            profile,
            settings.conversation_tokens,
            cited,
            passages,
            self._draft.corpus.names,
        )
        native = profile.native_citations
        citations = prompt("citations-native" if native else "citations-brackets")
        system = prompt("system").substitute(
            citations=citations.template, max_searches=settings.max_searches
        )
        return Exchange(
            self._model,
            profile,
            system,
            [*history(conversation), newest],
            draft,
            self._preview,
            self._deadline,
            self_check=settings.self_check,
        )

    def _steps(self, exchange: Exchange) -> Message:
        """Send requests, and run the tools that the model calls; every stop reason has a branch."""
        max_tokens = self._settings.max_tokens
        enlarged = nudged = False
        pauses = 0
        while True:
            final = self._must_answer()
            message = exchange.request(max_tokens, final=final)
            calls, text, stop = tool_calls(message), has_text(message), message.stop_reason
            if stop == "refusal":
                raise ModelUnavailable("refusal", "The model declined to answer this.")
            if stop in ("tool_use", "end_turn") and calls and not (final and nudged):
                nudged = nudged or final  # some gateways let a model call tools in a final step
                exchange.use_tools(message, self._must_answer)
            elif stop == "pause_turn" and pauses < _PAUSES:
                pauses += 1
                exchange.keep(message)
                if not any(block.type == "server_tool_use" for block in message.content):
                    # The server continues none of its tools, and a request must not end with the
                    # model's message.
                    exchange.say(prompt("continue").template)
            elif stop == "max_tokens" and (calls or not text) and not enlarged:
                # The input of a call may be cut in the middle without a sign: it is never run.
                enlarged = True
                max_tokens *= 2
            elif text and not calls:
                if stop in _CUT:
                    self._draft.cut_off("The answer was cut off here: it grew too long.")
                return message
            elif nudged or calls:
                raise ModelUnavailable(
                    f"no answer, stop reason {stop}", "The model gave no answer."
                )
            else:
                nudged = True
                exchange.keep(message)
                exchange.say(prompt("continue").template)

    def _must_answer(self) -> bool:
        return self._route.must_answer(self._deadline)

    def _mended(self, first: Judgement, message: Message, exchange: Exchange) -> Judgement:
        """Let the model write its answer again, and return the better one of the two."""
        draft = self._draft
        self._preview.stop()  # only the end decides which of the two is shown
        draft.record("mend", faults=len(first.faults))
        faults = "\n".join(f"- {fault}" for fault in first.faults)
        try:
            mended = exchange.mend(message, faults, self._settings.max_tokens)
        except (ModelUnavailable, DeadlinePassed) as error:
            draft.record("mend_failed", error=str(error) or "deadline")
            return first
        if not has_text(mended) or mended.stop_reason in (*_CUT, "refusal"):
            draft.record("mend_failed", error=f"stop reason {mended.stop_reason}")
            return first
        second = self._judge(mended)
        return second if second.is_better_than(first) else first

    def _judge(self, message: Message) -> Judgement:
        draft = self._draft
        judgement = judge(draft.read(message.content), draft.conversation, draft.retrieval)
        draft.record(
            "verify",
            verdict=judgement.verdict,
            citations=list(judgement.grounded.citations),
            removed=len(judgement.grounded.removed),
            unsupported=len(judgement.grounded.unsupported),
        )
        return judgement


def build_agent(index: Index, settings: AgentSettings, spending: Spending | None = None) -> Agent:
    """Build the agent that ``settings`` describe; without a key it answers from passages alone.

    ``spending`` records what requests cost; without it no daily limit holds.
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
