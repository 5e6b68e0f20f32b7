"""The name of a prompt -> its text, from the file of that name beside this one."""

from functools import cache
from importlib.resources import files
from string import Template


@cache
def prompt(name: str) -> Template:
    """The prompt ``name``; ``$words`` in it are filled by the caller."""
    text = files(__package__).joinpath(f"{name}.md").read_text(encoding="utf-8")
    return Template(text.strip())
