"""A model's text while it grows -> the part of it that people may see already.

What was shown cannot be taken back. So only whole blocks are shown, only up to the last one that
cites, and only while the check finds nothing to mark: small talk, an answer that the docs do not
carry, and words before a tool call stay hidden until all of the answer is known.
"""

from collections.abc import Callable

from agent.answer import Answer
from agent.draft import Draft
from agent.grounding.ids import Brackets, settle
from agent.grounding.statements import read_blocks
from agent.verdict import judge


class Preview:
    """Feeds ``show`` with the answer so far; it tells whether the answer goes on from there."""

    def __init__(self, draft: Draft, show: Callable[[Answer], bool]) -> None:
        self._draft = draft
        self._show = show
        self._checked = ""
        self._shown = ""

    def grow(self, text: str) -> None:
        """``text`` is all that the model has written of its message."""
        blocks = read_blocks(text)[:-1]  # the last one may go on
        whole = text[: blocks[-1].end] if blocks else ""
        if whole == self._checked or not whole:
            return
        self._checked = whole
        draft = self._draft
        judged = judge(whole, draft.conversation, draft.retrieval)
        if judged.verdict != "answered":
            return
        checked = judged.grounded.text
        sources = draft.retrieval.sources
        _, found, _ = settle(checked, Brackets(list(sources), ""))
        citing = [block for block in found if block.citations]
        shown = checked[: citing[-1].end] if citing else ""
        if shown in ("", self._shown):
            return
        self._shown = shown
        cited = [sources[i] for i in judged.grounded.citations]
        draft.is_shown = self._show(draft.so_far(shown, cited))
