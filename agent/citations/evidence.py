"""What a source contains, ready to be asked about one span of an answer."""

import re
from collections.abc import Sequence
from functools import cached_property

from agent.citations.commands import Template, command_words, left_out, same_in_other_order
from agent.citations.quantities import Value, read_values
from agent.citations.values import ValueSet
from agent.citations.spans import Checked, clean_url

_INVISIBLE = re.compile("[\u200b-\u200f\u2060-\u2064\ufeff\u00ad\u202a-\u202e\u2066-\u2069]")
HIDDEN = re.compile("[\u202a-\u202e\u2066-\u2069\U000e0000-\U000e007f]")
"""What shows a person another text than the one there is."""
_CONTINUED = re.compile(r"\s*\\\r?\n\s*")
_PROMPT = re.compile(r"^[ \t]*(?:[$%❯]|[\w.-]+@[\w.-]+[:~\w/]*[#$])[ \t]+(?=\S)", re.MULTILINE)
_TYPOGRAPHIC = str.maketrans(
    {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "‚": "'", "«": '"', "»": '"', "…": "..."}
)
_DASHES = str.maketrans({"‐": "-", "‑": "-", "‒": "-", "−": "-", "–": "-"})
_SPAN_OR_FENCE = re.compile(r"(`+)(.+?)(?<!`)\1(?!`)", re.DOTALL)
_CAMEL_OR_CODE = re.compile(
    r"(?:[A-Z]+[a-z0-9]+){2,}[A-Z]*|[A-Z][A-Z0-9]*(?:[-_][A-Z0-9]+)*[-_]?\d+"
)
_JSON_LINE = re.compile(r"[\s{}\[\],]*(?:\"[^\"]*\"\s*:?|[\d.{}\[\],\s:]|true|false|null)+")
_URLS = re.compile(r"(?<![a-z0-9])[a-z][a-z0-9+.-]{0,20}://[^\s<>\"'`{}|\\^]+", re.IGNORECASE)


def clean(text: str) -> str:
    """Without invisible characters, odd blanks and line continuation."""
    text = _INVISIBLE.sub("", text)
    text = _CONTINUED.sub(" ", text) if "\\" in text else text
    return text.replace("\u00a0", " ").replace("\u202f", " ").replace("\u2009", " ")


def squeezed(text: str) -> str:
    return " ".join(text.split())


class Given:
    """Words of the question and of the thread: they may fill placeholders, and be repeated."""

    def __init__(self, question: str, context: str) -> None:
        self.question = squeezed(clean(question).translate(_TYPOGRAPHIC))
        self._fold = f"{self.question}\n{squeezed(clean(context))}".casefold()

    def names(self, text: str) -> bool:
        """Whether the word stands in the question or the thread."""
        return occurs(text.casefold(), self._fold)

    @cached_property
    def _values(self) -> ValueSet:
        return ValueSet.of(self._fold)

    def states(self, value: Value) -> bool:
        """Whether the question or the thread has the value; that is no proof of it."""
        return self._values.holds(value)

    def asks(self, text: str) -> bool:
        """Whether the question itself has this text, of whatever length."""
        return occurs(squeezed(text).casefold(), self.question.casefold())


