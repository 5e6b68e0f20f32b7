"""Markdown blocks -> the rich text, tables and headers that Slack returns for them.

Slack does not store Markdown: a reader of the message gets other blocks than the sender sent, and
more of them.
"""

from typing import Any

from markdown_it import MarkdownIt
from markdown_it.tree import SyntaxTreeNode

from bot.sandbox.events.translation import token_elements
from bot.sandbox.workspace.refusal import Json

PARSER = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
STYLES = {"strong": "bold", "em": "italic", "s": "strike"}


def translated(blocks: list[Any]) -> list[Any]:
    """Return the blocks with each Markdown block replaced by Slack's translation."""
    result: list[Any] = []
    for block in blocks:
        result += from_markdown(block["text"]) if block.get("type") == "markdown" else [block]
    for number, block in enumerate(result):
        block.setdefault("block_id", f"t{number}")
    return result


def from_markdown(text: str) -> list[Json]:
    blocks: list[Json] = []
    for node in SyntaxTreeNode(PARSER.parse(text)).children:
        if node.type == "heading":
            words = "".join(str(one.get("text", "")) for one in _inline(node))[:150]
            blocks.append({"type": "header", "text": {"type": "plain_text", "text": words or " "}})
        elif node.type == "hr":
            blocks.append({"type": "divider"})
        elif node.type == "table":
            blocks.append(_table(node))
        else:
            _append(blocks, _block_elements(node))
    return blocks


def _append(blocks: list[Json], elements: list[Json]) -> None:
    """Append elements, joining neighbouring text in one rich_text block."""
    if blocks and blocks[-1]["type"] == "rich_text":
        last = blocks[-1]["elements"][-1]
        if last["type"] == elements[0]["type"] == "rich_text_section":
            last["elements"].append({"type": "text", "text": "\n\n"})
            last["elements"] += elements.pop(0)["elements"]
        blocks[-1]["elements"] += elements
    else:
        blocks.append({"type": "rich_text", "elements": elements})


def _block_elements(node: SyntaxTreeNode) -> list[Json]:
    if node.type in ("fence", "code_block"):
        content = [{"type": "text", "text": node.content.removesuffix("\n")}]
        return [{"type": "rich_text_preformatted", "border": 0, "elements": content}]
    if node.type in ("bullet_list", "ordered_list"):
        return _list(node, 0)
    if node.type == "blockquote":
        return [{"type": "rich_text_quote", "elements": _words(node)}]
    return [{"type": "rich_text_section", "elements": _words(node)}]


def _list(node: SyntaxTreeNode, indent: int) -> list[Json]:
    """Return one rich_text_list for each run of items at one depth: Slack has no nested lists."""
    style = "ordered" if node.type == "ordered_list" else "bullet"
    result: list[Json] = []
    for item in node.children:
        words = [child for child in item.children if child.type == "paragraph"]
        section = {
            "type": "rich_text_section",
            "elements": [one for child in words for one in _inline(child)],
        }
        if result and result[-1]["type"] == "rich_text_list" and result[-1]["indent"] == indent:
            result[-1]["elements"].append(section)
        else:
            result.append(
                {
                    "type": "rich_text_list",
                    "style": style,
                    "indent": indent,
                    "border": 0,
                    "elements": [section],
                }
            )
        for child in item.children:
            if child.type in ("bullet_list", "ordered_list"):
                result += _list(child, indent + 1)
            elif child.type != "paragraph":
                result += _block_elements(child)
    return result


def _table(node: SyntaxTreeNode) -> Json:
    rows = [row for part in node.children for row in part.children]
    return {"type": "table", "rows": [[_cell(cell) for cell in row.children] for row in rows]}


def _cell(cell: SyntaxTreeNode) -> Json:
    elements = _inline(cell)
    if all(set(element) == {"type", "text"} and element["type"] == "text" for element in elements):
        return {"type": "raw_text", "text": "".join(element["text"] for element in elements)}
    section = {"type": "rich_text_section", "elements": elements}
    return {"type": "rich_text", "elements": [section]}


def _words(node: SyntaxTreeNode) -> list[Json]:
    if node.type in ("paragraph", "heading"):
        return _inline(node)
    words: list[Json] = []
    for child in node.children:
        if words:
            words.append({"type": "text", "text": "\n"})
        words += [{"type": "text", "text": child.content}] if child.content else _words(child)
    return words


def _inline(node: SyntaxTreeNode, style: Json | None = None) -> list[Json]:
    style = style or {}
    result: list[Json] = []
    for child in node.children:
        result += _span(child, style)
    return result


def _span(node: SyntaxTreeNode, style: Json) -> list[Json]:
    if node.type == "inline":
        return _inline(node, style)
    if node.type in STYLES:
        return _inline(node, {**style, STYLES[node.type]: True})
    if node.type in ("softbreak", "hardbreak"):
        return [{"type": "text", "text": "\n"}]
    if node.type == "code_inline":
        return [_styled({"type": "text", "text": node.content}, {**style, "code": True})]
    if node.type in ("link", "image"):
        return [_styled(_link(node), style)]
    return [_styled(element, style) for element in token_elements(node.content)]


def _link(node: SyntaxTreeNode) -> Json:
    url = str(node.attrs.get("href") or node.attrs.get("src") or "")
    inner = _inline(node) if node.type == "link" else []
    label = "".join(str(element.get("text", "")) for element in inner) or node.content
    link: Json = {"type": "link", "url": url}
    if label and label != url:
        link["text"] = label
    return link


def _styled(element: Json, style: Json) -> Json:
    return {**element, "style": style} if style else element
