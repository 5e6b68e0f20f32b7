"""Values -> HTML: the page's templates, and the functions that they call."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from markdown_it import MarkdownIt
from markdown_it.common.utils import escapeHtml
from markdown_it.renderer import RendererHTML
from markupsafe import Markup

from bot.sandbox.page import styled_text
from bot.sandbox.page.emoji import emoji
from bot.sandbox.page.styled_text import NameOf, StyledPart
from bot.sandbox.workspace.refusal import Json
from ingest.html_templates import open_templates


@dataclass(frozen=True)
class Surface:
    """The place that shows blocks: a message, a modal or the App Home."""

    name_of: NameOf
    target: Mapping[str, str] = field(default_factory=dict)
    """Values that a click on a block sends along, such as the ts of the message."""

    @property
    def attributes(self) -> dict[str, str]:
        return {f"data-{name}": value for name, value in self.target.items()}


def page_html(template: str, **values: Any) -> str:
    """Return a page, or a part of one."""
    return TEMPLATES.get_template(template).render(values)


def message_body(message: Json, surface: Surface) -> str:
    """Return the HTML of a message: blocks, text, attachments and files."""
    blocks: Any = TEMPLATES.get_template("blocks.html").module
    return str(blocks.message_body(message, surface))


def _link_opens_a_new_tab(
    self: RendererHTML, tokens: Any, index: int, options: Any, env: Any
) -> str:
    tokens[index].attrSet("target", "_blank")
    tokens[index].attrSet("rel", "noopener noreferrer")
    return self.renderToken(tokens, index, options, env)


def _image_address(_self: RendererHTML, tokens: Any, index: int, _options: Any, _env: Any) -> str:
    """Show the address of an image, as Slack does; the page loads nothing from elsewhere."""
    return escapeHtml(str(tokens[index].attrGet("src")))


MARKDOWN = MarkdownIt("commonmark", {"html": False}).enable(["table", "strikethrough"])
MARKDOWN.add_render_rule("link_open", _link_opens_a_new_tab)
MARKDOWN.add_render_rule("image", _image_address)


def _markdown(text: object) -> Markup:
    return Markup(MARKDOWN.render(str(text)))  # noqa: S704 - escaped: raw HTML is off in the parser


def _mrkdwn(text: object, surface: Surface) -> list[StyledPart]:
    return styled_text.mrkdwn(str(text), surface.name_of)


def _inline_mrkdwn(text: object, surface: Surface) -> list[StyledPart]:
    return list(styled_text.inline_mrkdwn(str(text), surface.name_of))


def _lines(text: object) -> list[StyledPart]:
    return styled_text.lines(str(text))


def _rich_words(elements: list[Json], surface: Surface) -> list[StyledPart]:
    return styled_text.rich_words(elements, surface.name_of)


def _is_web_address(url: object) -> bool:
    return str(url).lower().startswith(("http://", "https://", "mailto:"))


TEMPLATES = open_templates("bot.sandbox.page")
TEMPLATES.filters |= {
    "emoji": emoji,
    "inline_mrkdwn": _inline_mrkdwn,
    "lines": _lines,
    "markdown": _markdown,
    "mrkdwn": _mrkdwn,
    "rich_words": _rich_words,
}
TEMPLATES.tests["web_address"] = _is_web_address