class Evidence:
    """One source."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._raw = _PROMPT.sub("", clean(text))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The text with white space folded; with typographic signs, also as they were typed."""
        plain = squeezed(self._raw)
        typed = plain.translate(_TYPOGRAPHIC)
        if not re.search("[‐‑‒−–—]", typed):
            return (plain,) if typed == plain else (plain, typed)
        dashed = typed.replace("—", "--")
        return (plain, typed, dashed.translate(_DASHES), dashed.replace("–", "--"))

    @cached_property
    def _fold(self) -> str:
        return self._texts[-1].casefold()

    @cached_property
    def values(self) -> ValueSet:
        return ValueSet.of(self._raw)

    @cached_property
    def _template(self) -> Template:
        return Template(self._texts[-1])

    @cached_property
    def _commands(self) -> list[list[str]]:
        """Code spans and the lines of code blocks, as words."""
        found = []
        for match in _SPAN_OR_FENCE.finditer(self._raw):
            lines = match.group(2).split("\n")
            block = len(match.group(1)) >= 3 and len(lines) > 1
            found += [command_words(line) for line in (lines[1:] if block else [match.group(2)])]
        if not found:
            found = [command_words(line) for line in self._raw.split("\n")]
        return [words for words in found if words]

    @cached_property
    def _urls(self) -> set[str]:
        return {clean_url(m.group()).rstrip("/") for m in _URLS.finditer(self._raw)}

    @cached_property
    def _dense(self) -> str:
        return re.sub(r"\s+", "", self._raw)

    def supports(self, span: Checked, given: Given) -> bool:
        if span.value is not None:
            return self.values.holds(span.value, counts_things=span.counts_things)
        if span.kind == "url":
            return span.text.rstrip("/") in self._urls or self.has(span.text)
        if span.kind == "name":
            return occurs(span.text.casefold(), self._fold)
        if span.kind == "quote":
            return self.says(span.text)
        if span.kind == "code":
            return self.has_code(span.text, given)
        return self.has(span.text) or self._has_filled(span.text, given)

    def has(self, text: str) -> bool:
        """Whether the text stands here, whole, letter for letter."""
        return any(occurs(text, known) for known in self._texts)

    def says(self, text: str) -> bool:
        """Whether the words stand here, whatever their case and punctuation at the end."""
        words = squeezed(clean(text)).translate(_TYPOGRAPHIC).casefold().strip(" .,;:!?…")
        return words in self._fold or words in self._fold.replace("`", "").replace("*", "")

    def has_code(self, text: str, given: Given) -> bool:
        """Whether a code span or a line of code stands here."""
        if HIDDEN.search(text):
            return False
        text = squeezed(_PROMPT.sub("", clean(text)))
        if self.has(text) or (text.endswith("()") and self.has(text[:-2])):
            return not self.shortened(text)
        words = command_words(text)
        if len(words) == 1 and self._has_word(text):
            return True
        if _JSON_LINE.fullmatch(text) and re.sub(r"\s+|,$", "", text) in self._dense:
            return True
        return self._has_filled(text, given) or any(
            same_in_other_order(words, known) for known in self._commands
        )

    def shortened(self, text: str) -> str:
        """The flag that the documented command has and this one leaves out."""
        words = command_words(text)
        return left_out(words, self._commands) if len(words) > 1 else ""

    def _has_word(self, text: str) -> bool:
        # Names of alerts and codes are the same in any case; paths, flags and words are not.
        if re.fullmatch(r"[\w-]+", text) and not text.startswith("-"):
            known = self._texts[-1]
            for match in re.finditer(re.escape(text), known, re.IGNORECASE):
                named = match.group()
                if _CAMEL_OR_CODE.fullmatch(named) and _stands_alone(named, known, match.start()):
                    return True
        found = list(read_values(text))
        whole = len(found) == 1 and found[0].text.strip() == text
        return whole and self.values.holds(found[0])

    def _has_filled(self, text: str, given: Given) -> bool:
        def known(value: str) -> bool:
            return given.names(value) or self.has(value)

        return self._template.filled_with(command_words(text), known)


def occurs(needle: str, text: str) -> bool:
    """Whether ``needle`` stands in ``text`` as a whole: no word, name or path goes on around it."""
    at = text.find(needle) if needle else -1
    while at != -1:
        if _stands_alone(needle, text, at):
            return True
        at = text.find(needle, at + 1)
    return False


def _stands_alone(needle: str, text: str, at: int) -> bool:
    after = at + len(needle)
    return _begins(needle, text[max(0, at - 2) : at], text, at) and _ends(
        needle, text[after : after + 2]
    )


def _begins(needle: str, before: str, text: str, at: int) -> bool:
    own, other, beyond = needle[0], before[-1:], before[:-1]
    if own == "/":
        inside = other.isalnum() or other in ("_", ".", "~", "-")
        return not other or not inside or "://" in text[text.rfind(" ", 0, at) + 1 : at]
    if not (own.isalnum() or own in "-_"):
        return True
    if other == "-":
        return own != "-" and not beyond.isalnum()
    if other == ".":
        return not beyond.isalnum() or _is_field(needle, own, beyond)
    if other == "/" and "/" in needle:
        return not beyond.isalnum() and beyond not in ("_", ".", "~")
    if other == "_":
        return not beyond.isalnum() and beyond != "_"
    return not other.isalnum()


def _ends(needle: str, after: str) -> bool:
    own, other, beyond = needle[-1], after[:1], after[1:]
    if not (own.isalnum() or own in "-_"):
        return True
    if other == "." and _is_field(needle, own, beyond):
        return True
    if other in ("-", ".", "_") or (other == "/" and "/" in needle):
        return not beyond.isalnum() and beyond not in ("-", "_")
    return not other.isalnum()


def _is_field(needle: str, own: str, beyond: str) -> bool:
    """Whether it may be one part of ``spec.replicas``; no version and no host is cut like that."""
    return "." not in needle and own.isalpha() and beyond.isalpha()


def supporting(sources: Sequence[Evidence], span: Checked, given: Given) -> Evidence | None:
    """The first source that contains the span."""
    return next((source for source in sources if source.supports(span, given)), None)
