"""A modal on the page: the blocks of its view, inputs among them."""

from bot.sandbox.page.message_html import Place, block
from bot.sandbox.page.safe_html import Html, el, join
from bot.sandbox.page.workspace_page import Look, name
from bot.sandbox.webapi.slack import Slack
from bot.sandbox.workspace.refusal import Json


def modal(slack: Slack, look: Look) -> Html:
    """The modal on top of this person's screen, if any."""
    stack = slack.workspace.view_stacks.get(look.user, [])
    if not stack:
        return Html("")
    view = slack.workspace.views[stack[-1]]
    place = Place(lambda one: name(slack, one), user=look.user, view_id=view["id"])
    errors: Json = view.get("errors", {})
    parts = [
        _input(one, errors) if one["type"] == "input" else block(one, place)
        for one in view["blocks"]
    ]
    close = view["close"]["text"] if view["close"] else "Cancel"
    submit = view["submit"]
    buttons = [
        el("button", close, type_="button", cls="button", data_do="close", data_user=look.user,
           data_view_id=view["id"]),
        el("button", submit["text"], type_="submit", cls="button primary") if submit else None,
    ]  # fmt: skip
    title = el("h2", str(view["title"]["text"]))
    return el(
        "form",
        title,
        el("div", parts, cls="body"),
        el("footer", buttons),
        cls="modal",
        data_view_id=view["id"],
        data_user=look.user,
        role="dialog",
        aria_modal="true",
    )


def _input(given: Json, errors: Json) -> Html:
    element = given["element"]
    label = str(given["label"]["text"])
    error = errors.get(given["block_id"])
    hint = given.get("hint")
    return el(
        "label",
        el("span", label, el("small", "optional") if given.get("optional") else None),
        _field(element, str(given["block_id"])),
        el("small", str(hint["text"])) if hint else None,
        el("small", str(error), cls="error") if error else None,
    )


def _field(element: Json, field: str) -> Html:
    kind = element["type"]
    initial = str(element.get("initial_value") or "")
    if kind == "plain_text_input" and element.get("multiline"):
        return el("textarea", initial, name=field, rows="4")
    if kind == "static_select":
        first = element.get("initial_option") or {}
        options = [_option(one, first) for one in element.get("options", [])]
        return el("select", el("option", "", value=""), options, name=field)
    if kind in ("radio_buttons", "checkboxes"):
        shape = "radio" if kind == "radio_buttons" else "checkbox"
        return join(
            [
                el("span", el("input", type_=shape, name=field, value=str(one["value"])),
                   " ", str(one["text"]["text"]), cls="choice")
                for one in element.get("options", [])
            ]
        )  # fmt: skip
    return el("input", name=field, value=initial)


def _option(given: Json, first: Json) -> Html:
    chosen = given["value"] == first.get("value")
    return el("option", str(given["text"]["text"]), value=str(given["value"]), selected=chosen)
