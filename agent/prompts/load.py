"""The name of a prompt -> its text, from the file of that name in this folder."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt(name: str) -> Template:
    """The prompt ``name``; the caller fills the ``$words`` in it."""
    text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())
