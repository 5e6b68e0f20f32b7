"""Blocks, attachments and text of a message -> HTML for the page."""

from collections.abc import Callable
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML

from bot.sandbox.page.emoji import emoji
from bot.sandbox.page.mrkdwn_html import Name, inline, mention, render
from bot.sandbox.page.safe_html import Html, el, join, link
from bot.sandbox.workspace.refusal import Json


def _outside_links(self: RendererHTML, tokens: Any, index: int, options: Any, env: Any) -> str:
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return self.renderToken(tokens, index, options, env)


def _no_image(_self: RendererHTML, tokens: Any, index: int, _options: Any, _env: Any) -> str:
    """Slack shows the address of an image in Markdown, and nothing is loaded from elsewhere."""
    return escapeHtml(str(tokens[index].attrGet("src")))


MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
MARKDOWN.add_render_rule("link_open", _outside_links)
MARKDOWN.add_render_rule("image", _no_image)


class Place:
    """Where blocks stand: what a click on them has to name."""

    def __init__(self, name: Name, **where: str) -> None:
        self.name = name
        self.where = where


def message_body(message: Json, place: Place) -> Html:
    """What a reader sees of a message."""
    parts: list[Html] = []
    if message.get("blocks"):
        parts += [block(one, place) for one in message["blocks"]]
    elif message.get("text"):
        parts.append(el("p", render(str(message["text"]), place.name)))
    parts += [_attachment(one, place) for one in message.get("attachments", [])]
    parts += [el("div", "📄 ", file.get("name", "file"), cls="file") for file in _files(message)]
    return join(parts)


def block(given: Json, place: Place) -> Html:
    kind = str(given.get("type"))
    renderer = RENDERERS.get(kind)
    if renderer is None:
        return el("p", f"[{kind}]", cls="quiet")
    return renderer(given, place)


def _markdown(given: Json, _place: Place) -> Html:
    return el("div", Html(MARKDOWN.render(str(given["text"]))), cls="markdown")


def _section(given: Json, place: Place) -> Html:
    parts = [_text(given.get("text"), place)]
    if given.get("fields"):
        parts.append(el("div", [_text(one, place) for one in given["fields"]], cls="fields"))
    accessory = given.get("accessory")
    side = element(accessory, place, given) if isinstance(accessory, dict) else None
    return el("div", el("div", parts), side, cls="section")


def _header(given: Json, _place: Place) -> Html:
    return el("h3", str(given["text"]["text"]))


def _context(given: Json, place: Place) -> Html:
    return el("div", [_text(one, place) for one in given["elements"]], cls="context")


def _actions(given: Json, place: Place) -> Html:
    return el("div", [element(one, place, given) for one in given["elements"]], cls="actions")


def _image(given: Json, _place: Place) -> Html:
    return el("p", link(str(given.get("image_url", "")), "🖼 ", str(given.get("alt_text", "image"))))


def _table(given: Json, place: Place) -> Html:
    rows = [el("tr", [el("td", _cell(cell, place)) for cell in row]) for row in given["rows"]]
    return el("div", el("table", el("tbody", rows)), cls="markdown")


def _cell(cell: Json, place: Place) -> Html:
    return join(str(cell["text"])) if cell.get("type") == "raw_text" else _rich_text(cell, place)


def _rich_text(given: Json, place: Place) -> Html:
    return join([_rich_part(part, place) for part in given.get("elements", [])])


def _rich_part(part: Json, place: Place) -> Html:
    kind = part["type"]
    if kind == "rich_text_list":
        items = [el("li", _rich_part(item, place)) for item in part["elements"]]
        indent = f"indent{min(int(part.get('indent', 0)), 4)}"
        if part.get("style") != "ordered":
            return el("ul", items, cls=indent)
        before = int(part.get("offset", 0))
        return el("ol", items, cls=indent, start=str(before + 1) if before else None)
    words = join([_rich_word(word, place) for word in part["elements"]])
    if kind == "rich_text_preformatted":
        return el("pre", el("code", words))
    return el("blockquote" if kind == "rich_text_quote" else "p", words)


