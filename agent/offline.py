"""Passages -> an answer without a model: the best of them word for word, and why only that."""

import re
from collections.abc import Sequence

from ingest.documents import Passage

_SHOWN = 3
_LONGEST = 1_500
_TICKS = re.compile(r"`{3,}")


def passages_text(passages: Sequence[Passage], why: str, *, weak: bool = False) -> str:
    """Markdown: one line that says why and what that means, then each passage with its id."""
    if not passages:
        return f"_{why} A search of the docs found nothing for this question._"
    if weak:
        means = "These passages are only loosely related: the docs may not answer this."
    else:
        means = (
            "These are the best-matching passages, word for word; "
            "nobody has checked that they answer the question."
        )
    parts = [f"_{why} {means}_"]
    parts.extend(_quoted(passage) for passage in best(passages))
    return "\n\n".join(parts)


def best(passages: Sequence[Passage]) -> tuple[Passage, ...]:
    """Those that are shown."""
    return tuple(passages[:_SHOWN])


def _quoted(passage: Passage) -> str:
    where = " › ".join(dict.fromkeys((passage.title, *passage.heading)))
    where = re.sub(r"[*_`\[\]<>\n]+", " ", where).strip()
    text = passage.text.strip("\n")
    cut = ""
    if len(text) > _LONGEST:
        text = text[:_LONGEST].rpartition("\n")[0] or text[:_LONGEST]
        cut = "\nThe passage goes on: open it to read the rest."
    # A fence longer than any inside cannot be closed by the passage.
    fence = "`" * max(3, *(len(ticks) + 1 for ticks in _TICKS.findall(text)), 3)
    return f"**{where}** [{passage.id}]\n{fence}\n{text}\n{fence}{cut}"
