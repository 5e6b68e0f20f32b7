"""The model's message -> its text, with citations as data.

With native citations the API splits the text into blocks, and each block points at the passages
that support it. Elsewhere the model writes ``[chunk-id]`` itself. Both become ``CitedText`` here.
No other module looks for citations in the text of an answer.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import NamedTuple

from anthropic.types import ContentBlock, TextBlock

from agent.answer import Citation
from agent.grounding import WrittenAnswer, read_answer
from agent.grounding.cited_text import MARK, CitedText, Edit, joined
from agent.grounding.statements import MarkdownBlock, block_at, code_at, read_blocks
from agent.passages import fence_after
from ingest.invisible import JOINERS, without_hidden

_LINE_END = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_ODD_BLANK = re.compile(r"[^\S \t\n]")
_JOINING = "".join(JOINERS) + "\ufe0e\ufe0f"
_LONGEST_FENCE = 200
"""Number of characters at the beginning of a line that are enough to know a fence."""
_MOST_PARAGRAPHS = 100
"""Maximum number of paragraphs of one pointer: a server's numbers must not fill the memory."""


def read_content(
    content: Iterable[ContentBlock], ids: Collection[str], documented: str = ""
) -> WrittenAnswer:
    """Read a message that can cite ``ids``; ``documented`` is all the text that the model was
    given.
    """
    text = text_of(_without_hidden(content))
    return read_answer(CitedText(_plain_blanks(text.text), text.citations), ids, documented)


def _without_hidden(content: Iterable[ContentBlock]) -> Iterator[ContentBlock]:
    """The message without characters that nobody sees, so that people get what is checked.

    A line end of any kind becomes ``\\n``.
    """
    last = ""
    for block in content:
        if block.type != "text":
            yield block
            continue
        text = _LINE_END.sub("\n", block.text)
        # A joiner belongs to the character before it, which may be in another block.
        shown = without_hidden(last + text)[len(last) :]
        last = shown.rstrip(_JOINING)[-1:] or last
        yield block if shown == block.text else block.model_copy(update={"text": shown})


def _plain_blanks(text: str) -> str:
    """The text with a plain blank for each other kind in code, where a program reads it."""
    if not _ODD_BLANK.search(text):
        return text
    out, at = [], 0
    for block in read_blocks(text):
        for start, end in [(block.start, block.end)] if block.kind == "code" else block.code:
            out += [text[at:start], _ODD_BLANK.sub(" ", text[start:end])]
            at = end
    return "".join([*out, text[at:]])


def text_of(content: Iterable[ContentBlock]) -> CitedText:
    """The text of a message with the API's citations; bracketed ids are still text."""
    blocks = [block for block in content if block.type == "text"]
    texts = list(_with_line_ends(block.text.replace(MARK, "") for block in blocks))
    text = "".join(texts)
    markdown = read_blocks(text) if any(block.citations for block in blocks) else []
    insertions: dict[_Insertion, dict[str, Citation]] = {}
    end = stop = 0
    for block, words in zip(blocks, texts, strict=True):
        begin, end = end, end + len(words)
        stop = begin + len(words.rstrip()) if words.strip() else stop
        for citation in _citations(block):
            in_brackets = text.find(f"[{citation.id}]", begin, end)
            if in_brackets != -1 and not code_at(markdown, in_brackets):
                insertion: _Insertion | None = _Insertion(in_brackets, in_brackets)
            else:
                insertion = _insertion(text, stop, end, markdown)
            if insertion is not None:
                cited = insertions.setdefault(insertion, {})
                cited[citation.id] = _merged(cited.get(citation.id), citation)
    return (
        CitedText(text)
        .edited(
            insertion.filled(insertions[insertion].values()) for insertion in sorted(insertions)
        )
        .strip()
    )


def _with_line_ends(texts: Iterable[str]) -> Iterator[str]:
    """The texts of blocks, with the line end after a closing fence that some gateways drop."""
    fence: str | None = None
    line = ""
    for words in texts:
        is_cut = fence is not None and line and words and not words.startswith("\n")
        text = f"\n{words}" if is_cut and fence_after(line, fence) is None else words
        yield text
        first, *others = text.split("\n")
        *whole, line = [(line + first)[:_LONGEST_FENCE], *others]
        for each in whole:
            fence = fence_after(each, fence)


class _Insertion(NamedTuple):
    """A place for citations: the offsets to replace, and the text around the citations there."""

    start: int
    end: int
    before: str = ""
    after: str = ""

    def filled(self, citations: Iterable[Citation]) -> Edit:
        return self.start, self.end, joined((self.before, CitedText.citing(*citations), self.after))


def _citations(block: TextBlock) -> Iterator[Citation]:
    """The citations of a block. The SDK does not check fields, and some gateways omit fields."""
    for pointer in block.citations or ():
        if pointer.type == "search_result_location" and pointer.source:
            first, end = pointer.start_block_index or 0, pointer.end_block_index or 0
            paragraphs = range(first, end)[:_MOST_PARAGRAPHS]
            yield Citation(pointer.source, pointer.cited_text or "", tuple(paragraphs))


def _merged(first: Citation | None, second: Citation) -> Citation:
    """One citation for two pointers to the same passage."""
    if first is None:
        return second
    quotes = dict.fromkeys((first.cited_text, second.cited_text))
    paragraphs = sorted({*first.paragraphs, *second.paragraphs})
    return Citation(first.id, "\n".join(filter(None, quotes)), tuple(paragraphs))


def _insertion(
    text: str, stop: int, end: int, markdown: Sequence[MarkdownBlock]
) -> _Insertion | None:
    """Find the place for citations of the text before ``stop``: within the sentence or the table
    cell, behind a code span, or below a code block.

    From ``stop`` to ``end`` there are only blanks. Returns None if the code block has no end.
    """
    block = block_at(markdown, stop - 1)
    if block is not None and block.kind == "code":
        return None if block.fence else _Insertion(block.end, max(block.end, end), "\n", "\n")
    line = text.rfind("\n", 0, stop) + 1
    if text.endswith("|", line, stop) and text[line:stop].lstrip().startswith("|"):
        return _Insertion(line + len(text[line : stop - 1].rstrip()), stop, " ", " |")
    if text.endswith((".", "!", "?", ":", ";", ","), 0, stop):
        stop -= 1
    code = code_at(markdown, stop)
    at = code[1] if code is not None and code[0] < stop else stop
    return _Insertion(at, at, " ")
