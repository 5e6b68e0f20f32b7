"""Raw text of a block -> the words that a reader of the page sees, to be embedded and indexed."""

import re
from collections.abc import Collection
from html import unescape
from html.entities import html5

from ingest.readers.asciidoc.asciidoc_words import asciidoc_words
from ingest.readers.kept_text import around
from ingest.readers.markup.tags import Tag, TaggedText, parameter_words
from ingest.readers.markup.wrappers import LABEL
from ingest.readers.parsed_file import BlockKind, FileBlock, ParsedFile, Syntax
from ingest.readers.wiki.wiki_words import wiki_words

COMMENT = re.compile(r"<!--.*?(?:(-->)|\Z)", re.DOTALL)
KEPT = re.compile(r"((?<!`)(`+)(?!`)[^\n]*?[^`\n]\2(?!`))|\\([!-/:-@\[-`{-~])")
"""Code, and characters after a backslash: they are not markup."""
TARGET = r"(?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*\])"
IMAGE = re.compile(rf"!\[([^\]\[]*)\]{TARGET}")
LINK = re.compile(rf"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]{TARGET}")
WIKI_LINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
AUTOLINK = re.compile(r"<((?:https?|mailto):[^<>\s]*|[^<>@\s]+@[^<>@\s]+)>")
FOOTNOTE = re.compile(r"\[\^[^\[\]\s]+\](:?)")
SHORTCODE = re.compile(r"\{\{[<%]\s*+(/?)\s*+([\w/.-]++)((?:(?!\{\{[<%]).)*?)[%>]\}\}", re.DOTALL)
LIQUID = re.compile(r"\{%-?\s*+(\w++)((?:(?!\{%).)*?)%\}", re.DOTALL)
INCLUSION = re.compile(
    r"\{\{#[^{}\n]*+\}\}|\{![^{}!\n]++!\}|!\[\[[^\[\]\n]*+\]\]|^[ \t]*+-{1,2}8<-{1,2}[^\n]*+$",
    re.MULTILINE,
)
"""A place at which a site shows the text of another file."""
BLOCK_ID = re.compile(r"(?<!\S)\^(?:[A-Za-z][\w-]*+|[0-9a-f]{6})[ \t]*+$", re.MULTILINE)
NAMED_TEXT = re.compile(r"""\b(?:text|term_id|title|name|caption|alt|heading)=["'][^"']*["']""")
SPACED = frozenset({"br", "td", "th", "li", "summary"})
INDENT = r"^[^\S\n]*+"
ADMONITION = re.compile(
    rf"{INDENT}(?:!!!|\?\?\?\+?|:::+)[^\S\n]*+(\w[\w-]*+)\s*+(.*)$", re.MULTILINE
)
TAB = re.compile(rf'{INDENT}===[+!]?\s*+"([^"\n]*+)"[^\S\n]*+$', re.MULTILINE)
BRACED = re.compile(rf"{INDENT}:::+[^\S\n]*+\{{([^{{}}\n]*+)\}}([^\n{{}}]*+)$", re.MULTILINE)
"""The beginning of a block: ``:::{dropdown} More`` or ``::: {.note title="Mind"}``."""
COLONS = re.compile(rf"{INDENT}:::+.*$", re.MULTILINE)
ALERT = re.compile(r"^([ \t>]*)\[!(\w+)\]", re.MULTILINE)
ATTRIBUTE_LIST = re.compile(
    r"(?<!\s)\s*+(?<!\{)\{(?::|[ \t]*+[#.])[^{}\n]*+\}(?!\})"
    r"|(?<=[)\]\x03])\{[^{}\n=]*+=[^{}\n]*+\}"
)
LINE_MARKS = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?", re.MULTILINE)
RULE = re.compile(r"^(?:[ \t]*+>)*+(?:[-=*_~+|: \t]{3,}+|[ \t]*+(?:`{3,}|~{3,}).*)$", re.MULTILINE)
CLOSING_MARKS = re.compile(r"(?<![ \t])[ \t]++#++[ \t]*+$", re.MULTILINE)
EMPHASIS = re.compile(
    # ``__init__`` is a name, ``__read this__`` is emphasis.
    r"(?<![\w*~])(\*{1,3}|_|__(?=[^\W_]+[^\w\n])|~~)(?=[^\s_])([^*\n]{1,200}?)(?<=\S)\1(?![\w*~])"
)
ENTITY = re.compile(r"&(?:#\d+|#[xX][0-9a-fA-F]+|[A-Za-z]\w*);")
BLANK_LINES = re.compile(r"\n\s*\n+")
TRIGGER = re.compile(r"[<>&{\[!:=|#*_~`^\\-]")

RST_ROLE = re.compile(
    r"(?<![\w:+.-])(?P<before>[\w+.-]*+):[\w:+.-]{2,}+(?<=:)`(?P<words>[^`<]*+)(?P<target><[^`>]*+>)?+`"
)
RST_LINK = re.compile(r"`(?P<words>[^`<\n]*+)\s*+<[^`>\n]*+>`_{0,2}")
RST_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\.[ \t]+([\w:-]+)::[ \t]*(.*)((?:\n\1[ \t]+:[\w-]+:.*)*)", re.MULTILINE
)
RST_SPOKEN = re.compile(rf"{INDENT}:(?:alt|caption|header):[ \t]*(.*)$", re.MULTILINE)
RST_TARGET = re.compile(rf"{INDENT}\.\.\s++_[^\n]*:[^\n]*$", re.MULTILINE)
RST_KEPT = re.compile(r"``([^`\n]+)``|\\([!-/:-@\[-`{-~])")
RST_UNDERLINE = re.compile(
    r"^[ \t]*+([^\w\s])\1*+[ \t]*+$|^[ \t]*+[=+|-][=+| -]{2,}+[ \t]*+$", re.MULTILINE
)
SAMPLE = 4_000
"""Maximum number of characters that are read of a heading, or of a block to look for words."""
NOTES = {"caution", "danger", "important", "note", "tip", "warning", "attention", "hint", "info"}


