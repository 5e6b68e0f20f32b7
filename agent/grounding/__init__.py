"""An answer and the passages it may cite -> the answer as it may be shown, each claim checked."""

from agent.grounding.ground import CitableText, Grounded, check, ground, ground_json
from agent.grounding.ids import (
    WrittenAnswer,
    named_ids,
    read_answer,
    read_citations,
    read_segments,
)
from agent.grounding.statements import code_spans

__all__ = [
    "CitableText",
    "Grounded",
    "WrittenAnswer",
    "check",
    "code_spans",
    "ground",
    "ground_json",
    "named_ids",
    "read_answer",
    "read_citations",
    "read_segments",
]
