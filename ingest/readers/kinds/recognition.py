"""Name of a file -> a page, a file whose content decides, or neither; before anything is read.

The suffixes are those of the formats that code hosts count as prose. YAML and JSON may describe an
interface, and a file without a suffix may be a page of plain text. Of each of the two kinds at most
``MOST`` files are opened, so that a docs root with a thousand data files costs little.
"""

import re
from functools import cache
from pathlib import PurePosixPath
from typing import Literal

from pygments.lexers import get_all_lexers

Form = Literal["page", "interface", "unnamed", "other"]

MARKDOWN = (
    *(".md", ".markdown", ".mdown", ".mdwn", ".mkd", ".mkdn", ".mkdown", ".mdtext", ".mdtxt"),
    *(".qmd", ".rmd", ".livemd", ".ronn", ".dj", ".gmi"),
)
ASCIIDOC = (".adoc", ".asciidoc", ".asc", ".ad")
RST = (".rst", ".rest")
ORG = (".org", ".norg", ".muse")
MEDIAWIKI = (".mediawiki", ".wiki", ".wikitext")
CREOLE = (".creole", ".rdoc", ".t2t")
TEXTILE = (".textile",)
POD = (".pod",)
TEXT = (".txt", ".text")
HTML = (".html", ".htm", ".xhtml")
READ = {
    *(*MARKDOWN, *ASCIIDOC, *RST, *ORG, *MEDIAWIKI, *CREOLE, *TEXTILE, *POD, *TEXT, *HTML),
    *(".mdx", ".ipynb"),
}
"""Suffixes of pages that a reader takes."""
UNREAD = {
    *(".doc", ".docx", ".odt", ".rtf", ".pages", ".pdf", ".epub"),
    *(".tex", ".latex", ".texi", ".texinfo", ".typ", ".dita", ".ditamap", ".dbk", ".docbook"),
}
"""Suffixes of text that people write for people, and that nothing here reads."""
INTERFACE = {".yaml", ".yml", ".json"}

MOST = 500
"""Maximum number of files of a kind that are opened to see whether they are pages."""
LARGEST = 5_000_000
"""Maximum number of bytes of such a file."""
_INCLUDED = ".inc"
"""A suffix after the one that tells the format, of a file that others include."""
_TELLING = re.compile(
    r"(?<![a-z])(?:apis?|oas|specs?|endpoints?|reference)(?![a-z])|openapi|swagger|asyncapi",
    re.IGNORECASE,
)
_CAPITALS = re.compile(r"[A-Z][A-Z0-9_-]*+")


def suffix_of(path: str) -> str:
    """Return the suffix that tells the format, in small letters."""
    stem, suffix = _split(path)
    if suffix == _INCLUDED and (inner := _split(stem)[1]) in READ:
        return inner
    return suffix


def _split(path: str) -> tuple[str, str]:
    """The name of a file without its suffix, and the suffix: a path object costs ten times more."""
    name = path.rpartition("/")[2]
    stem, _dot, suffix = name.rpartition(".")
    return (stem, f".{suffix.lower()}") if stem and suffix else (name, "")


def form_of(path: str) -> Form:
    """Return what a file can be, by its name."""
    suffix = suffix_of(path)
    if suffix in READ:
        return "page"
    if suffix in INTERFACE:
        return "interface"
    if suffix or PurePosixPath(path).name in _names_of_code():
        return "other"
    return "unnamed"


def precedence(path: str) -> tuple[bool, str]:
    """Return the order in which files are opened: those with a telling name come first."""
    is_telling = _TELLING.search(path) or _CAPITALS.fullmatch(PurePosixPath(path).name)
    return not is_telling, path


@cache
def _names_of_code() -> frozenset[str]:
    """Names of code without a suffix that Pygments knows, such as ``Makefile``."""
    patterns = (names for _, _, names, _ in get_all_lexers(plugins=False))
    return frozenset(name for names in patterns for name in names if "*" not in name)