def search_text(syntax: Syntax, kind: BlockKind, text: str) -> str:
    """Return the text to embed and to search of a piece of a document."""
    if kind == "code" or syntax == "plain":
        return _compact(text)
    if syntax == "asciidoc":
        return _compact(asciidoc_words(text))
    if syntax == "wiki":
        return _compact(wiki_words(text))
    if syntax == "rst":
        return _compact(around(RST_KEPT, text, _rst))
    return _compact(_markdown(text))


def has_words(block: FileBlock, parsed: ParsedFile) -> bool:
    """Return True if a block has any words."""
    sample = "\n".join(parsed.lines[block.start : block.end])[:SAMPLE]
    return bool(search_text(parsed.syntax, block.kind, sample))


def clean_label(heading: str, syntax: Syntax = "markdown") -> str:
    """Return a heading without markup."""
    return " ".join(search_text(syntax, "heading", heading[:SAMPLE]).replace("`", "").split())


def _compact(text: str) -> str:
    return BLANK_LINES.sub("\n", text).strip()


def _markdown(text: str) -> str:
    if not TRIGGER.search(text):
        return text
    return around(KEPT, SHORTCODE.sub(_spoken_shortcode, text), _prose)


def _prose(text: str) -> str:
    text = BRACED.sub(_braced, INCLUSION.sub("", LABEL.sub("", text)))
    if "{" in text:
        text = ATTRIBUTE_LIST.sub("", LIQUID.sub(_liquid, SHORTCODE.sub(_shortcode, text)))
    if "<" in text:
        text = _without_tags(AUTOLINK.sub(r"\1", COMMENT.sub(_comment, text)))
    if "[" in text:
        text = ALERT.sub(lambda match: f"{match[1]}{match[2].capitalize()}:", text)
        text = FOOTNOTE.sub("", text)
        text = WIKI_LINK.sub(lambda match: match[2] or match[1], text)
        text = LINK.sub(r"\1", IMAGE.sub(r"\1", text))
    if "^" in text:
        text = BLOCK_ID.sub("", text)
    text = ADMONITION.sub(_admonition, text)
    text = COLONS.sub("", TAB.sub(r"\1", text))
    text = RULE.sub("", text)
    text = EMPHASIS.sub(r"\2", CLOSING_MARKS.sub("", LINE_MARKS.sub("", text)))
    return ENTITY.sub(_entity, text) if "&" in text else text


def _comment(match: re.Match[str]) -> str:
    return "" if match[1] else match[0]  # an unclosed comment is shown


def _without_tags(text: str) -> str:
    """Replace tags by the words that they carry, a cell or line break by a space."""
    tags = list(TaggedText(text).tags())
    closed = {tag.name for tag in tags if tag.is_closing}
    parts: list[str] = []
    position = 0
    for tag in tags:
        if not (tag.is_element or _is_component(tag, closed)):
            continue
        parts.append(text[position : tag.start])
        position = tag.end
        if tag.words:
            parts.append(f" {tag.words} ")
        elif tag.name.lower() in SPACED:
            parts.append(" ")
    return "".join((*parts, text[position:]))


def _is_component(tag: Tag, closed: Collection[str]) -> bool:
    """Return False for a placeholder such as ``<Name>``, which nothing closes."""
    return tag.is_closing or tag.is_empty or tag.has_values or tag.name in closed


def _entity(match: re.Match[str]) -> str:
    return unescape(match[0]) if match[0][1] == "#" or match[0][1:] in html5 else match[0]


def _shortcode(match: re.Match[str]) -> str:
    closing, name, parameters = match[1], match[2], match[3]
    if closing:
        return ""
    label = f"{name.capitalize()}: " if name in NOTES else ""
    words = label + parameter_words(name, parameters)
    behind = match.string[match.end() : match.end() + 2]
    # What follows a tab's name is another word; what follows a term is its plural.
    apart = len(behind) > 1 and behind.isalnum() and behind != "es"
    return f"{words} " if words and apart else words


def _spoken_shortcode(match: re.Match[str]) -> str:
    """Replace a shortcode inside code, if it has words; otherwise it may be literal."""
    return _shortcode(match) if NAMED_TEXT.search(match[3]) else match[0]


def _liquid(match: re.Match[str]) -> str:
    return parameter_words(match[1], match[2])


def _braced(match: re.Match[str]) -> str:
    """Keep the title of a block, and the words of its parameters."""
    words = parameter_words("", match[1]) if "=" in match[1] else ""
    return f"{words} {match[2]}".strip()


def _admonition(match: re.Match[str]) -> str:
    return match[1].capitalize() + ": " + match[2].strip(' "')


def _rst(text: str) -> str:
    text = RST_TARGET.sub("", text)
    text = RST_DIRECTIVE.sub(_directive, text)
    text = RST_LINK.sub(lambda match: match["words"].rstrip(), RST_ROLE.sub(_role, text))
    return EMPHASIS.sub(r"\2", RST_UNDERLINE.sub("", text))


def _role(match: re.Match[str]) -> str:
    words = match["words"].rstrip() if match["target"] else match["words"]
    return match["before"] + words


def _directive(match: re.Match[str]) -> str:
    name, argument = match[2], match[3].strip()
    label = f"{name.capitalize()}: " if name in NOTES else ""
    words = RST_SPOKEN.findall(match[4])
    if name not in ("image", "figure") and not name.endswith("include"):
        words.insert(0, argument)
    return label + " ".join(words)
