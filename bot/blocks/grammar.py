"""The Markdown grammar of answers: CommonMark with tables, strikethrough and citations.

It differs from CommonMark where that would damage engineers' texts: a reference definition needs an
address and a link that uses it, HTML blocks do not exist, only HTML's own tags are tags
(``<table>`` may be a placeholder), emphasis does not occur between letters, before a glob's dot or
in a name like ``__init__``, and a bar inside a command does not end a cell.
"""

import re
from collections import Counter
from collections.abc import Callable
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.rules_block import StateBlock, reference
from markdown_it.rules_inline import StateInline, entity, image, link

from bot.blocks.anchors import ANCHOR
from bot.blocks.bars import table_with_bars
from bot.reading.addresses import ADDRESS, trimmed

_SLACK_LINK = re.compile(r"<((?:https?|mailto):[^\s<>|]*)\|([^<>\n]*)>")
_DEFINITION = re.compile(r"\[([^\[\]\n]{1,200})\]:[ \t]*<?(?:[a-z][a-z0-9+.-]*:|\.{0,2}/|#)", re.I)
_LABEL = re.compile(r"\[([^\[\]\n]{1,200})\]")
_SCHEME = re.compile(r"(?:https?|ftp|mailto)$", re.IGNORECASE)
_DUNDER = re.compile(r"(?<![a-z0-9_])__[a-z0-9_]{3,}+(?<=__)(?![A-Z])")
_TAG = re.compile(
    r"<!--(?:(?!<!--).)*?-->|<(?P<closing>/?)(?P<name>a|abbr|b|big|blockquote|br|center|code|dd|del|details|div|dl"
    r"|dt|em|font|h[1-6]|hr|i|iframe|img|ins|kbd|li|mark|ol|p|pre|s|samp|script|small|span|strike"
    r"|strong|style|sub|summary|sup|svg|table|tbody|td|tfoot|th|thead|tr|u|ul)\b"
    r"(?:(?P<attributes>\s[^<>=]*+=[^>]{0,1000}+)|\s*+/?)>",
    re.IGNORECASE | re.DOTALL,
)
_CLOSING = re.compile(r"</([A-Za-z]\w*)")
_ALONE = ("br", "hr", "img")
_BRACKET = re.compile(r"[\[\]]")
_BRACKET_ENTITY = re.compile(
    r"&(?:#0*9[13]|#x0*5[bd]|lbrack|lsqb|rbrack|rsqb);", re.IGNORECASE | re.ASCII
)
_MOST_BRACKETS = 20
"""Maximum number of brackets that are open at a link; the parser asks each of them for its end."""
InlineRule = Callable[[StateInline, bool], bool]
_GLOB_ENDS = frozenset("./,;:-_?!)]}")


def _citation(state: StateInline, silent: bool) -> bool:
    """Parse an anchor, which represents a citation."""
    match = ANCHOR.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.push("citation", "", 0).content = match[0]
    state.pos = match.end()
    return True


def _address(state: StateInline, silent: bool) -> bool:
    """Parse a bare address as a whole, so that underscores and stars in it do not mean emphasis."""
    if state.src[state.pos] != ":" or state.linkLevel > 0:
        return False
    scheme = _SCHEME.search(state.pending[-6:])
    if not scheme:
        return False
    match = ADDRESS.match(state.src, state.pos - len(scheme[0]), state.posMax)
    url = trimmed(ANCHOR.split(match[0], 1)[0]) if match else ""
    if len(url) <= len(scheme[0]) + 1:
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        _push_link(state, url, url)
    state.pos += len(url) - len(scheme[0])
    return True


def _slack_link(state: StateInline, silent: bool) -> bool:
    """Parse ``<address|label>``, Slack's form of a link."""
    match = _SLACK_LINK.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        _push_link(state, match[1], match[2] or match[1])
    state.pos = match.end()
    return True


