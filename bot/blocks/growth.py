"""The body of an answer so far, and the body later on -> the chunks that a stream has to add.

A stream accepts only whole blocks, and cannot change them later.
"""

from collections.abc import Sequence
from typing import Any

from bot.blocks.cuts import part_of
from bot.blocks.elements import Block

StreamChunk = dict[str, Any]


def settled(body: list[Block]) -> list[Block]:
    """The blocks without a table or a quote at the end, which may still get longer."""
    if not body:
        return []
    kinds = {body[-1]["type"], *(element["type"] for element in body[-1].get("elements", ()))}
    return body[:-1] if {"table", "rich_text_quote"} & kinds else body


def growth(shown: Sequence[Block], body: Sequence[Block]) -> list[StreamChunk] | None:
    """The chunks that make ``body`` of the blocks shown; None if ``body`` does not begin with them.

    The new items of a list at the end form another block.
    """
    if not shown:
        return _chunks(body)
    *whole, last = shown
    count = len(whole)
    if len(body) <= count or list(body[:count]) != whole:
        return None
    rest = _continued(last, body[count])
    return None if rest is None else _chunks([*rest, *body[count + 1 :]])


def _chunks(blocks: Sequence[Block]) -> list[StreamChunk]:
    return [{"type": "blocks", "blocks": list(blocks)}] if blocks else []


def _continued(before: Block, now: Block) -> list[Block] | None:
    """The new items of a grown list, as a block; None if ``now`` is not ``before``, grown."""
    if before == now:
        return []
    if not before["type"] == now["type"] == "rich_text":
        return None
    *whole, last = before["elements"]
    count = len(whole)
    if now["elements"][:count] != whole or last["type"] != "rich_text_list":
        return None
    grown, *below = now["elements"][count:]
    items = len(last["elements"])
    if part_of(grown, grown["elements"], 0, items) != last:
        return None
    if len(grown["elements"]) > items:
        below.insert(0, part_of(grown, grown["elements"], items, len(grown["elements"])))
    return [{**now, "elements": below}]
