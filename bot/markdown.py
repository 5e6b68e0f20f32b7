"""Markdown as models write it -> nodes: citations found, foreign addresses inert, raw HTML gone.

The grammar is CommonMark with tables and strikethrough, less what hurts here: no reference
definitions (``[payments-runbook-0]: …`` is a citation, not one), no HTML, no emphasis between
letters or before a glob's dot.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markdown_it import MarkdownIt
from markdown_it.rules_inline import StateInline
from markdown_it.token import Token

from bot.addresses import ADDRESS, Addresses, trimmed
from bot.nodes import (
    HARD_BREAK,
    Code,
    Heading,
    Listing,
    Node,
    Paragraph,
    Quote,
    Rule,
    Run,
    Runs,
    Table,
    stripped,
)

_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)
_HTML = re.compile(
    r"</?(?:a|abbr|b|big|blockquote|center|code|dd|del|details|div|dl|dt|em|font|h[1-6]|hr|i|iframe"
    r"|img|ins|kbd|li|mark|ol|p|pre|s|samp|script|small|span|strike|strong|style|sub|summary|sup|svg"
    r"|table|tbody|td|tfoot|th|thead|tr|u|ul)(?:[\s/][^>]*)?>|<!--.*?-->",
    re.IGNORECASE | re.DOTALL,
)
_DESTINATION = re.compile(r"\((?:<[^<>\n]*>|((?:[^\s()]|\([^\s()]*\))*))(?:\s+\"[^\"\n]*\")?\)")
_LOOKS_LIKE_ADDRESS = re.compile(r"[A-Za-z][\w+.-]*:|[/#.]|www\.|[\w-]+(?:\.[\w-]+)+(?:[/?#]|$)")
_UNKNOWN_ID = re.compile(r"\[(?=[^\]\n]*[a-z/])[^\s\[\]()|`<>]+-\d{1,4}\]")
_SLACK_LINK = re.compile(r"<((?:https?|mailto):[^\s<>|]*)\|([^<>\n]*)>")
_SCHEME = re.compile(r"(?<![A-Za-z0-9])(?:https?|ftp|mailto)$", re.IGNORECASE)
_GLOB_ENDS = frozenset("./,;:-_?!)]}")


@dataclass(frozen=True)
class Reading:
    """What is known while an answer is read."""

    urls: Mapping[str, str | None]
    """Chunk id -> address of its lines, for every id that may be cited."""
    addresses: Addresses

    def ids(self) -> list[str]:
        return sorted(self.urls, key=len, reverse=True)


def read_markdown(text: str, reading: Reading) -> tuple[Node, ...]:
    """An answer's Markdown -> nodes that hold only what may be shown."""
    text = re.sub("[\ud800-\udfff]", "\ufffd", text)
    tokens = _READER.parse(text, {"ids": reading.ids()})
    return _Tree(
        tokens, lambda inline: stripped(reading.addresses.filtered(_cited(inline, reading)))
    ).nodes()


def read_plainly(text: str) -> tuple[Node, ...]:
    """Markdown -> nodes by the plain grammar, as whoever receives it will read it."""
    return _Tree(_PLAIN.parse(text), lambda inline: stripped(tuple(_runs(inline)))).nodes()


def _cited(inline: Sequence[Token], reading: Reading) -> Runs:
    return tuple(
        replace(run, url=reading.urls[run.cites]) if run.cites else run for run in _runs(inline)
    )


def _runs(inline: Sequence[Token]) -> Iterator[Run]:
    marks: list[str] = []
    url: str | None = None
    for token in inline:
        style = tuple(marks)
        if token.type in ("em_open", "strong_open", "s_open"):
            marks.append(token.markup)
        elif token.type in ("em_close", "strong_close", "s_close"):
            marks.pop()
        elif token.type == "link_open":
            url = str(token.attrs.get("href", ""))
        elif token.type == "link_close":
            url = None
        elif token.type == "citation":
            yield Run(f"[{token.content}]", style, cites=token.content)
        elif token.type == "code_inline":
            yield Run(token.content, style, code=True, url=url)
        elif token.type == "image":
            yield Run(token.content, style, url=url)
        elif token.type == "softbreak":
            yield Run("\n", style, url=url)
        elif token.type == "hardbreak" or _BREAK.fullmatch(token.content):
            yield Run(HARD_BREAK, style, url=url)
        elif token.type != "html_inline" or not _HTML.fullmatch(token.content):
            yield Run(token.content, style, url=url)