def _tag(state: StateInline, silent: bool) -> bool:
    """Parse an HTML tag or comment; a placeholder such as ``<name>`` stays text."""
    match = _TAG.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    name = (match["name"] or "").lower()
    alone = name and not match["closing"] and not match["attributes"] and name not in _ALONE
    if alone and name not in state.env.get("closed", ()):
        return False
    if not silent:
        state.push("html_inline", "", 0).content = match[0]
    state.pos = match.end()
    return True


def closed_tags(text: str) -> frozenset[str]:
    """The names of all closing tags in the text."""
    return frozenset(name.lower() for name in _CLOSING.findall(text))


def _definition(state: StateBlock, first: int, last: int, silent: bool) -> bool:
    """Parse ``[label]: address`` if a link uses that label; any other such line is shown."""
    begin = state.bMarks[first] + state.tShift[first]
    match = _DEFINITION.match(state.src, begin, state.eMarks[first])
    if not match:
        return False
    if "labels" not in state.env:
        state.env["labels"] = Counter(_LABEL.findall(state.src.casefold()))
    is_used = state.env["labels"][match[1].casefold()] > 1
    return is_used and reference(state, first, last, silent)


def _push_link(state: StateInline, url: str, label: str) -> None:
    state.push("link_open", "a", 1).attrs = {"href": url}
    state.push("text", "", 0).content = label
    state.push("link_close", "a", -1)


def _literal_star(state: StateInline, silent: bool) -> bool:
    """Parse a single star between letters (``a*b``) or before a glob (``*.log``) as text."""
    src, pos = state.src, state.pos
    if src[pos] != "*":
        return False
    before = src[pos - 1] if pos else " "
    after = src[pos + 1] if pos + 1 < state.posMax else " "
    between = before.isascii() and before.isalnum() and after.isascii() and after.isalnum()
    glob = before.isspace() and after in _GLOB_ENDS
    if "*" in (before, after) or not (between or glob):
        return False
    if not silent:
        state.pending += "*"
    state.pos += 1
    return True


def _dunder(state: StateInline, silent: bool) -> bool:
    """Parse ``__init__`` as a name, not as emphasis."""
    match = _DUNDER.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        state.pending += match[0]
    state.pos = match.end()
    return True


def _shallow(rule: InlineRule) -> InlineRule:
    """Return a rule of links that reads no label where too many brackets are open."""

    def shallow(state: StateInline, silent: bool) -> bool:
        return state.pos < _too_deep(state.src) and rule(state, silent)

    return shallow


@lru_cache(maxsize=64)
def _too_deep(text: str) -> int:
    """Index of the first place with too many open brackets, or the length of the text."""
    depth = 0
    for bracket in _BRACKET.finditer(text):
        depth = depth + 1 if bracket[0] == "[" else max(depth - 1, 0)
        if depth > _MOST_BRACKETS:
            return bracket.start()
    return len(text)


def _entity(state: StateInline, silent: bool) -> bool:
    """Parse an entity; that of a bracket stays as written, as it would look like a citation."""
    if _BRACKET_ENTITY.match(state.src, state.pos):
        return False
    return entity(state, silent)


def _parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    # bot.blocks.links alone judges addresses and encodes them.
    for name, rule in (("normalizeLink", str), ("normalizeLinkText", str), ("validateLink", bool)):
        setattr(parser, name, rule)
    parser.enable(["table", "strikethrough"]).disable("html_block")
    parser.block.ruler.at("reference", _definition)
    parser.block.ruler.at("table", table_with_bars, {"alt": ["paragraph", "reference"]})
    inline = parser.inline.ruler
    inline.before("newline", "address", _address)
    inline.before("emphasis", "literal_star", _literal_star)
    inline.before("emphasis", "dunder", _dunder)
    inline.before("link", "citation", _citation)
    inline.before("autolink", "slack_link", _slack_link)
    inline.at("html_inline", _tag)
    inline.at("link", _shallow(link))
    inline.at("image", _shallow(image))
    inline.at("entity", _entity)
    return parser


ANSWERS = _parser()
