"""The values that travel between the steps: a file, and its place among the editions of a page."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

TextOf = Callable[[str], str]
"""Path -> the beginning of that document's text."""


@dataclass(frozen=True, slots=True)
class Stated:
    """What the front matter of a document says about it."""

    version: str | None = None
    language: str | None = None


@dataclass(frozen=True, slots=True)
class Edition:
    """One document as an edition of a page."""

    page: str
    """Path of the page, without the parts that name a version or a language."""
    version: str | None = None
    """Version that the path or the front matter names."""
    language: str | None = None
    """Language of a translation; None for the original."""
    standing: int = 0
    """Place among the editions in this language, the current one first.

    The current version has 0. A page that it lacks begins with 1.
    """


@dataclass(frozen=True, slots=True)
class LayOut:
    """The editions of all documents, by path."""

    editions: Mapping[str, Edition]
    original: str | None = None
    """Language of the originals, if there are translations."""
