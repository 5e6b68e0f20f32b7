"""Segments of an answer -> its body: blocks with its words, and the chunks that it cites."""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from unicodedata import category

from markdown_it.tree import SyntaxTreeNode

from agent.answer import Segment
from bot.blocks.anchors import with_anchors
from bot.blocks.elements import Block
from bot.blocks.grammar import ANSWERS, closed_tags
from bot.blocks.inline import Inline
from bot.blocks.links import Addresses
from bot.blocks.richtext import RichTextWriter, preformatted, rich_text, section
from ingest.documents import Passage

_LINE_ENDS = re.compile("\r\n?")
_HALF_CHARACTER = re.compile("[\ud800-\udfff]")
_DEEPEST = 80
_UNSEEN = ("Cc", "Cf", "Zs", "Zl", "Zp")
_SPACED = ("rich_text", "rich_text_list", "table")


@dataclass(frozen=True, slots=True)
class Body:
    """Blocks in order, and the cited chunk ids, each once, in order of first citation."""

    blocks: tuple[Block, ...] = ()
    cited: tuple[str, ...] = ()


def read_body(
    segments: Iterable[Segment], passages: Sequence[Passage], urls: Iterable[str] = ()
) -> Body:
    """Return the body of an answer; it has no blocks if no part of the answer is visible.

    ``passages`` are the chunks that the answer may cite; it may link the addresses in them and in
    ``urls``.
    """
    anchored = with_anchors(segments)
    text = _HALF_CHARACTER.sub("\ufffd", _LINE_ENDS.sub("\n", anchored.text))
    addresses = {passage.id: passage.url for passage in passages}
    inline = Inline(anchored, addresses, Addresses.of(passages, urls))
    tokens = ANSWERS.parse(text, {"closed": closed_tags(text)})
    if max((token.level for token in tokens), default=0) > _DEEPEST:
        # The parser stops a little deeper, and the words there would be lost.
        code, _ = anchored.take_out(text)
        blocks = [rich_text([preformatted(code)])]
    else:
        blocks = list(RichTextWriter(inline).blocks(SyntaxTreeNode(tokens)))
    # An anchor may be where no words are shown, such as the address of an image.
    if hidden := [ident for ident in anchored.ids if ident not in inline.cited]:
        blocks.append(rich_text([section(inline.citations(hidden))]))
    return Body(tuple(blocks), tuple(inline.cited)) if _is_visible(blocks) else Body()


def words(block: Block) -> str:
    """The words of a block, without any markup."""
    return "".join(_words(block))


def _words(value: Any) -> Iterator[str]:
    if isinstance(value, list):
        for row in value:
            yield from _words(row)
            yield "\n"
        return
    yield str(value.get("text", ""))
    inner = value.get("elements", value.get("rows", ()))
    for element in inner:
        yield from _words(element)
        if value["type"] in _SPACED:
            yield "\n"


def _is_visible(blocks: Sequence[Block]) -> bool:
    text = "".join(map(words, blocks))
    has_code = any(
        element["type"] == "rich_text_preformatted"
        for block in blocks
        for element in block.get("elements", ())
    )
    return has_code or any(category(char) not in _UNSEEN for char in text)
