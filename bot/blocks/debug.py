"""JSON of ``footnote debug render`` -> the answer that is rendered, checked."""

from collections.abc import Mapping
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, Field, ValidationError

from agent.answer import Verdict
from ingest.documents import Passage
from ingest.errors import SettingsError


def _names(value: object) -> object:
    return value.split(" > ") if isinstance(value, str) else value or ()


class _Passage(BaseModel):
    id: Annotated[str, Field(min_length=1)]
    path: str | None = None
    title: str | None = None
    heading: Annotated[tuple[str, ...], BeforeValidator(_names)] = ()
    """As a list, or as one text with ``>`` between the names."""
    lines: Annotated[tuple[int, ...], Field(min_length=1)] | None = None
    text: str | None = None
    url: str | None = None

    def read(self) -> Passage:
        lines = self.lines or (0,)
        return Passage(
            id=self.id,
            path=self.path or "",
            title=self.title or "",
            heading=self.heading,
            lines=(lines[0], lines[-1]),
            text=self.text or "",
            hash="",
            url=self.url,
        )


class RenderRequest(BaseModel):
    """An answer's text, the passages that it may cite, and perhaps its verdict."""

    text: str = ""
    passages: tuple[_Passage, ...] = ()
    verdict: Verdict | None = None


def read_request(request: Mapping[str, Any]) -> RenderRequest:
    """The request, checked. Raises SettingsError, which names the faulty field."""
    try:
        return RenderRequest.model_validate(request)
    except ValidationError as error:
        fault = error.errors()[0]
        where = ".".join(map(str, fault["loc"]))
        raise SettingsError(
            f"debug render: {where}: {fault['msg']}. Give {{text, passages: [{{id, url, …}}, …]}}."
        ) from None
