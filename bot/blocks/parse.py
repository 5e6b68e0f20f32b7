"""Markdown as models write it -> nodes: citations linked, foreign addresses inert, no HTML."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain

from markdown_it.token import Token
from markdown_it.tree import SyntaxTreeNode

from agent.answer import written
from agent.grounding import read_segments
from bot.blocks.bars import BAR, with_bars
from bot.blocks.grammar import ANSWERS, PLAIN, closed_tags
from bot.blocks.links import Addresses
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
from bot.reading.addresses import openable

Words = Callable[[Sequence[Token]], Runs]

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
    text = written(read_segments(text, reading.urls, "\n".join(reading.addresses.texts)))
    tokens = ANSWERS.parse(text, {"ids": reading.ids(), "closed": closed_tags(text)})
    if max((token.level for token in tokens), default=0) > _DEEPEST:
        # The parser gives up a little deeper and would lose what stands there.
        return (Code(text),)
    return _nodes(
        SyntaxTreeNode(tokens),
        lambda inline: stripped(reading.addresses.filtered(_cited(inline, reading))),
    )


def read_plainly(text: str) -> tuple[Node, ...]:
    """Markdown -> nodes by the plain grammar, as whoever receives it will read it."""
    tree = SyntaxTreeNode(PLAIN.parse(text))
    return _nodes(tree, lambda inline: stripped(tuple(_runs(inline, strict=True))))


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


def _nodes(parent: SyntaxTreeNode, words: Words) -> tuple[Node, ...]:
    return tuple(chain.from_iterable(_node(child, words) for child in parent.children))


def _node(node: SyntaxTreeNode, words: Words) -> Iterator[Node]:
    match node.type:
        case "paragraph" if runs := _runs_of(node, words):
            yield Paragraph(runs)
        case "heading" if runs := _runs_of(node, words):
            yield Heading(int(node.tag[1:]), runs)
        case "fence" | "code_block" if code := node.content.removesuffix("\n"):
            yield Code(code, (node.info.split() or [""])[0])
        case "hr":
            yield Rule()
        case "blockquote" if children := _nodes(node, words):
            yield Quote(children)
        case "bullet_list" | "ordered_list":
            start = int(node.attrs.get("start", 1)) if node.type == "ordered_list" else None
            items = (_nodes(item, words) for item in node.children)
            paragraphs = chain.from_iterable(item.children for item in node.children)
            tight = all(child.hidden for child in paragraphs if child.type == "paragraph")
            # A number counts even where nothing is left of its item; a bullet does not.
            if kept := tuple(item for item in items if item or start is not None):
                yield Listing(kept, start, node.markup, tight)
        case "table":
            rows = chain.from_iterable(part.children for part in node.children)
            header, *rest = (tuple(_runs_of(cell, words) for cell in row.children) for row in rows)
            yield Table(header, tuple(rest))


def _runs_of(node: SyntaxTreeNode, words: Words) -> Runs:
    inline = node.children[0].token if node.children else None
    return words(inline.children or ()) if inline else ()
