"""The check whether a chunk contains a span of an answer."""

import re
from collections.abc import Callable, Sequence
from functools import cached_property

from agent.grounding.command_lines import (
    Template,
    chained,
    command_words,
    is_command,
    left_out,
    names_command,
    parted,
    same_in_other_order,
)
from agent.grounding.dates import names_weekday, names_zone
from agent.grounding.line_breaks import ends_with_semicolon
from agent.grounding.matching import (
    HIDDEN,
    TYPOGRAPHIC,
    clean,
    occurs,
    place_of,
    squeezed,
    stands_alone,
    typed_forms,
)
from agent.grounding.patterns import HOST, clean_url
from agent.grounding.quantities import Value, read_values
from agent.grounding.spans import CheckedSpan
from agent.grounding.statements import code_spans
from agent.grounding.values import ValueSet

_PROMPT = re.compile(r"^[ \t]*+(?:[$%❯]|[\w.-]++@[\w.-]++[:~\w/]*+[#$])[ \t]++(?=\S)", re.MULTILINE)
_CAMEL_OR_CODE = re.compile(
    r"(?:[A-Z]++[a-z0-9]++){2,}+[A-Z]*+|[A-Z][A-Z0-9]*+(?:[-_][A-Z0-9]++)*+(?<=\d)"
)
_JSON_LINE = re.compile(r"(?:\"[^\"]*+\"|[\d.{}\[\],\s:]++|true|false|null)++")
"""A line of JSON, or of a part of one."""
_URLS = re.compile(r"(?<![a-z0-9])[a-z][a-z0-9+.-]{0,20}://[^\s<>\"'`{}|\\^]+", re.IGNORECASE)
_YAML_KEY = re.compile(r"([\w-]+):")
_ELLIPSIS = re.compile(r"\s?(?:…|\.\.\.|\[…\]|\[\.\.\.\])\s?")
_HEX = re.compile(r"[0-9a-fA-F]{7,64}")
# Options, paths, codes, addresses and hashes decide or do something: they are not mere words.
_WEIGHTY = re.compile(
    r"-.*|(?>.*?(?:^|[^\w.])[/~]).*|[A-Z]{1,6}-?\d[\w-]*|(?>.*?(?:://|@|=)).*|[0-9a-f]{12,}|#.*"
)


class ThreadWords:
    """Words of the question and of the thread: an answer can repeat them and fill placeholders."""

    def __init__(self, question: str, context: str) -> None:
        self.question = squeezed(clean(question).translate(TYPOGRAPHIC))
        self._fold = f"{self.question}\n{squeezed(clean(context))}".casefold()

    def names(self, text: str) -> bool:
        """Return True if the question or the thread contains the words."""
        return occurs(squeezed(text).casefold(), self._fold)

    @cached_property
    def _values(self) -> ValueSet:
        return ValueSet.of(self._fold)

    def states(self, value: Value) -> bool:
        """Return True if the question or the thread has the value. That does not support it."""
        return self._values.holds(value)

    def excuses(self, span: CheckedSpan) -> bool:
        """Return True if the span repeats the asker's words and is not something to run."""
        if span.kind == "quote":
            return occurs(squeezed(span.text).casefold(), self.question.casefold())
        if not self.names(span.text):
            return False
        return not is_command(span.text) and not _WEIGHTY.fullmatch(span.text)


