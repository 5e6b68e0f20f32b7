"""Markup of wikis, Org, Textile and POD -> the words that a reader of the page sees."""

import re
from html import unescape

from ingest.readers.kept_text import around

CODE = re.compile(
    r"<(?:code|nowiki|tt)>([^<>\n]*+)</\w+>|(?<![\w@])@([^@\s]|[^@\s][^@\n]*?[^@\s])@(?!\w)"
    r"|(?<![\w=~])([=~])([^\s=~]|[^\s=~][^=~\n]*?[^\s=~])\3(?![\w=~])|\{\{\{([^{}\n]*+)\}\}\}"
)
LINK = re.compile(r"\[\[([^\[\]|\n]*+)(?:\]\[([^\[\]\n]*+)|\|([^\[\]\n]*+))?+\]\]")
ADDRESS = re.compile(r"\[((?:https?|mailto):[^\s\[\]]++)(?:[ \t]++([^\[\]\n]*+))?+\]")
QUOTED_LINK = re.compile(r'"([^"\n]*+)":(?:https?:|/|#|mailto:)[^\s]*')
TEMPLATE = re.compile(r"\{\{([^{}|]*+)((?:\|[^{}]*+)?)\}\}")
PARAMETER = re.compile(r"\|[ \t]*+(?:[\w -]*=)?")
FORMATTED = re.compile(r"\b[BCFIS]<([^<>\n]*+)>|\bL<([^<>|\n]*+)(?:\|[^<>\n]*+)?>|\bX<[^<>\n]*+>")
ESCAPE = re.compile(r"\bE<(lt|gt|sol|verbar)>")
ESCAPED = {"lt": "<", "gt": ">", "sol": "/", "verbar": "|"}
COMMENT = re.compile(r"<!--(?:(?!<!--)[^\n])*?-->")
HEAD_CELL = re.compile(r"(?<=\|)(?:=|_\.)")
QUOTES = re.compile(r"'{2,5}")
EMPHASIS = re.compile(
    r"(?<![\w*/_+:])(\*{1,2}|//|_{1,2}|\+)(?=[^\s*/_+])([^*\n]{1,200}?)(?<=\S)\1(?![\w*/_+])"
)
TAG = re.compile(
    r"</?(?:br|ref|pre|b|i|u|s|sub|sup|small|big|span|div|p|blockquote|center|del|ins|references"
    r"|noinclude|onlyinclude|includeonly|syntaxhighlight|source|nowiki)\b[^<>\n]*+>",
    re.IGNORECASE,
)
LINE_MARKS = re.compile(
    r"^(?:={1,6}(?!\w)[ \t]*+|\*{1,6}[ \t]++(?:(?:TODO|DONE)[ \t]++)?(?:\[\#\w\][ \t]++)?"
    r"|[#:;*]{1,6}[ \t]*+"
    r"|h[1-6](?:[({\[<>=][^.\n]*)?\.[ \t]++|(?:p|bq|bc|pre|notextile)\.{1,2}[ \t]++"
    r"|=(?:head[1-6]|item)[ \t]++|[ \t]*+[-+][ \t]++(?:\[[ xX-]\][ \t]++)?"
    r"|[ \t]*+\#\+(?:begin|end)_\w++[^\n]*|[ \t]*+\#\+caption:[ \t]*+)",
    re.MULTILINE | re.IGNORECASE,
)
RULE = re.compile(
    r"^[ \t]*+(?:\|-(?!\d)[^\n]*+|\{\|[^\n]*+|\|\}[ \t]*+|-{4,}+[ \t]*+)$", re.MULTILINE
)
CLOSING = re.compile(r"(?<=[^\s=])[ \t]*+={1,6}[ \t]*+$", re.MULTILINE)
ENTITY = re.compile(r"&(?:#\d{1,7}|[A-Za-z]\w{1,30});")


def wiki_words(text: str) -> str:
    """Return the words of prose or a table."""
    return around(CODE, text, _prose)


def _prose(text: str) -> str:
    if "[" in text:
        text = LINK.sub(lambda match: match[2] or match[3] or match[1], text)
        text = ADDRESS.sub(lambda match: match[2] or match[1], text)
    if "{{" in text:
        text = TEMPLATE.sub(_template, text)
    if "<" in text:
        text = COMMENT.sub("", text)
        for _ in range(2):  # formats inside formats
            text = FORMATTED.sub(lambda match: match[1] or match[2] or "", text)
        text = TAG.sub(" ", ESCAPE.sub(lambda match: ESCAPED[match[1]], text))
    text = HEAD_CELL.sub("", QUOTED_LINK.sub(r"\1", text))
    text = LINE_MARKS.sub("", RULE.sub("", text))
    text = EMPHASIS.sub(r"\2", QUOTES.sub("", CLOSING.sub("", text)))
    return ENTITY.sub(lambda match: unescape(match[0]), text) if "&" in text else text


def _template(match: re.Match[str]) -> str:
    """Replace a template by its name and the values of its parameters."""
    return f"{match[1].strip()} {PARAMETER.sub(' ', match[2]).strip()}".strip()
