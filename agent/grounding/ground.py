"""An answer and the chunks it can cite -> the answer with a mark on each unsupported span.

The check compares strings and needs no model. Every code span, command, flag, path, host, address,
code, quantity, version, date and quoted string must occur in a chunk that its own statement cites.
A span that does not occur there gets a mark that people see. Code stays byte for byte, with the
mark beside it. The check cannot see a dropped "not", or the right figure from the wrong row of a
table.
"""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, ValidationError

from agent.answer import Unsupported, written
from agent.errors import AgentError
from agent.grounding.cited_text import CitedText
from agent.grounding.command_lines import command_words, is_placeholder
from agent.grounding.evidence import Evidence, ThreadWords, supporting
from agent.grounding.ids import WrittenAnswer, read_answer
from agent.grounding.line_breaks import torn_lines
from agent.grounding.marks import MarkedSpan, marked
from agent.grounding.matching import clean, occurs
from agent.grounding.spans import CheckedSpan, find_spans
from agent.grounding.statements import MarkdownBlock, Statement, cited_blocks, statements

_COMMENT = re.compile(r"(?:#|//|--\s|;|REM\s|/\*|<!--)\s?(.*)")
_TRAILING_COMMENT = re.compile(r"(?<!\s)\s++(?:#|//)\s(.*)$")
_NO_CLAIM = re.compile(
    r"[\W_]*|true|false|null|none|yes|no|on|off|done|fi|then|else|esac|do|end|EOF"
    r"|(?:Ctrl|Control|Cmd|Command|Alt|Option|Shift|Esc|Escape|Enter|Return|Tab|Space|F\d{1,2})"
    r"(?: ?[-+] ?\w+)*|\^[A-Z]",
    re.I,
)


@dataclass(frozen=True, slots=True)
class CitableText:
    """A chunk that an answer can cite: retrieved now, or cited earlier in the thread."""

    id: Annotated[str, Field(min_length=1)]
    text: str


@dataclass(frozen=True, slots=True)
class Grounded:
    """The checked answer."""

    body: CitedText
    citations: tuple[str, ...]
    """Ids of the cited chunks, in order of first citation."""
    removed: tuple[str, ...]
    unsupported: tuple[Unsupported, ...]
    verdict: Literal["answered", "partly", "uncited"]
    substantial: tuple[Unsupported, ...] = ()
    """The spans of ``unsupported`` that the model should mend."""

    @property
    def text(self) -> str:
        """Markdown with bracketed ids."""
        return written(self.body.segments)


def ground(
    answer: str, chunks: Sequence[CitableText], *, question: str = "", context: str = ""
) -> Grounded:
    """Check Markdown with bracketed ids, for ``footnote debug ground`` and tests."""
    documented = "\n".join([question, context, *(chunk.text for chunk in chunks)])
    ids = [chunk.id for chunk in chunks]
    written_answer = read_answer(CitedText.plain(answer), ids, documented)
    return check(written_answer, chunks, question=question, context=context)


def check(
    answer: WrittenAnswer, chunks: Sequence[CitableText], *, question: str = "", context: str = ""
) -> Grounded:
    """Check ``answer`` against ``chunks``; ``context`` is other text of the thread."""
    text = answer.text
    findings: list[MarkedSpan] = []
    if text.citations:
        blocks = cited_blocks(text)
        checker = _Checker(text.text, blocks, chunks, ThreadWords(question, context))
        findings = list(checker.findings())
    return Grounded(
        body=marked(text, findings),
        citations=text.ids,
        removed=answer.removed,
        unsupported=tuple(finding.unsupported for finding in findings),
        verdict="uncited" if not text.citations else "partly" if findings else "answered",
        substantial=tuple(f.unsupported for f in findings if f.substantial),
    )


@lru_cache(maxsize=256)
def _evidence(name: str, text: str) -> Evidence:
    """Cached, since a mended answer is checked against the same chunks again."""
    return Evidence(name, text)


