"""Blocks of an answer -> blocks of each message."""

from collections.abc import Iterable, Iterator

from bot.blocks.cuts import ROWS, parts, size
from bot.blocks.elements import Block

_BLOCKS = 34
"""Maximum number of blocks of the answer in one message.

Slack accepts 50, including those around the answer.
"""


def split(blocks: Iterable[Block], room: int) -> list[list[Block]]:
    """Return one list of blocks per message, each with at most ``room`` characters as sent."""
    messages: list[_MessageBlocks] = [_MessageBlocks(room)]
    for block in blocks:
        for part in _fitting(block, messages[-1], room):
            if not messages[-1].takes(part):
                heading = messages[-1].without_heading()
                messages.append(_MessageBlocks(room))
                for carried in heading:
                    messages[-1].add(carried)
            messages[-1].add(part)
    return [message.blocks for message in messages if message.blocks]


def _fitting(block: Block, message: "_MessageBlocks", room: int) -> Iterator[Block]:
    """The block, or its parts where it is too long or is a list that may begin in this message."""
    if message.takes(block):
        yield block
    elif _is_too_long(block, room):
        # A first part that is too short is not worth the cut.
        yield from parts(block, message.free if message.free > room // 3 else room, room)
    elif _has_list(block):
        yield from parts(block, message.free, room)
    else:
        yield block


class _MessageBlocks:
    """The blocks of one message, and the characters that it still has room for."""

    def __init__(self, room: int) -> None:
        self.blocks: list[Block] = []
        self.free = room

    def takes(self, block: Block) -> bool:
        if block["type"] == "table" and (
            len(block["rows"]) > ROWS + 1 or any(b["type"] == "table" for b in self.blocks)
        ):
            return False
        return size(block) <= self.free and len(self.blocks) < _BLOCKS

    def add(self, block: Block) -> None:
        self.blocks.append(block)
        self.free -= size(block)

    def without_heading(self) -> list[Block]:
        """Take out a heading at the end, which would be alone there."""
        if len(self.blocks) < 2 or not _is_heading(self.blocks[-1]):
            return []
        return [self.blocks.pop()]


def _is_too_long(block: Block, room: int) -> bool:
    return size(block) > room or len(block.get("rows", ())) > ROWS + 1


def _has_list(block: Block) -> bool:
    elements = block.get("elements", ())
    return any(element["type"] == "rich_text_list" for element in elements)


def _is_heading(block: Block) -> bool:
    """Return True if the whole paragraph is bold, as headings are."""
    match block.get("elements"):
        case [{"type": "rich_text_section", "elements": inline}]:
            return all(element.get("style", {}).get("bold") for element in inline)
    return False