def _rich_word(word: Json, place: Place) -> Html:
    kind = word["type"]
    if kind in ("user", "channel", "usergroup"):
        sign = "#" if kind == "channel" else "@"
        return mention(sign + place.name(str(word[f"{kind}_id"])))
    if kind == "broadcast":
        return mention("@" + str(word["range"]))
    if kind == "emoji":
        return join(emoji(str(word["name"])))
    text = str(word.get("text") or word.get("url") or "")
    html = _lines(text)
    for style, tag in (("bold", "strong"), ("italic", "em"), ("strike", "s"), ("code", "code")):
        if word.get("style", {}).get(style):
            html = el(tag, html)
    return link(str(word["url"]), html) if kind == "link" else html


def _lines(text: str) -> Html:
    first, *rest = text.split("\n")
    return join([first, *([el("br"), line] for line in rest)])


def _text(value: Any, place: Place) -> Html:
    if not isinstance(value, dict) or "text" not in value:
        return Html("")
    text = str(value["text"])
    if value["type"] == "mrkdwn":
        return el("div", render(text, place.name))
    return el("div", _lines(text))


def element(given: Json, place: Place, parent: Json) -> Html:
    """A button, a pair of feedback buttons, a menu."""
    kind, text = given.get("type"), given.get("text") or {}
    if kind == "feedback_buttons":
        pair = (("positive_button", "👍"), ("negative_button", "👎"))
        return join(
            [
                _button(sign, given, place, parent, given[key]["value"], given[key]["text"]["text"])
                for key, sign in pair
            ]
        )
    if kind == "icon_button":
        return _button(str(text.get("text", "•")), given, place, parent, given.get("value"))
    if kind == "button" and given.get("url"):
        return link(str(given["url"]), str(text.get("text", "")), cls=_style(given))
    if kind == "button":
        return _button(str(text.get("text", "")), given, place, parent, given.get("value"))
    return el("span", f"[{kind}]", cls="quiet")


def _button(
    label: str,
    given: Json,
    place: Place,
    parent: Json,
    value: Any,
    hint: str | None = None,
) -> Html:
    return el(
        "button",
        label,
        type_="button",
        cls=_style(given),
        title=hint,
        data_do="click",
        data_action_id=str(given.get("action_id", "")),
        data_block_id=str(parent.get("block_id", "")),
        data_value=None if value is None else str(value),
        **{f"data_{key}": value for key, value in place.where.items()},
    )


def _style(given: Json) -> str:
    return f"button {given.get('style', '')}".strip()


def _attachment(given: Json, place: Place) -> Html:
    title = str(given.get("title") or "")
    parts = [
        el("div", render(str(given["pretext"]), place.name)) if given.get("pretext") else None,
        el("div", link(str(given.get("title_link", "")), title), cls="title") if title else None,
        el("div", render(str(given["text"]), place.name)) if given.get("text") else None,
        _fields(given.get("fields") or [], place),
        [block(one, place) for one in given.get("blocks", [])],
        el("div", inline(str(given["footer"]), place.name), cls="quiet")
        if given.get("footer")
        else None,
    ]
    color = str(given.get("color", ""))
    known = color if color in ("good", "warning", "danger") else ""
    return el("div", parts, cls=f"attachment {known}".strip())


def _fields(fields: list[Json], place: Place) -> Html:
    cells = [
        el(
            "div",
            el("b", str(one.get("title", ""))),
            el("br"),
            render(str(one.get("value", "")), place.name),
        )
        for one in fields
    ]
    return el("div", cells, cls="fields") if cells else Html("")


def _files(message: Json) -> list[Json]:
    return [file for file in message.get("files", []) if isinstance(file, dict)]


RENDERERS: dict[str, Callable[[Json, Place], Html]] = {
    "markdown": _markdown,
    "section": _section,
    "header": _header,
    "context": _context,
    "context_actions": _actions,
    "actions": _actions,
    "image": _image,
    "table": _table,
    "rich_text": _rich_text,
    "divider": lambda _given, _place: el("hr"),
}
