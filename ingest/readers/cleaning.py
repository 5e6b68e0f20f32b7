"""Raw text of a block -> what is embedded and indexed: the words a reader of the page sees."""

import re
from html import unescape

from ingest.readers.reading import Block, Kind, Reading, Syntax
from ingest.readers.wrappers import ATTRIBUTES, SPOKEN

COMMENT = re.compile(r"<!--.*?-->", re.DOTALL)
ELEMENTS = (
    r"a|abbr|article|aside|b|blockquote|body|br|button|caption|center|cite|code|col|colgroup|dd|del"
    r"|details|dfn|div|dl|dt|em|figcaption|figure|font|footer|form|h[1-6]|head|header|hr|html|i"
    r"|iframe|img|input|ins|kbd|label|li|link|main|mark|nav|object|ol|option|p|picture|pre|q|s|samp"
    r"|section|select|small|source|span|strike|strong|style|sub|summary|sup|svg|table|tbody|td|tfoot"
    r"|th|thead|title|tr|tt|u|ul|var|video|[A-Z][a-z]\w*(?:\.\w+)*"
)
CODE_SPAN = r"`[^`\n]+`"
TAG = re.compile(rf"{CODE_SPAN}|</?(?:{ELEMENTS})(?![\w:-]){ATTRIBUTES}>")
TARGET = r"(?:\((?:[^()\n]|\([^()\n]*\))*\)|\[[^\]\n]*\])"
IMAGE = re.compile(rf"!\[([^\]\[]*)\]{TARGET}")
LINK = re.compile(rf"\[((?:[^\[\]]|\[[^\[\]]*\])*)\]{TARGET}")
WIKI_LINK = re.compile(r"\[\[([^\[\]|\n]*)(?:\|([^\[\]\n]*))?\]\]")
AUTOLINK = re.compile(r"<((?:https?|mailto):[^>\s]*)>")
FOOTNOTE = re.compile(r"\[\^[^\]\s]+\](:?)")
SHORTCODE = re.compile(r"\{\{[<%]\s*(/?)\s*([\w/.-]+)(.*?)/?\s*[%>]\}\}", re.DOTALL)
LIQUID = re.compile(r"\{%-?\s*(\w+)(.*?)-?%\}", re.DOTALL)
SHORTCODE_WORDS = re.compile(
    r"""\b(?:text|term_id|title|name|caption|alt|heading)=["']([^"']*)["']"""
)
QUOTED = re.compile(r"""["']([^"']*)["']""")
ADMONITION = re.compile(r"^\s*(?:!!!|\?\?\?\+?|:::+)\s*(\w[\w-]*)\s*(.*)$", re.MULTILINE)
TAB = re.compile(r'^\s*===[+!]?\s*"([^"\n]*)"\s*$', re.MULTILINE)
COLONS = re.compile(r"^\s*:::+.*$", re.MULTILINE)
ALERT = re.compile(r"^([ \t>]*)\[!(\w+)\]", re.MULTILINE)
ATTRIBUTE_LIST = re.compile(r"\s*\{[:#.][^{}\n]*\}")
LINE_MARKS = re.compile(r"^[ \t>]*(?:#{1,6}[ \t]+|[-*+][ \t]+(?:\[[ xX]\][ \t]+)?)?", re.MULTILINE)
RULE = re.compile(r"^[ \t>]*(?:[-=*_~+|: \t]{3,}|`{3,}.*|~{3,}.*)$", re.MULTILINE)
CLOSING_MARKS = re.compile(r"[ \t]+#+[ \t]*$", re.MULTILINE)
EMPHASIS = re.compile(rf"{CODE_SPAN}|(?<![\w*])(\*{{1,3}})(?=\S)([^*\n]+?)(?<=\S)\1(?![\w*])")
BLANK_LINES = re.compile(r"\n\s*\n+")
EDGE_BARS = re.compile(r"^\s*\||\|\s*$", re.MULTILINE)
TRIGGER = re.compile(r"[<>&{\[!:=|#*_~`\\-]")

