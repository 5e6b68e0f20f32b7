"""Tags of HTML, components and templates -> the words that their attributes carry.

An attribute is a word of the page unless its role is presentation, address or behaviour, as HTML
names these roles, or unless its value has the form of a colour or of a media file. A tag carries
text if one such value has letters; its flags and numbers (``required``, ``default={30}``) count
only then, so that ``<Grid cols={2} lazy>`` carries nothing.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

ELEMENTS = {
    "a", "abbr", "article", "aside", "b", "blockquote", "body", "br", "button", "caption",
    "center", "cite", "code", "col", "colgroup", "dd", "del", "details", "dfn", "div", "dl", "dt",
    "em", "figcaption", "figure", "font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6",
    "head", "header", "hr", "html", "i", "iframe", "img", "input", "ins", "kbd", "label", "li",
    "link", "main", "mark", "nav", "object", "ol", "option", "p", "picture", "pre", "q", "s",
    "samp", "section", "select", "small", "source", "span", "strike", "strong", "style", "sub",
    "summary", "sup", "svg", "table", "tbody", "td", "tfoot", "th", "thead", "title", "tr", "tt",
    "u", "ul", "var", "video",
}  # fmt: skip
TEXT_ROLES = {
    "alt", "title", "label", "summary", "caption", "header", "heading", "text", "content",
    "description", "placeholder", "abbr", "name", "value", "tip",
}  # fmt: skip
"""Attributes that hold text; their own name says nothing."""
NAMES_OF_THINGS = {"content", "description", "name", "text", "tip", "value"}
"""Those of them that are no text on an element of HTML itself."""
OTHER_ROLES = {
    "class", "style", "src", "srcset", "href", "hreflang", "url", "link", "to", "target", "rel",
    "id", "ids", "key", "ref", "width", "height", "align", "valign", "color", "colour", "bgcolor",
    "background", "border", "icon", "theme", "layout", "cols", "gap", "slot", "lang", "dir",
    "language", "role", "sizes", "size", "loading", "tabindex", "media", "poster", "fill",
    "stroke", "as", "is",
}  # fmt: skip
"""Attributes of presentation, of addresses and of behaviour."""
LONGEST_TAG = 4_000
OPENING = re.compile(r"<(/?)([A-Za-z][\w.-]*+)(?=[\s/>])")
SPACE = re.compile(r"\s*+")
NEXT_PARAGRAPH = re.compile(r"\n[ \t]*+\n")
END = re.compile(r"(/?)>")
KEY = re.compile(r"/?[^\s\"'<>/={}`]++")
VALUE = re.compile(r"(?<!\s)\s*+=\s*+(?:\"([^\"]*+)\"|'([^']*+)'|([^\s\"'<>{}`]++))")
EXPRESSION = re.compile(r"(?<!\s)\s*+=\s*+(?=\{)")
LITERAL = re.compile(
    r"\"((?:[^\"\\\n]|\\.)*+)\"|'((?:[^'\\\n]|\\.)*+)'|`((?:[^`\\]|\\.)*+)`"
    r"|(\x02\d++\x03)"
)
"""A string; the last form stands for code in a text that is being cleaned."""
SCALAR = re.compile(r"-?\d[\d_.]*+|true|false|null")
IN_TEMPLATE = re.compile(r"\$\{[^{}]*+\}")
INNER_TAG = re.compile(r"<[^<>]*+>")
HANDLER = re.compile(r"on[A-Z]|v-|[@:#]")
"""The beginning of an attribute that holds code."""
PARTS = re.compile(r"[A-Z]?[a-z]++|[A-Z]++|\d++")
NO_WORDS = re.compile(
    r"data:.*|#[0-9a-fA-F]{3,8}|-?[\d.]++(?:px|r?em|v[hw])"
    r"|(?>[^\s?#]*\.)(?:png|svg|jpe?g|gif|webp|avif|ico|mp4|webm|woff2?)(?:[?#]\S*)?",
    re.DOTALL | re.IGNORECASE,
)
LETTER = re.compile(r"[^\W\d_]|\x02")
PARAMETER = re.compile(
    r"(?:(?<![\w.])([A-Za-z][\w.-]*+)\s*+[=:]\s*+)?+(?:\"([^\"]*+)\"|'([^']*+)'|`([^`]*+)`|([^\s\"'`|,]++))"
)
FILE = re.compile(
    r"(?![a-z]++://)(?:\.{0,2}/\S*+|(?>\S*/)(?>[^\s/]*\.)[A-Za-z][A-Za-z0-9]{0,4}"
    r"|[^\s./]++\.[A-Za-z][A-Za-z0-9]{0,4})"
)
"""A path: from a root, or with a suffix. A host and a version have more dots or digits."""
PLAIN_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]++")
CONTROL = {
    "if", "elsif", "else", "elif", "unless", "case", "when", "for", "assign", "set", "capture",
    "cycle", "increment", "decrement", "break", "continue", "block", "extends", "raw", "endraw",
    "liquid", "import", "from", "macro", "call", "with", "tablerow", "filter",
}  # fmt: skip
"""Tags of Liquid and Jinja that decide; their strings are no text."""


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag in a text: ``text[start:end]``."""

    start: int
    end: int
    name: str
    is_closing: bool
    is_empty: bool
    has_values: bool
    words: str
    """The words that it carries; empty if there are none."""

    @property
    def is_element(self) -> bool:
        return self.name.lower() in ELEMENTS

    def moved(self, by: int) -> "Tag":
        """Return the tag at positions that are larger by this number."""
        return replace(self, start=self.start + by, end=self.end + by)


