"""AsciiDoc of a block -> the words that a reader of the page sees."""

import re
from html import unescape

from ingest.readers.kept_text import around

QUOTES = re.compile(r"([\"'])`([^`\n]*+)`\1")
KEPT = re.compile(r"(`[^`\n]++`)|\\([!-/:-@\[-`{-~])")
MACRO = re.compile(r"(?<![^\s\[\](|\">*])([A-Za-z][\w-]*+)::?+([^\s\[\](|\">*]*+)\[([^\[\]\n]*+)\]")
REFERENCE = re.compile(r"<<([^<>,\n]*+)(?:,([^<>\n]*+))?+>>")
ANCHOR = re.compile(r"\[{2,3}[^\[\]\n]*+\]{2,3}")
TERM = re.compile(r"\({3}[^()\n]*+\){3}|\({2}([^()\n]*+)\){2}")
ROLE = re.compile(r"\[[^\[\]\n]*+\](?=[#*_`])")
ADMONITION = re.compile(r"^\[(NOTE|TIP|IMPORTANT|WARNING|CAUTION)\b[^\n]*$|^([A-Z]{3,}): ", re.M)
SPOKEN = re.compile(r"^\[(?:quote|verse),[ \t]*+([^\n]*)\][ \t]*$", re.M)
META = re.compile(r"^\[(?:[\w.#%{,\"'\[][^\n]*)?\][ \t]*$", re.M)
RULE = re.compile(r"^(?:[-=~^+.*_/|,:!'<]{2,}|`{3}[\w+-]*|\+)[ \t]*$", re.M)
LINE_MARKS = re.compile(
    r"^[ \t]*+(?:={1,6}[ \t]++|#{1,6}[ \t]++|[*.]{1,6}[ \t]++(?:\[[ xX*]\][ \t]++)?|-[ \t]++"
    r"|\.(?=[^\s.]))",
    re.M,
)
LIST_TERM = re.compile(r"(?<=[^\s:])(?::{2,4}|;;)(?=\s|$)", re.M)
BREAK = re.compile(r"(?<=\S)[ \t]\+$", re.M)
CELL = re.compile(
    r"(?:(?<=\s)|^)(?:(?:\d++(?:\.\d++)?+|\.\d++)[+*])?[<^>]?+(?:\.[<^>])?[a-z]?\|", re.M
)
EMPHASIS = re.compile(
    r"(?<![\w*#_~^])(\*{1,2}|_{1,2}|#{1,2}|\+{1,3})(?=[^\s*_#+])([^*#\n]{1,200}?)(?<=\S)\1(?![\w*#])"
)
RAISED = re.compile(r"([\^~])([^\s^~]{1,30})\1")
ENTITY = re.compile(r"&(?:#\d{1,7}|#x[0-9a-fA-F]{1,6}|[A-Za-z]\w{1,30});")
ALTERNATIVE = re.compile(r"\balt=\"([^\"]*+)\"")
SILENT = {"anchor", "indexterm", "indexterm2", "toc", "icon", "video", "audio"}
SHOWN = {"image", "kbd", "btn", "footnote", "pass", "stem", "latexmath", "asciimath", "ifdef"}
"""Macros without words of their own target: their text is all that people see."""


def asciidoc_words(text: str) -> str:
    """Return the words of prose or a table."""
    return around(KEPT, QUOTES.sub(r"\1\2\1", text), _prose, _kept)


def _kept(match: re.Match[str]) -> str:
    """Return code without its inner marks, or the character after a backslash."""
    code = match[1]
    if code and code[1] == "+" == code[-2] and len(code) > 4:
        code = f"`{code[2:-2]}`"
    return code or match[2]


def _prose(text: str) -> str:
    if "[" in text:
        text = SPOKEN.sub(r"\1:", ADMONITION.sub(_admonition, text))
        text = ANCHOR.sub("", META.sub("", text))
        text = ROLE.sub("", MACRO.sub(_macro, text))
    else:
        text = ADMONITION.sub(_admonition, text)
    if "<<" in text:
        text = REFERENCE.sub(lambda match: (match[2] or match[1]).strip(), text)
    text = TERM.sub(lambda match: match[1] or "", text)
    text = LINE_MARKS.sub("", RULE.sub("", text))
    text = CELL.sub("|", BREAK.sub("", LIST_TERM.sub(":", text)))
    text = RAISED.sub(r"\2", EMPHASIS.sub(r"\2", EMPHASIS.sub(r"\2", text)))
    return ENTITY.sub(lambda match: unescape(match[0]), text) if "&" in text else text


def _admonition(match: re.Match[str]) -> str:
    return f"{match[1].capitalize()}:" if match[1] else f"{match[2].capitalize()}: "


def _macro(match: re.Match[str]) -> str:
    """Replace a macro by its words, or by its target if it has none."""
    name, target, words = match[1], match[2], match[3].strip()
    if name in SILENT:
        return ""
    if name == "menu":
        return " > ".join(filter(None, (target, words)))
    is_link = target.startswith("//") or name in ("link", "xref", "mailto", "image")
    if is_link or "=" in words:
        words = _first(words)
    if words or name in SHOWN:
        return words
    return f"{name}:{target}" if target.startswith("//") else target.strip("+")


def _first(attributes: str) -> str:
    """Return the first value without a name: the text of a link, or what stands for an image."""
    if alternative := ALTERNATIVE.search(attributes):
        return alternative[1]
    if attributes.startswith(('"', "'")):
        return attributes[1:].partition(attributes[0])[0]
    named = next((part for part in attributes.split(",") if "=" in part), None)
    if named is None:
        return attributes.rstrip("^").rstrip(",")
    before = attributes[: attributes.index(named)].rstrip(", ")
    return before.split(",")[0].rstrip("^")