RST_ROLE = re.compile(r":[\w:+.-]+:`([^`<]*?)(?:\s*<[^`>]*>)?`")
RST_LINK = re.compile(r"`([^`<\n]*?)\s*<[^`>\n]*>`_{0,2}")
RST_DIRECTIVE = re.compile(
    r"^([ \t]*)\.\.[ \t]+([\w:-]+)::[ \t]*(.*)((?:\n\1[ \t]+:[\w-]+:.*)*)", re.MULTILINE
)
RST_SPOKEN = re.compile(r"^\s*:(?:alt|caption|header):[ \t]*(.*)$", re.MULTILINE)
RST_TARGET = re.compile(r"^\s*\.\.\s+_[^\n]*:[^\n]*$", re.MULTILINE)
RST_LITERAL = re.compile(r"``([^`\n]+)``")
RST_UNDERLINE = re.compile(
    r"^[ \t]*([^\w\s])\1{2,}[ \t]*$|^[ \t]*[=+|-][=+| -]{2,}[ \t]*$", re.MULTILINE
)
SAMPLE = 4_000
"""Characters that are looked at to tell whether there are words, or what a heading says."""
NOTES = {"caution", "danger", "important", "note", "tip", "warning", "attention", "hint", "info"}


def search_text(syntax: Syntax, kind: Kind, text: str) -> str:
    """What is searched of a piece of a document."""
    if kind == "code" or syntax == "plain":
        return _compact(text)
    return _compact(_rst(text) if syntax == "rst" else _markdown(text))


def has_words(block: Block, reading: Reading) -> bool:
    """Whether there is anything to read in a block."""
    sample = "\n".join(reading.lines[block.start : block.end])[:SAMPLE]
    return bool(search_text(reading.syntax, block.kind, sample))


def clean_label(heading: str) -> str:
    """A heading as a reader sees it."""
    text = ATTRIBUTE_LIST.sub("", heading[:SAMPLE])
    text = _markdown(text) if TRIGGER.search(text) else text
    return " ".join(text.replace("`", "").split())


def _compact(text: str) -> str:
    return BLANK_LINES.sub("\n", text).strip()


def _markdown(text: str) -> str:
    if not TRIGGER.search(text):
        return text
    if "{" in text:
        text = ATTRIBUTE_LIST.sub("", LIQUID.sub(_liquid, SHORTCODE.sub(_shortcode, text)))
    if "<" in text:
        text = AUTOLINK.sub(r"\1", COMMENT.sub("", text))
        text = TAG.sub(_tag, text)
    if "[" in text:
        text = ALERT.sub(lambda match: f"{match[1]}{match[2].capitalize()}:", text)
        text = FOOTNOTE.sub("", text)
        text = WIKI_LINK.sub(lambda match: match[2] or match[1], text)
        text = LINK.sub(r"\1", IMAGE.sub(r"\1", text))
    text = ADMONITION.sub(_admonition, text)
    text = COLONS.sub("", TAB.sub(r"\1", text))
    text = RULE.sub("", text)
    text = CLOSING_MARKS.sub("", LINE_MARKS.sub("", text))
    text = EMPHASIS.sub(lambda match: match[2] or match[0], text)
    return unescape(text) if "&" in text else text


def _tag(match: re.Match[str]) -> str:
    """A tag leaves the words in its attributes; a cell or line break a space; code is let be."""
    if match[0].startswith("`"):
        return match[0]
    words = " ".join(filter(None, SPOKEN.findall(match[0])))
    if words:
        return f" {words} "
    return " " if match[0].lower().startswith(("<br", "<td", "<th", "<li", "</summary")) else ""


def _shortcode(match: re.Match[str]) -> str:
    closing, name, arguments = match[1], match[2], match[3]
    if closing:
        return ""
    if name == "heading":
        return " ".join(QUOTED.findall(arguments))
    words = SHORTCODE_WORDS.findall(arguments)
    if name == "glossary_tooltip":
        return words[0] if words else ""
    label = f"{name.capitalize()}: " if name in NOTES else ""
    return label + " ".join(words)


def _liquid(match: re.Match[str]) -> str:
    return " ".join(SHORTCODE_WORDS.findall(match[2]))


def _admonition(match: re.Match[str]) -> str:
    return match[1].capitalize() + ": " + match[2].strip(' "')


def _rst(text: str) -> str:
    text = RST_TARGET.sub("", text)
    text = RST_DIRECTIVE.sub(_directive, text)
    text = RST_LITERAL.sub(r"\1", RST_LINK.sub(r"\1", RST_ROLE.sub(r"\1", text)))
    text = RST_UNDERLINE.sub("", text)
    return EMPHASIS.sub(lambda match: match[2] or match[0], text)


def _directive(match: re.Match[str]) -> str:
    name, argument = match[2], match[3].strip()
    label = f"{name.capitalize()}: " if name in NOTES else ""
    words = RST_SPOKEN.findall(match[4])
    if name not in ("image", "figure"):
        words.insert(0, argument)
    return label + " ".join(words)
