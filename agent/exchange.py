"""The messages between Footnote and one model within one answer.

Messages are only appended, so each request begins with the bytes of the one before.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from anthropic.types import Message, ToolUseBlock

from agent.asides.self_check import reflect
from agent.draft import Draft
from agent.errors import ToolError
from agent.model.client import Model, Request
from agent.model.deadline import Deadline
from agent.model.http_call import Listener
from agent.model.profiles import Profile
from agent.passages import passage_blocks
from agent.prompts import prompt
from agent.tools import TOOLS, ToolResult, definitions, run_tool, taken_in
from agent.tools.base import arguments_of, failure
from agent.tools.search_docs import SearchDocs

_BY_NAME = {tool.name: tool for tool in TOOLS}


class Exchange:
    """The conversation with one model."""

    def __init__(
        self,
        model: Model,
        profile: Profile,
        system: str,
        messages: list[dict[str, Any]],
        draft: Draft,
        listener: Listener,
        deadline: Deadline,
        *,
        self_check: bool = False,
    ) -> None:
        self.model = model
        self._profile = profile
        self._system = system
        self._tools = definitions(TOOLS, draft.corpus, strict=profile.strict_tools)
        self._messages = messages
        self._draft = draft
        self._listener = listener
        self._deadline = deadline
        self._previous: str | None = None
        self._to_be_checked = self_check

    def request(self, max_tokens: int, *, final: bool, attempts: int = 3) -> Message:
        """Take one step: send all messages so far to the model. Raises BudgetSpent, and what the
        model raises.
        """
        draft = self._draft
        draft.account.check()
        draft.begin_step(self.model.name)
        draft.record(
            "request",
            step=draft.steps,
            model=self.model.name,
            messages=len(self._messages),
            characters=sum(len(str(message["content"])) for message in self._messages),
            final=final,
            max_tokens=max_tokens,
        )
        request = Request(
            self._system,
            self._tools,
            list(self._messages),
            max_tokens,
            final=final,
            previous=self._previous,
            attempts=attempts,
            profile=self._profile,
        )
        message, cost = draft.account.respond(self.model, request, self._deadline, self._listener)
        self._previous = message.id
        missed = message.diagnostics.cache_miss_reason if message.diagnostics else None
        draft.record(
            "response",
            step=draft.steps,
            stop=message.stop_reason,
            calls=[call.name for call in tool_calls(message)],
            characters=sum(len(b.text) for b in message.content if b.type == "text"),
            **({"cache_miss": missed.type} if missed else {}),
            **cost,
        )
        return message

    def keep(self, message: Message) -> None:
        """Append the model's message with its thinking, which belongs to the messages before it.

        Only blank texts are left out: models write them, but the API refuses them in a request.
        """
        content: list[Any] = [b for b in message.content if b.type != "text" or b.text.strip()]
        content = content or [{"type": "text", "text": "(nothing)"}]
        self._messages.append({"role": "assistant", "content": content})

    def say(self, text: str) -> None:
        self._messages.append({"role": "user", "content": [{"type": "text", "text": text}]})

    def mend(self, message: Message, faults: str, max_tokens: int) -> Message:
        """Tell the model the faults of its answer, and return its next one."""
        self.keep(message)
        self.say(prompt("mend").substitute(faults=faults))
        return self.request(max_tokens, final=True, attempts=1)

    def use_tools(self, message: Message, is_last: Callable[[], bool]) -> None:
        """Run the message's tool calls at the same time, and append all results in one message.

        ``is_last`` is called after the calls, and tells whether they were the last ones: then the
        results say so.
        """
        calls = tool_calls(message)
        self.keep(message)
        # Half of the remaining time: a tool that hangs must leave some for the answer.
        deadline = self._deadline.earlier(self._deadline.left / 2)
        results = deadline.run([partial(self._run, call) for call in calls])
        answers = [
            self._taken_in(call, result) for call, result in zip(calls, results, strict=True)
        ]
        self._check(answers)
        budget = self._budget(is_last())
        if not self._profile.system_notes:
            answers[-1].facts["budget"] = budget
        self._messages.append(
            {
                "role": "user",
                "content": [
                    self._result(call, result) for call, result in zip(calls, answers, strict=True)
                ],
            }
        )
        if self._profile.system_notes:
            self._messages.append({"role": "system", "content": budget})

    def _check(self, results: Sequence[ToolResult]) -> None:
        """Add the model's judgement of the passages to the results of the first search."""
        passages = [p for result in results if result.search for p in result.passages]
        if not self._to_be_checked or not passages:
            return
        self._to_be_checked = False
        question = self._draft.conversation.question
        reflection = reflect(question, passages, self.model, self._draft, self._deadline)
        if reflection:
            results[-1].facts["check"] = str(reflection)

    def _run(self, call: ToolUseBlock) -> tuple[ToolResult, float]:
        """Run one call in a thread that may be abandoned; return its result and its seconds."""
        draft = self._draft
        began = draft.deadline.spent
        tool = _BY_NAME.get(call.name)
        if tool is not None:
            try:
                progress = tool.progress(arguments_of(tool, call.input))
                draft.show(progress)
                draft.record("tool_call", name=call.name, detail=progress.detail)
            except ToolError as error:
                draft.record("tool_call", name=call.name, malformed=str(error)[:200])
        result = run_tool(tool, call.name, call.input, draft.retrieval)
        return result, draft.deadline.spent - began

    def _taken_in(self, call: ToolUseBlock, ran: tuple[ToolResult, float] | None) -> ToolResult:
        """Count the result; ``ran`` is None if the call was abandoned. Return it as the model gets
        it.
        """
        draft = self._draft
        result, seconds = ran or (failure("This took too long and was given up."), None)
        result = taken_in(result, draft.retrieval)
        if result.failed and call.name == SearchDocs.name:
            draft.retrieval.search_failed()
        search = result.search.search if result.search else None
        draft.record(
            "tool_result",
            name=call.name,
            failed=result.failed,
            given=[passage.id for passage in result.passages],
            seconds=None if seconds is None else round(seconds, 3),
            **({"query": search.query, **search.traced()} if search else {}),
        )
        return result

    def _result(self, call: ToolUseBlock, result: ToolResult) -> dict[str, Any]:
        native = self._profile.native_citations
        block = {
            "type": "tool_result",
            "tool_use_id": call.id,
            "content": passage_blocks(result.passages, result.facts, native=native),
        }
        return {**block, "is_error": True} if result.failed else block

    def _budget(self, last: bool) -> str:
        retrieval = self._draft.retrieval
        line = f"Searches left: {retrieval.searches_left} of {retrieval.max_searches}."
        if last:
            line += " No more tool calls are possible: the next message is the answer."
        return line


def has_text(message: Message) -> bool:
    return any(block.type == "text" and block.text.strip() for block in message.content)


def tool_calls(message: Message) -> Sequence[ToolUseBlock]:
    return [block for block in message.content if block.type == "tool_use"]