class Evidence:
    """One chunk, as a source of support."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._raw = _PROMPT.sub("", clean(text))

    @cached_property
    def _texts(self) -> tuple[str, ...]:
        """The text with single blanks, and with plain signs in place of typographic ones."""
        return typed_forms(squeezed(self._raw))

    @cached_property
    def _lines(self) -> tuple[str, ...]:
        """The text and its commands, line by line, in the same forms."""
        lines = [self._one_line_each, "", *map(squeezed, self._raw.split("\n"))]
        return typed_forms("\n".join(lines))

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
        """The words of each code span and each line of a code block; of every line without any
        code."""
        commands = []
        for start, end in code_spans(self._raw):
            code = self._raw[start:end].strip("`")
            lines = code.split("\n")
            block = end - start - len(code) >= 6 and len(lines) > 1
            commands += [command_words(line) for line in (lines[1:] if block else [code])]
        if not commands:
            commands = [command_words(line) for line in self._raw.split("\n")]
        return [list(words) for words in dict.fromkeys(map(tuple, commands)) if words]

    @cached_property
    def _command_templates(self) -> Template:
        return Template.of_commands(self._commands)

    @cached_property
    def _one_line_each(self) -> str:
        return "\n".join(" ".join(words) for words in self._commands)

    @cached_property
    def _parted(self) -> str:
        return "\n".join(parted(words) for words in self._commands)

    @cached_property
    def _urls(self) -> set[str]:
        return {clean_url(m.group()).rstrip("/") for m in _URLS.finditer(self._raw)}

    @cached_property
    def _dense(self) -> str:
        return re.sub(r"\s+", "", self._raw)

    @cached_property
    def _one_quote(self) -> str:
        return self._texts[-1].replace('"', "'")

    def supports(self, span: CheckedSpan, thread: ThreadWords) -> bool:
        return _COMPARERS[span.kind](self, span, thread)

    def has(self, text: str) -> bool:
        """Return True if the chunk contains the text as a whole, letter for letter."""
        return any(occurs(text, documented) for documented in self._texts)

    def has_value(self, span: CheckedSpan) -> bool:
        value = span.value
        assert value is not None  # noqa: S101  # values have one
        if span.kind == "place":
            return value.number in self.values.places
        return self.values.holds(value, counts_things=span.counts_things)

    def has_name(self, text: str) -> bool:
        """Return True if the chunk has this alert or code, in any case; ``5xx`` matches 503."""
        if re.fullmatch(r"[1-5]xx", text) and re.search(rf"\b{text[0]}\d\d\b", self._fold):
            return True
        if percentile := re.fullmatch(r"p(\d{2,3})", text):
            return int(percentile[1]) in self.values.places
        if occurs(text.casefold(), self._fold):
            return True
        numbered = re.fullmatch(r"([A-Za-z]+)[- ]?(\d+)", text)  # SEV-1, SEV1, Sev 1
        if not numbered:
            return False
        word = re.sub(r"^sev(erity)?$", "sev(?:erity)?", numbered[1].casefold())
        return bool(re.search(rf"(?<![^\W_]){word}[- ]?{numbered[2]}(?!\w)", self._fold))

    def has_literal(self, text: str, thread: ThreadWords) -> bool:
        """Return True if the chunk has this path, option, host, #channel or @person."""
        if self.has(text) or (text[0] in "#@" and self.has(text[1:])):
            return True
        if HOST.match(text) and occurs(text.casefold(), self._fold):
            return True
        return self._has_filled(text, thread)

    def has_url(self, text: str) -> bool:
        text = text.rstrip("/")
        return text in self._urls or self.has(text)

    def has_zone(self, text: str) -> bool:
        return names_zone(text, self._raw)

    def has_weekday(self, text: str) -> bool:
        return names_weekday(text, self._fold, self.values.dates)

    def has_hash(self, text: str) -> bool:
        """Return True if the chunk has the hash, or one that begins like it."""
        fold = text.casefold()
        return bool(re.search(rf"(?<![0-9a-z]){re.escape(fold)}", self._fold)) and (
            _HEX.fullmatch(text) is not None or occurs(fold, self._fold)
        )

    def says(self, text: str) -> bool:
        """Return True if the chunk has the words, in any letter case; ``…`` means other words."""
        bare = self._fold.replace("`", "").replace("*", "")
        return any(self._in_order(text, fold) for fold in (self._fold, bare))

    def _in_order(self, text: str, fold: str) -> bool:
        at = 0
        for piece in _ELLIPSIS.split(squeezed(clean(text))):
            words = piece.translate(TYPOGRAPHIC).casefold().strip(" .,;:!?")
            start = fold.find(words, at)
            if start == -1:
                return False
            at = start + len(words)
        return True

    def runs(self, text: str) -> bool:
        """Return True if the chunk has the tool and subcommand of a command in prose."""
        if self.has(text):
            return True
        words = text.split()
        return any(
            words[0] in documented and words[1] in documented for documented in self._commands
        ) and (len(words) < 3 or all(self.has(word) for word in words[2:3]))

    def has_code(self, text: str, thread: ThreadWords) -> bool:
        """Return True if the chunk contains a code span or a line of code."""
        if HIDDEN.search(text):
            return False
        text = squeezed(_PROMPT.sub("", clean(text)))
        if self._has_command(text, thread):
            return True
        parts = chained(text)
        if len(parts) < 2 or not all(self._has_command(part, thread) for part in parts):
            return False
        # A word that the docs use somewhere is not yet a command of the docs.
        alone = [command_words(part) for part in parts if " " not in part]
        return all(part in self._commands for part in alone) and self._stand_in_order(parts)

    def _stand_in_order(self, parts: Sequence[str]) -> bool:
        """Return True if commands of several lines keep their order."""
        text, at = self._texts[-1], 0
        for part in parts:
            place = place_of(part, text, at)
            if place == -1 and place_of(part, text) != -1:
                return False
            at = max(at, place)
        return True

    def _has_command(self, text: str, thread: ThreadWords) -> bool:
        open_end = _ELLIPSIS.sub("", text[-4:]) if len(text) > 4 else text[-4:]
        whole = text[:-4] + open_end
        if self.has(whole) or (text.endswith("()") and self.has(text[:-2])):
            return whole != text or not self.shortened(text)
        words = command_words(text)
        is_json = _JSON_LINE.fullmatch(text) and re.search(r"[\[\]{}\":]", text)
        if is_json and re.sub(r"\s+|,$", "", text) in self._dense:
            return True
        if len(words) == 1:
            return self._has_word(text) or self._has_filled(text, thread)
        quoted = "$" not in text and re.search("['\"]", text)
        if quoted and occurs(text.replace('"', "'"), self._one_quote):
            return True
        if self.shortened(text):
            return False
        if parted(words) in self._parted or self._has_filled(text, thread):
            return True
        return any(
            same_in_other_order(words, documented) or names_command(words, documented)
            for documented in self._commands
            if documented[0] == words[0]
        )

    def shortened(self, text: str) -> str:
        """The words of the documented command that this one leaves out."""
        words = command_words(text)
        if len(words) < 2 or text.rstrip("; ") not in self._one_line_each:
            return ""
        return left_out(words, self._commands)

    def tears(self, first: str, second: str, thread: ThreadWords) -> bool:
        """Return True if a line of the chunk has both texts in a row, and no line ends between."""
        before, after = (command_words(_PROMPT.sub("", clean(each))) for each in (first, second))
        words = [*before, *after]
        if before in self._commands and after in self._commands:
            return False
        broken, whole = f"{' '.join(before)}\n{' '.join(after)}", " ".join(words)
        if any(occurs(broken, lines) for lines in self._lines):
            return False
        for lines in self._lines:
            at = place_of(whole, lines)
            if at != -1:
                end = lines.find("\n", at)
                return not ends_with_semicolon(lines[lines.rfind("\n", 0, at) + 1 : end])
        return self._command_templates.filled_with(words, self._knows(thread))

    def _has_word(self, text: str) -> bool:
        # Names of alerts and codes are the same in any case; paths, flags and words are not.
        if re.fullmatch(r"[\w-]+", text) and not text.startswith("-"):
            chunk = self._texts[-1]
            for match in re.finditer(re.escape(text), chunk, re.IGNORECASE):
                named = match.group()
                if _CAMEL_OR_CODE.fullmatch(named) and stands_alone(named, chunk, match.start()):
                    return True
        if HOST.fullmatch(text) and self.has_name(text):
            return True
        key = _YAML_KEY.fullmatch(text)
        if key and self.has(key.group(1)):
            return True
        if _HEX.fullmatch(text) and self.has_hash(text):
            return True
        values = read_values(text)
        whole = len(values) == 1 and values[0].text.strip() == text
        return whole and self.values.holds(values[0])

    def _has_filled(self, text: str, thread: ThreadWords) -> bool:
        words = command_words(text)
        # A single word does not show which placeholder it fills; "deploy/cart" does.
        if len(words) == 1 and not re.search(r"[/=:.-]", text):
            return False
        return self._template.filled_with(words, self._knows(thread))

    def _knows(self, thread: ThreadWords) -> Callable[[str], bool]:
        return lambda value: thread.names(value) or self.has(value)


_Comparer = Callable[[Evidence, CheckedSpan, ThreadWords], bool]
_COMPARERS: dict[str, _Comparer] = {
    "code": lambda chunk, span, thread: chunk.has_code(span.text, thread),
    "command": lambda chunk, span, _: chunk.runs(span.text),
    "url": lambda chunk, span, _: chunk.has_url(span.text),
    "literal": lambda chunk, span, thread: chunk.has_literal(span.text, thread),
    "name": lambda chunk, span, _: chunk.has_name(span.text),
    "hash": lambda chunk, span, _: chunk.has_hash(span.text),
    "value": lambda chunk, span, _: chunk.has_value(span),
    "place": lambda chunk, span, _: chunk.has_value(span),
    "zone": lambda chunk, span, _: chunk.has_zone(span.text),
    "weekday": lambda chunk, span, _: chunk.has_weekday(span.text),
    "quote": lambda chunk, span, _: chunk.says(span.text),
}
"""The comparison of each kind of span with a chunk."""


def supporting(
    chunks: Sequence[Evidence], span: CheckedSpan, thread: ThreadWords
) -> Evidence | None:
    """The first chunk that contains the span, or None."""
    return next((chunk for chunk in chunks if chunk.supports(span, thread)), None)
