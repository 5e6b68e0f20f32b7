"""The parts of a Slack message -> the same parts, with what an app says several times said once.

Words are compared only where an app repeats itself by habit: between the text, the blocks and the
fields of one message or one attachment. Two attachments may well share a value, a host or a
severity: each is kept whole, and goes only where another one says the very same.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from bot.reading.addresses import trimmed

ADDRESS = re.compile(r"\b[A-Za-z][A-Za-z0-9+.-]{1,30}://[^\s<>\"`]+")
_MARKS = re.compile(r"[*_~`]+|(?<!\S)[-+•·●◦▪]+(?!\S)")
"""Signs that style a line or begin an item: an app writes them in one place and not in another."""
_WORD = re.compile(
    r"[\w%#@+/-]+(?:[.,:/][\w%#@+-]+)*|[^\w\s!\"#%&'()*,./:;?@\[\]\\_`{}|~•·●◦▪–—…“”„‘’«»-]"
)
"""A word with what belongs to it, or a sign that makes a difference: ``<`` and ``>``, ``🔴``."""
_COVERED = 0.7

Part = tuple[str, bool]
"""Text that belongs together, and whether it must survive shortening."""
Segment = list[Part]
"""What one field of a message holds: its text, or its blocks."""


@dataclass(frozen=True, slots=True)
class Group:
    """A message's own words, or one attachment: segments that may say the same."""

    segments: tuple[Segment, ...]
    is_attachment: bool = False


def folded(groups: Sequence[Group]) -> list[Part]:
    """The parts of all groups, in order."""
    inner = [_folded_within(group) for group in groups]
    lines = [list(_lines(parts)) for parts in inner]
    out: list[Part] = []
    for number, parts in enumerate(inner):
        if not _repeated(number, groups, lines):
            out.extend(parts)
            continue
        shown = _text_of((out, *inner[number + 1 :]))
        fresh = [_fresh_addresses(text, shown) for text, _ in parts]
        out.extend((text, True) for text in dict.fromkeys(fresh) if text)
    return out


def covers(shown: str, text: str) -> bool:
    """Whether the blocks say what the text says; Slack shows the text only where there are none."""
    words = set(_words(text.lower()))
    return bool(words) and len(words & set(_words(shown.lower()))) >= _COVERED * len(words)


def _repeated(number: int, groups: Sequence[Group], lines: Sequence[list[str]]) -> bool:
    """Whether one other group says all that this one says."""
    own = lines[number]
    for other, said in enumerate(lines):
        if other == number or not own:
            continue
        if groups[other].is_attachment and groups[number].is_attachment:
            repeats = other < number and said == own
        else:
            # Of two that say the same, the first one stays.
            repeats = _says_all(said, own) and (other < number or not _says_all(own, said))
        if repeats:
            return True
    return False


def _says_all(said: Sequence[str], lines: Iterable[str]) -> bool:
    whole, text = set(said), "\n".join(said)
    return all(line in whole or (_several(line) and line in text) for line in lines)


def _folded_within(group: Group) -> list[Part]:
    """The parts without lines that another segment says already; of two the longer one stays."""
    said = [list(_lines(segment)) for segment in group.segments]
    out: list[Part] = []
    for number, segment in enumerate(group.segments):
        before = [line for lines in said[:number] for line in lines]
        after = [line for lines in said[number + 1 :] for line in lines]
        repeats = _Repeats(set(before), "\n".join(before), set(after), "\n".join(after))
        for text, important in segment:
            shown = _text_of((out, *group.segments[number + 1 :]))
            lines = (
                _fresh_addresses(line, shown) if repeats.hold(_line_words(line)) else line
                for line in _units(text)
            )
            kept = "\n".join(line for line in lines if line is not None)
            if kept.strip():
                out.append((kept, important))
    return out


@dataclass(frozen=True, slots=True)
class _Repeats:
    """What the other segments of a group say, before and after one of them."""

    before: set[str]
    text_before: str
    after: set[str]
    text_after: str

    def hold(self, words: str) -> bool:
        if not words.strip():
            return False
        if words in self.before:
            return True
        # One word alone may well be a part of something longer by chance.
        longer_after = words in self.text_after and words not in self.after
        return _several(words) and (words in self.text_before or longer_after)


def _text_of(segments: Iterable[Iterable[Part]]) -> str:
    return "\n".join(text for segment in segments for text, _ in segment)


def _several(words: str) -> bool:
    return " " in words.strip()


def _fresh_addresses(text: str, shown: str) -> str | None:
    """Of words that repeat others, the addresses that are nowhere else."""
    found = (trimmed(address) for address in ADDRESS.findall(text))
    return " ".join(address for address in found if address not in shown) or None


def _lines(parts: Iterable[Part]) -> Iterator[str]:
    for text, _ in parts:
        yield from filter(str.strip, map(_line_words, _units(text)))


def _units(text: str) -> list[str]:
    """The lines of a text; code in a fence stays together, whichever of its lines are repeats."""
    units: list[list[str]] = []
    in_code = False
    for line in text.split("\n"):
        if in_code:
            units[-1].append(line)
        else:
            units.append([line])
        in_code ^= line.count("```") % 2 == 1
    return ["\n".join(unit) for unit in units]


def _line_words(line: str) -> str:
    return f" {' '.join(_words(ADDRESS.sub(' ', line)))} "


def _words(text: str) -> list[str]:
    return _WORD.findall(_MARKS.sub(" ", text))
