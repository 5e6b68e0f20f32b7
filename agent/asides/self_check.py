"""Question + passages -> the model's judgement: are they relevant, are they enough?

It is a separate structured request with the passages as JSON, since the API does not combine
citations with an output format. The result is data for the next step, never an instruction.
"""

import json
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from agent.asides.request import ask_aside
from agent.draft import Draft
from agent.errors import ModelUnavailable
from agent.model.client import Model, Request
from agent.model.deadline import Deadline, DeadlinePassed
from agent.model.message_text import text_of
from agent.passages import passage_blocks
from agent.prompts import prompt
from ingest.documents import Passage

_SECONDS = 15.0
_MAX_TOKENS = 2_000
_LONGEST = 200


class Reflection(BaseModel):
    """The model's judgement of the passages of a search."""

    model_config = ConfigDict(frozen=True)

    relevant: bool = Field(description="Some passage bears on the question.")
    sufficient: bool = Field(description="The passages answer the whole question.")
    missing: str = Field(description="What they do not answer, in the words of a short query.")

    def __str__(self) -> str:
        irrelevant = "" if self.relevant else "none of these passages bears on the question; "
        if self.sufficient:
            return "these passages suffice"
        return f"{irrelevant}these passages do not suffice, missing: {self.missing or 'the answer'}"


def reflect(
    question: str, passages: Sequence[Passage], model: Model, draft: Draft, deadline: Deadline
) -> Reflection | None:
    """Ask the model for its judgement; return None if it gives none."""
    if not passages or not model.profile.structured:
        return None
    request = Request(
        system=prompt("reflection").template,
        tools=[],
        messages=[
            {
                "role": "user",
                "content": [
                    {"type": "text", "text": json.dumps({"question": question})},
                    *passage_blocks(passages, {}, native=False),
                ],
            }
        ],
        max_tokens=_MAX_TOKENS,
        attempts=1,
        aside=True,
        schema=_schema(),
    )
    try:
        message = ask_aside("self_check", model, request, draft, deadline.at_most(_SECONDS))
        reflection = Reflection.model_validate_json(text_of(message.content).text)
    except (ModelUnavailable, DeadlinePassed, ValidationError) as error:
        draft.record("self_check", error=type(error).__name__)
        return None
    reflection = reflection.model_copy(
        update={"missing": " ".join(reflection.missing.split())[:_LONGEST]}
    )
    draft.record("self_check", **reflection.model_dump())
    return reflection


def _schema() -> dict[str, object]:
    properties = {
        name: {"type": "string" if field.annotation is str else "boolean", "description": about}
        for name, field in Reflection.model_fields.items()
        if (about := field.description)
    }
    return {
        "type": "object",
        "properties": properties,
        "required": list(properties),
        "additionalProperties": False,
    }