@dataclass(frozen=True)
class TaggedText:
    """A text, and the tags in it."""

    text: str

    def tags(self, start: int = 0, end: int | None = None) -> Iterator[Tag]:
        """Yield the tags that begin between two positions; the last one may end behind."""
        position, end = start, len(self.text) if end is None else end
        while opening := OPENING.search(self.text, position):
            if opening.start() >= end:
                return
            tag = self._tag(opening)
            if tag:
                yield tag
            position = tag.end if tag else opening.end()

    def _tag(self, opening: re.Match[str]) -> Tag | None:
        text, position = self.text, opening.end()
        limit = min(len(text), opening.start() + LONGEST_TAG)
        values: list[tuple[str, str | None, bool]] = []
        while True:
            space = SPACE.match(text, position, limit)
            position = space.end() if space else position
            if space and NEXT_PARAGRAPH.search(space[0]):
                return None
            if closed := END.match(text, position, limit):
                name = opening[2]
                words = "" if opening[1] else _words(values, is_element=name.lower() in ELEMENTS)
                has_values = any(value is not None for _, value, _ in values)
                return Tag(
                    opening.start(), closed.end(), name, bool(opening[1]), bool(closed[1]),
                    has_values, words,
                )  # fmt: skip
            if position in self._braces:
                position = self._braces[position] + 1
                continue
            key = KEY.match(text, position, limit)
            if not key:
                return None
            position = key.end()
            if value := VALUE.match(text, position, limit):
                values.append((key[0], next(v for v in value.groups() if v is not None), False))
                position = value.end()
            elif expression := EXPRESSION.match(text, position, limit):
                end = self._braces.get(expression.end())
                if end is None:
                    return None
                values.append((key[0], text[expression.end() + 1 : end], True))
                position = end + 1
            else:
                values.append((key[0].lstrip("/"), None, False))

    @cached_property
    def _braces(self) -> dict[int, int]:
        """Opening brace -> the brace that closes it."""
        pairs: dict[int, int] = {}
        waiting: list[int] = []
        for brace in re.finditer(r"[{}]", self.text) if "{" in self.text else ():
            if brace[0] == "{":
                waiting.append(brace.start())
            elif waiting:
                pairs[waiting.pop()] = brace.start()
        return pairs


def _words(values: list[tuple[str, str | None, bool]], *, is_element: bool) -> str:
    """Return what the attributes of a tag say."""
    spoken: list[str] = []
    carries = False
    for key, value, is_expression in values:
        if not _is_text(key, is_element=is_element):
            continue
        if value is None:
            spoken.append(key)
            continue
        read = _literals(value) if is_expression else [value]
        says = [" ".join(text.split()) for text in read if not NO_WORDS.fullmatch(text.strip())]
        says = [text for text in says if text]
        carries = carries or any(
            LETTER.search(text) and not (is_expression and SCALAR.fullmatch(text)) for text in says
        )
        if says:
            spoken.append(" ".join(says) if _role(key) in TEXT_ROLES else " ".join((key, *says)))
    return ", ".join(spoken) if carries else ""


def _role(key: str) -> str:
    """The last word of an attribute's name: ``title`` of ``data-title``."""
    return next(reversed(PARTS.findall(key)), "").lower()


def _is_text(key: str, *, is_element: bool) -> bool:
    parts = {part.lower() for part in PARTS.findall(key)}
    if is_element:
        return _role(key) in TEXT_ROLES - NAMES_OF_THINGS
    if not parts or HANDLER.match(key):
        return False
    return not parts & OTHER_ROLES and "data" not in parts


def _literals(expression: str) -> list[str]:
    """Return the texts of an expression in braces: its strings, its only number, its elements."""
    expression = expression.strip()
    if SCALAR.fullmatch(expression):
        return [expression]
    if expression.startswith("<"):
        return [INNER_TAG.sub(" ", expression)]
    if "=>" in expression or expression.startswith("function"):
        return []
    strings = (next(part for part in match.groups() if part is not None)
             for match in LITERAL.finditer(expression))  # fmt: skip
    return [IN_TEMPLATE.sub(" ", text) for text in strings]


def parameter_words(name: str, parameters: str) -> str:
    """Return the words in the parameters of a template's tag, named or not.

    The path of a file says nothing where nothing calls it text. A word without quotes may be the
    name of a variable. An id names the thing only where nothing else does.
    """
    if name in CONTROL:
        return ""
    spoken: list[str] = []
    ids: list[str] = []
    for match in PARAMETER.finditer(parameters):
        key, bare = match[1] or "", match[5] or ""
        text = " ".join(next((part for part in match.groups()[1:] if part is not None), "").split())
        is_named_text = bool(key) and _role(key) in TEXT_ROLES
        if not LETTER.search(text) or NO_WORDS.fullmatch(text) or SCALAR.fullmatch(text):
            continue
        if (bare and not PLAIN_WORD.fullmatch(bare)) or (
            FILE.fullmatch(text) and not is_named_text
        ):
            continue
        if not key or _is_text(key, is_element=False):
            spoken.append(text)
        elif _role(key) == "id":
            ids.append(text)
    return " ".join(spoken or ids)
