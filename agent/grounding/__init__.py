"""An answer and the passages it may cite -> the answer as it may be shown, each claim checked."""

from agent.grounding.ground import Grounded, Source, ground, ground_json
from agent.grounding.ids import Brackets, read_segments, settle
from agent.grounding.statements import code_spans

__all__ = [
    "Brackets",
    "Grounded",
    "Source",
    "code_spans",
    "ground",
    "ground_json",
    "read_segments",
    "settle",
]
