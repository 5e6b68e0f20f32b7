"""Prompts are files beside this one, reviewed as prose; this loads them by name."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt(name: str) -> Template:
    """The prompt ``name``; ``$words`` in it are filled by the caller."""
    text = files(__name__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())
