"""A model's text while it grows -> the part of it that people can see already.

People cannot unsee text. So a part is shown only up to the last whole block that cites, and only
while the check finds nothing to mark. Small talk, an answer that the docs do not support, and words
before a tool call stay hidden until the answer is complete.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from anthropic.types import TextBlock

from agent.answer import Answer
from agent.draft import Draft
from agent.errors import ModelUnavailable
from agent.grounding.cited_text import CitedText
from agent.grounding.statements import cited_blocks, read_blocks
from agent.trace import Progress
from agent.verdict import judge

_SHORT = 2_000
"""Number of characters up to which a text is read each time that it has grown."""
_GROWTH = 1.1
"""Growth of a longer text, as a factor, after which it is read again."""


class Preview:
    """Listens to the model and calls ``show`` with the answer so far.

    ``show`` returns whether people see it; without ``show`` they see only the progress.
    """

    def __init__(self, draft: Draft, show: Callable[[Answer], bool] | None) -> None:
        self._draft = draft
        self._show = show
        self._whole = ""
        self._read = 0
        """Length of the text that was read last."""
        self._visible = CitedText()
        self.is_seen = False
        """True if people see a part of the answer, which can be continued, but not mended."""

    def sending(self) -> None:
        """Show nothing."""

    def began(self) -> None:
        """A text begins."""
        self._draft.show(Progress("writing"))

    def retried(self, error: ModelUnavailable, wait: float) -> None:
        """The request is sent again after ``wait`` seconds."""
        self._draft.record("retry", error=str(error), wait=round(wait, 3))

    def stop(self) -> None:
        """Show no more parts."""
        self._show = None

    def wrote(self, content: Sequence[TextBlock]) -> None:
        """``content`` is all the text that the model has written in its message."""
        if self._show is None:
            return
        words = "".join(block.text for block in content)
        # The text is read as a whole each time: in steps that grow with it, or a long text would
        # cost the square of its length.
        if _SHORT < self._read <= len(words) < self._read * _GROWTH:
            return
        self._read = len(words)
        whole = _whole_blocks(words)
        if whole in ("", self._whole):
            return
        self._whole = whole
        draft = self._draft
        written = draft.read(content)
        end = len(_whole_blocks(written.text.text))
        judgement = judge(
            replace(written, text=written.text.upto(end)), draft.conversation, draft.retrieval
        )
        if judgement.verdict != "answered":
            return
        text = judgement.grounded.body
        ends = [block.end for block in cited_blocks(text) if block.citations]
        visible = text.upto(ends[-1] if ends else 0)
        if visible and visible != self._visible:
            self._visible = visible
            cited = [draft.retrieval.passages[i] for i in judgement.grounded.citations]
            self.is_seen = self._show(draft.so_far(visible, cited))


def _whole_blocks(text: str) -> str:
    """``text`` without its last block, which may go on."""
    blocks = read_blocks(text)[:-1]
    return text[: blocks[-1].end] if blocks else ""