class _Checker:
    """Checks the statements of one answer."""

    def __init__(
        self,
        text: str,
        blocks: Sequence[MarkdownBlock],
        chunks: Sequence[CitableText],
        thread: ThreadWords,
    ) -> None:
        self.text = text
        self.blocks = blocks
        self.thread = thread
        self.results: dict[tuple[object, ...], bool] = {}
        """Results so far: long answers repeat themselves."""
        today = datetime.now(UTC)
        self.today = (today.year, today.month, today.day)
        self.chunks = {chunk.id: _evidence(chunk.id, chunk.text) for chunk in chunks}
        self.documents = {chunk.id for chunk in chunks}
        self.documents |= {re.sub(r"-\d+$", "", each) for each in self.documents}
        groups = Counter(block.group for block in blocks if block.group is not None)
        self.counts = set(groups.values())

    def findings(self) -> Iterator[MarkedSpan]:
        for statement in statements(self.text, self.blocks):
            if statement.block.kind == "code":
                yield from self._in_block(statement)
            else:
                yield from self._in_text(statement)

    def _in_text(self, statement: Statement) -> Iterator[MarkedSpan]:
        block = statement.block
        span = (statement.start, statement.end)
        supported: list[str] = []
        failing: list[CheckedSpan] = []
        for each in find_spans(self.text, span, statement.citations, block.code):
            if not self._is_fine(each, statement.ids):
                failing.append(each)
            elif each.kind == "code":
                supported.append(each.text)
        for checked in _outermost(failing):
            value = checked.value
            if value and not value.unit and any(occurs(value.text, code) for code in supported):
                continue  # the number is part of a command that is supported
            unsupported = Unsupported(checked.text, self._reason(checked, statement.ids))
            yield MarkedSpan(checked.end, unsupported, checked.kind != "quote")

    def _in_block(self, statement: Statement) -> Iterator[MarkedSpan]:
        block = statement.block
        code = self.text[block.inner[0] : block.inner[1]]
        lines = list(_logical_lines(code))
        cited = [self.chunks[each] for each in statement.ids]
        commands = [each for each in lines if not _COMMENT.fullmatch(each[1])]

        def tears(first: str, second: str) -> bool:
            return any(chunk.tears(first, second, self.thread) for chunk in cited)

        torn = dict(torn_lines(commands, tears))
        if len(lines) > 1 and not torn and any(each.has(" ".join(code.split())) for each in cited):
            return  # only the line breaks differ
        for number, line in lines:
            reasons = {
                each.text: self._reason(each, statement.ids)
                for each in self._in_line(line, statement.ids)
            }
            if not reasons and number in torn:
                reasons[line] = _shortened_before(torn[number])
            for text, reason in reasons.items():
                yield MarkedSpan(block.end, Unsupported(text, reason), True, block, number)

    def _in_line(self, line: str, ids: Sequence[str]) -> Iterator[CheckedSpan]:
        """The unsupported spans in a line of a code block: mostly none, or the whole line."""
        comment = _COMMENT.fullmatch(line)
        if comment:
            yield from self._in_comment(comment.group(1), ids)
            return
        whole = CheckedSpan("code", 0, 0, line)
        if self._is_fine(whole, ids):
            return
        remark = _TRAILING_COMMENT.search(line)
        bare = CheckedSpan("code", 0, 0, line[: remark.start()]) if remark else whole
        if not remark or not self._is_fine(bare, ids):
            yield whole
        else:
            yield from self._in_comment(remark.group(1), ids)

    def _in_comment(self, text: str, ids: Sequence[str]) -> Iterator[CheckedSpan]:
        spans = find_spans(text, (0, len(text)), (0, 0), (), comment=True)
        yield from _outermost([each for each in spans if not self._is_fine(each, ids)])

    def _is_fine(self, checked: CheckedSpan, ids: Sequence[str]) -> bool:
        key = (checked.kind, checked.text, checked.denied, checked.things, *ids)
        if key not in self.results:
            cited = [self.chunks[each] for each in ids]
            fine = self._is_no_claim(checked, cited)
            self.results[key] = fine or supporting(cited, checked, self.thread) is not None
        return self.results[key]

    def _is_no_claim(self, checked: CheckedSpan, cited: Sequence[Evidence]) -> bool:
        """Return True if the span needs no support.

        That holds for words of the question, placeholders, names of the retrieved documents, and
        counts of a list.
        """
        text, value = checked.text, checked.value
        if value is not None:
            if checked.denied and self.thread.states(value):
                return True
            if value.spelt and not value.unit:
                # "Two ways" counts what the answer lists, unless the docs count the same things.
                return value.number < 2 or not any(
                    thing in chunk.values.counted for chunk in cited for thing in checked.things
                )
            if self.today in value.dates:
                return True
            return checked.counts_things and value.number in self.counts
        if checked.denied and (self.thread.names(text) or re.fullmatch(r"[a-z]{1,12}", text)):
            return True
        if _NO_CLAIM.fullmatch(text) or is_placeholder(text):
            return checked.kind != "quote"
        if text in self.documents or text.removesuffix(".md") in self.documents:
            return True
        return self.thread.excuses(checked)

    def _reason(self, checked: CheckedSpan, ids: Sequence[str]) -> str:
        cited = [self.chunks[each] for each in ids]
        if checked.kind == "code":
            for chunk in cited:
                if missing := chunk.shortened(checked.text):
                    return _shortened_before(missing)
        others = [chunk for name, chunk in self.chunks.items() if name not in ids]
        elsewhere = supporting(others, checked, self.thread)
        hint = f"; it is in {elsewhere.name}" if elsewhere else ""
        if not cited:
            return f"no source cited{hint}"
        where = cited[0].name if len(cited) == 1 else "the cited pages"
        value = checked.value
        in_thread = self.thread.names(checked.text) if value is None else self.thread.states(value)
        if in_thread and not elsewhere:
            return f"from the thread, not in {where}"
        if checked.kind == "code" and not elsewhere:
            unknown = self._unknown_words(checked.text, cited)
            if unknown:
                return f"not in {where}: {' '.join(unknown[:3])}"
        return f"not in {where}{hint}"

    def _unknown_words(self, text: str, cited: Sequence[Evidence]) -> list[str]:
        words = command_words(clean(text))
        if len(words) < 2:
            return []
        return [
            word
            for word in words
            if not self.thread.names(word) and not any(chunk.has(word) for chunk in cited)
        ]