class _Tree:
    """Markdown-it's flat tokens -> nodes."""

    def __init__(self, tokens: Sequence[Token], runs: Callable[[Sequence[Token]], Runs]) -> None:
        self._tokens = iter(tokens)
        self._runs = runs

    def nodes(self, closing: str = "") -> tuple[Node, ...]:
        out: list[Node] = []
        for token in self._tokens:
            if token.type == closing:
                break
            out.extend(self._node(token))
        return tuple(out)

    def _node(self, token: Token) -> Iterator[Node]:
        match token.type:
            case "inline":
                if runs := self._runs(token.children or ()):
                    yield Paragraph(runs)
            case "heading_open":
                for node in self.nodes("heading_close"):
                    if isinstance(node, Paragraph):
                        yield Heading(int(token.tag[1:]), node.runs)
            case "fence" | "code_block":
                yield Code(token.content.removesuffix("\n"), (token.info.split() or [""])[0])
            case "hr":
                yield Rule()
            case "blockquote_open":
                if children := self.nodes("blockquote_close"):
                    yield Quote(children)
            case "bullet_list_open" | "ordered_list_open":
                yield self._listing(token)
            case "table_open":
                yield self._table()

    def _listing(self, opening: Token) -> Listing:
        closing = opening.type.replace("open", "close")
        items: list[tuple[Node, ...]] = []
        tight = True
        for token in self._tokens:
            if token.type == closing:
                break
            item, is_tight = self._item()
            items.append(item)
            tight = tight and is_tight
        start = int(opening.attrs.get("start", 1)) if opening.type.startswith("ordered") else None
        return Listing(tuple(items), start, opening.markup, tight)

    def _item(self) -> tuple[tuple[Node, ...], bool]:
        out: list[Node] = []
        tight = True
        for token in self._tokens:
            if token.type == "list_item_close":
                break
            if token.type == "paragraph_open":
                tight = tight and token.hidden
            out.extend(self._node(token))
        return tuple(out), tight

    def _table(self) -> Table:
        rows: list[tuple[Runs, ...]] = []
        cells: list[Runs] = []
        for token in self._tokens:
            if token.type == "table_close":
                break
            if token.type == "tr_open":
                cells = []
            elif token.type == "inline":
                cells.append(self._runs(token.children or ()))
            elif token.type == "tr_close":
                rows.append(tuple(cells))
        return Table(rows[0], tuple(rows[1:]))


def _citation(state: StateInline, silent: bool) -> bool:
    """``[chunk-id]``, also doubled, escaped, in a comma list, or as the label of some link."""
    if state.src[state.pos] != "[":
        return False
    found = _known_ids(state.src, state.pos, state.env.get("ids", ()))
    if found:
        ids, end = found
        link = _DESTINATION.match(state.src, end)
        if link and (link[1] is None or _LOOKS_LIKE_ADDRESS.match(link[1])):
            end = link.end()
    elif unknown := _UNKNOWN_ID.match(state.src, state.pos):
        ids, end = [], unknown.end()
        if state.src.startswith("(", end):
            return False
    else:
        return False
    if not silent:
        if not ids and (end >= state.posMax or not state.src[end].isalnum()):
            state.pending = state.pending.rstrip(" ")
        for number, ident in enumerate(ids):
            if number:
                state.pending += " "
            state.push("citation", "", 0).content = ident
        if ids and state.src.startswith("(", end):
            state.pending += " "
    state.pos = end
    return True


def _known_ids(src: str, pos: int, ids: Sequence[str]) -> tuple[list[str], int] | None:
    opening = re.compile(r"\[(\\?\[)?").match(src, pos)
    assert opening
    for start, closing in ((opening.end(), r"\\?\]\]" if opening[1] else r"\]"), (pos + 1, r"\]")):
        found: list[str] = []
        at = start
        while ident := next((i for i in ids if src.startswith(i, at)), None):
            found.append(ident)
            at += len(ident)
            if end := re.compile(closing).match(src, at):
                return found, end.end()
            separator = re.compile(r"[,;]\s*").match(src, at)
            if not separator:
                break
            at = separator.end()
    return None


def _address(state: StateInline, silent: bool) -> bool:
    """A bare address, whole, before its underscores and stars could mean emphasis."""
    if state.src[state.pos] != ":" or state.linkLevel > 0:
        return False
    scheme = _SCHEME.search(state.pending)
    if not scheme:
        return False
    match = ADDRESS.match(state.src, state.pos - len(scheme[0]), state.posMax)
    url = trimmed(match[0]) if match else ""
    if len(url) <= len(scheme[0]) + 1:
        return False
    if not silent:
        state.pending = state.pending[: -len(scheme[0])]
        _push_link(state, url, url)
    state.pos += len(url) - len(scheme[0])
    return True


def _slack_link(state: StateInline, silent: bool) -> bool:
    """``<address|label>``: a link like any other, never a token."""
    match = _SLACK_LINK.match(state.src, state.pos, state.posMax)
    if not match:
        return False
    if not silent:
        _push_link(state, match[1], match[2] or match[1])
    state.pos = match.end()
    return True


def _push_link(state: StateInline, url: str, label: str) -> None:
    state.push("link_open", "a", 1).attrs = {"href": url}
    state.push("text", "", 0).content = label
    state.push("link_close", "a", -1)


def _literal_star(state: StateInline, silent: bool) -> bool:
    """A single star between letters (``a*b``) or before a glob's ending (``*.log``)."""
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


def _plain_parser() -> MarkdownIt:
    parser = MarkdownIt("commonmark", {"html": True, "maxNesting": 100})
    # Addresses are judged, and encoded, in bot.addresses alone.
    for name, rule in (("normalizeLink", str), ("normalizeLinkText", str), ("validateLink", bool)):
        setattr(parser, name, rule)
    return parser.enable(["table", "strikethrough"])


def _reader() -> MarkdownIt:
    parser = _plain_parser().disable(["reference", "html_block"])
    inline = parser.inline.ruler
    inline.before("newline", "address", _address)
    inline.before("emphasis", "literal_star", _literal_star)
    inline.before("link", "citation", _citation)
    inline.before("autolink", "slack_link", _slack_link)
    return parser


_PLAIN = _plain_parser()
_READER = _reader()
