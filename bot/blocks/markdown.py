"""Markdown as models write it -> nodes: citations linked, foreign addresses inert, no HTML."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from markdown_it.token import Token

from agent.citations.brackets import Brackets, settle
from bot.blocks.addresses import Addresses, openable
from bot.blocks.bars import BAR, with_bars
from bot.blocks.grammar import ANSWERS, PLAIN, closed_tags
from bot.blocks.nodes import (
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

_DEEPEST = 80
_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""Controls, tags, and what turns the direction of words round; code keeps even these."""
_BREAK = re.compile(r"<br\s*/?>", re.IGNORECASE)


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
    text = re.sub(f"[\ud800-\udfff{BAR}]", "\ufffd", re.sub("\r\n?", "\n", text))
    text, _, _ = settle(text, Brackets(reading.urls, "\n".join(reading.addresses.texts)))
    tokens = ANSWERS.parse(text, {"ids": reading.ids(), "closed": closed_tags(text)})
    if max((token.level for token in tokens), default=0) > _DEEPEST:
        # The parser gives up a little deeper and would lose what stands there.
        return (Code(text),)
    return _Tree(
        tokens, lambda inline: stripped(reading.addresses.filtered(_cited(inline, reading)))
    ).nodes()


def read_plainly(text: str) -> tuple[Node, ...]:
    """Markdown -> nodes by the plain grammar, as whoever receives it will read it."""
    tokens = PLAIN.parse(text)
    return _Tree(tokens, lambda inline: stripped(tuple(_runs(inline, strict=True)))).nodes()


def _cited(inline: Sequence[Token], reading: Reading) -> Runs:
    return tuple(
        replace(run, url=openable(reading.urls[run.cites])) if run.cites else run
        for run in _runs(inline)
    )


def _runs(inline: Sequence[Token], *, strict: bool = False) -> Iterator[Run]:
    """Runs of inline tokens; ``strict`` also shows what is dropped from an answer."""
    marks: list[str] = []
    url: str | None = None
    for token in inline:
        if token.type in ("em_open", "strong_open", "s_open"):
            marks.append(token.markup)
        elif token.type in ("em_close", "strong_close", "s_close"):
            marks.pop()
        elif token.type == "link_open":
            url = with_bars(str(token.attrs.get("href", "")))
        elif token.type == "link_close":
            url = None
        elif strict and token.type in ("image", "html_inline"):
            yield Run(token.content, url="not to be sent")
        else:
            yield _run(token, tuple(marks), url)


def _run(token: Token, marks: tuple[str, ...], url: str | None) -> Run:
    match token.type:
        case "citation":
            return Run(f"[{token.content}]", marks, cites=token.content)
        case "code_inline":
            return Run(with_bars(token.content), marks, code=True, url=url)
        case "softbreak":
            return Run("\n", marks, url=url)
        case "hardbreak":
            return Run(HARD_BREAK, marks, url=url)
        case "html_inline":
            return Run(HARD_BREAK if _BREAK.fullmatch(token.content) else "", marks, url=url)
    return Run(_UNSEEN.sub("", with_bars(token.content)), marks, url=url)


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
                if code := token.content.removesuffix("\n"):
                    yield Code(code, (token.info.split() or [""])[0])
            case "hr":
                yield Rule()
            case _:
                yield from self._container(token)

    def _container(self, token: Token) -> Iterator[Node]:
        match token.type:
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