def _outermost(spans: Sequence[CheckedSpan]) -> Iterator[CheckedSpan]:
    """The spans in order, without those inside another: a path in a command needs no own mark."""
    end = -1
    for span in sorted(spans, key=lambda each: (each.start, -each.end)):
        if span.end > end:
            yield span
            end = span.end


def _shortened_before(missing: str) -> str:
    """Return the reason of a command that ends before ``missing``."""
    return f"shortened: the docs go on with {missing}"


def _logical_lines(code: str) -> Iterator[tuple[int, str]]:
    """Lines that are not empty, with their numbers from 1; continued lines are joined."""
    joined, first = "", 0
    for number, line in enumerate(code.split("\n"), 1):
        first = first or number
        if line.rstrip().endswith("\\"):
            joined += line.rstrip()[:-1] + " "
            continue
        whole = (joined + line).strip()
        if whole:
            yield first, whole
        joined, first = "", 0
    if joined.strip():
        yield first, joined.strip()


class _Request(BaseModel):
    """The input of ``footnote debug ground``."""

    answer: str
    question: str | None = None
    context: str | None = None
    passages: list[CitableText] | None = None
    thread_ids: list[CitableText] | None = None


def ground_json(request: Any) -> dict[str, Any]:
    """Run ``footnote debug ground``: the verdict on an answer, as JSON values.

    Raises AgentError if the request is malformed.
    """
    try:
        parsed = _Request.model_validate(request)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"])) or "input"
        raise AgentError(
            f"debug ground: {where}: {fault['msg']}. Give {{answer, passages: [{{id, text}}, …]}}."
        ) from None
    chunks = {chunk.id: chunk for chunk in (*(parsed.passages or ()), *(parsed.thread_ids or ()))}
    grounded = ground(
        parsed.answer,
        list(chunks.values()),
        question=parsed.question or "",
        context=parsed.context or "",
    )
    return {
        "verdict": grounded.verdict,
        "text": grounded.text,
        "citations": list(grounded.citations),
        "removed": list(grounded.removed),
        "unsupported": [asdict(unsupported) for unsupported in grounded.unsupported],
    }
