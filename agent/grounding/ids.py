"""Bracketed ids in an answer: those that were retrieved stay, in one spelling; others are removed.

``[payments-runbook-0]`` is a citation when that id was retrieved. Something of the same shape that
was not is forged and leaves the text, together with the blank before it. Text in code marks is
never a citation, and other brackets (``[x]``, ``[ERROR]``, links) are none of ours.
"""

import re
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.answer import Citation as AnswerCitation
from agent.answer import Segment
from agent.grounding.matching import DASHES, INVISIBLE
from agent.grounding.statements import Block, Citation, Span, read_blocks, without

_LEAD = r"(?:(?:sources?|source id|chunk|ids?|see|ref|cf\.?|from)\b[:\s]*|[#^])?"
_ID_SHAPED = re.compile(r"(?=.*[^\W\d_])\S(?:.*\S)?[-‐‑–]\d{1,6}", re.DOTALL)
_SUFFIX = r"\.(?:md|mdx|rst|txt|adoc)"
_PAGE = re.compile(rf"\S(?:(?!{_SUFFIX}(?:[#:]|$)).)*+{_SUFFIX}(?:[#:].*)?", re.IGNORECASE)
_CODE_SHAPED = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d{2,}")
_CHARACTERS = re.compile(r"(?:[A-Za-z0-9]-[A-Za-z0-9]){2,}")
"""Ranges of characters, such as ``[a-z0-9]``."""
_BRACKET = re.compile(r"\\?\[([^\[\]\n]{1,300}?)\\?\]")
_TARGET = re.compile(
    # Either all blanks stand before the address, or there is none and they stand before the title.
    r"\((?:\s*+|(?=\s++\"))(<[^<>\n]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:\s++\"[^\"\n]*+\")?+\s*+\)"
)
_WRAPPED = re.compile(
    r"!?\\?\[((?:[^\[\]\n]|\[[^\[\]\n]{1,300}\]){1,300})\\?\](?:" + _TARGET.pattern + ")?"
)
_BETWEEN = re.compile(r"(?:[\s,;|/&+\\…–—-]|\b(?:and|or|to)\b)*", re.IGNORECASE)
_EMPTIED = re.compile(
    r"(?<![ \t])[ \t]*+\((?:see|sources?|from|cf\.?|per|ref|and|,|;|:|\s)*+\)", re.IGNORECASE
)
_ANY_BRACKET = re.compile(r"[\[\]【】［］〔〕]")
_ROUNDS = 20
_JOIN = re.compile(r"[ \t]*+(?:(?:,|;|&|and)[ \t]*+)?")
_PART = re.compile(r"[,;|]| and ")


@dataclass(frozen=True, slots=True)
class Bracket:
    """One pair of brackets that means to cite: its known ids and its forged ones."""

    start: int
    end: int
    known: tuple[str, ...]
    forged: tuple[str, ...]
    label: str = ""
    """What stays of a link that was put around citations: its words, with the citations."""

    @property
    def canonical(self) -> str:
        return self.label or " ".join(f"[{each}]" for each in self.known)


class Brackets:
    """Knows the retrieved ids; reads the brackets of a text."""

    def __init__(self, ids: Collection[str], documented: str) -> None:
        self._ids = {_plain(each): each for each in ids}
        self._letters = {_letters(each) for each in ids}
        self._pages = set()
        for each in ids:
            page = re.sub(r"-\d+$", "", _plain(each))
            self._pages |= {page, page.rsplit("/", 1)[-1]}
        longest = sorted(map(re.escape, ids), key=len, reverse=True)
        self._known = re.compile(rf"\\?\[\s*{_LEAD}({'|'.join(longest)})\s*\\?\]", re.I)
        self._among = re.compile(rf"(?<![\w/.-])(?:{'|'.join(longest)})(?![\w-])", re.I)
        self._documented = documented

    @cached_property
    def _urls(self) -> set[str]:
        return set(re.split(r"[\s()<>\"'`]+", self._documented))

    def read(self, text: str, blocks: Sequence[Block]) -> list[Bracket]:
        """The citing brackets outside code, in order."""
        folded = text.translate(_BRACKET_FORMS)
        found: list[Bracket] = []
        for block in blocks:
            if block.kind != "code":
                for start, end in without((block.start, block.end), block.code):
                    found.extend(self._scan(folded, start, end))
        return found

    def _scan(self, text: str, start: int, end: int) -> Iterable[Bracket]:
        at = text.find("[", start, end)
        while at != -1:
            begin = at - 1 if at > start and text[at - 1] == "\\" else at
            bracket = self._wrapped(text, begin, end) or self._bracket_at(text, begin, end)
            if bracket is not None:
                yield bracket
            at = text.find("[", bracket.end if bracket else at + 1, end)

    def _wrapped(self, text: str, begin: int, end: int) -> Bracket | None:
        """Citations within one more pair of brackets, with or without a target of its own."""
        begin -= text.startswith("![", begin - 1) if begin else 0
        match = _WRAPPED.match(text, begin, end)
        if match is None or "[" not in match[1]:
            return None
        inner = list(self._scan(text, *match.span(1)))
        known = tuple(each for bracket in inner for each in bracket.known)
        words = without(match.span(1), [(each.start, each.end) for each in inner])
        alone = all(_BETWEEN.fullmatch(text, *span) for span in words)
        if not inner or not (alone or (known and match[2] is not None)):
            return None
        forged = tuple(each for bracket in inner for each in bracket.forged)
        return Bracket(match.start(), match.end(), known, () if known else forged, match[1])

    def _bracket_at(self, text: str, begin: int, end: int) -> Bracket | None:
        match = self._known.match(text, begin, end) if self._ids else None
        known: list[str] = []
        forged: list[str] = []
        if match:
            known.append(self._ids[_plain(match.group(1))])
        else:
            match = _BRACKET.match(text, begin, end)
            if match is None:
                return None
            self._sort(match.group(1), known, forged)
        if not known and not forged:
            return None
        target = _TARGET.match(text, match.end(), end)
        if target is None:
            return Bracket(begin, match.end(), tuple(known), tuple(forged))
        if not known and self._is_link(forged, target.group(1).strip("<>")):
            return None
        begin -= text.startswith("![", begin - 1) if begin else 0
        return Bracket(begin, target.end(), tuple(known), tuple(forged))

    def _is_link(self, labels: Sequence[str], url: str) -> bool:
        """A page's name, or a ticket such as ``[OPS-12](...)`` whose address is documented."""
        return all(
            not _ID_SHAPED.fullmatch(label) or (url in self._urls and _CODE_SHAPED.fullmatch(label))
            for label in labels
        )

    def _sort(self, content: str, known: list[str], forged: list[str]) -> None:
        among = self._among.findall(content) if self._ids else []
        if among and _BETWEEN.fullmatch(self._among.sub("", content)):
            known += [self._ids[_plain(each)] for each in among]
            return
        whole = self._classify(content, known, forged)
        if not whole and len(parts := _PART.split(content)) > 1:
            for part in parts:
                self._classify(part, known, forged)

    def _classify(self, content: str, known: list[str], forged: list[str]) -> bool:
        bare = re.sub(rf"^{_LEAD}", "", INVISIBLE.sub("", content).strip(), flags=re.I).strip()
        name = self._ids.get(_plain(bare)) or self._ids.get(_plain(re.split(r"[#:]", bare)[0]))
        if name is not None:
            known.append(name)
            return True
        if re.search(r"[,;|]", bare):
            return False
        if self._looks_forged(bare):
            forged.append(bare)
            return True
        return False

    def _looks_forged(self, bare: str) -> bool:
        if _PAGE.fullmatch(bare):
            return True
        page = re.sub(r"\.\w+$", "", _plain(bare)).rsplit("/", 1)[-1]
        if (page in self._pages and not bare.isdigit()) or _letters(bare) in self._letters:
            return True
        if _CHARACTERS.fullmatch(bare):
            return False
        if not _ID_SHAPED.fullmatch(bare) or not re.search(r"[^\W\d_]", bare.split()[-1]):
            return False
        # A code such as [PAY-4031] that the docs or the question name is no citation.
        return not (_CODE_SHAPED.fullmatch(bare) and bare in self._documented)


_BRACKET_FORMS = str.maketrans({"【": "[", "】": "]", "［": "[", "］": "]", "〔": "[", "〕": "]"})


def _plain(text: str) -> str:
    return INVISIBLE.sub("", text).translate(DASHES).strip().casefold()


def _letters(text: str) -> str:
    """An id without its punctuation: what differs only there means to be that id."""
    return re.sub(r"[\W_]+", "-", _plain(text))


def settle(text: str, brackets: Brackets) -> tuple[str, list[Block], list[str]]:
    """The text without forged ids, each known one as ``[id]``; and its blocks, with citations."""
    removed: list[str] = []
    blocks = read_blocks(text)
    found = brackets.read(text, blocks)
    # A removal can put together what an attacker took apart, so it is read again until it is quiet.
    rounds = 0
    while (changed := _rewrite(text, found)) != text:
        removed += [each for bracket in found for each in bracket.forged]
        rounds += 1
        text = changed if rounds < _ROUNDS else remove_outside_code(changed, _ANY_BRACKET)
        blocks = read_blocks(text)
        found = brackets.read(text, blocks)
    starts = [block.start for block in blocks]
    for bracket in found:
        block = blocks[bisect_right(starts, bracket.start) - 1]
        if block.start <= bracket.start < block.end:
            block.citations += [Citation(bracket.start, bracket.end, k) for k in bracket.known]
    return text, blocks, list(dict.fromkeys(removed))


def read_segments(text: str, ids: Collection[str], documented: str = "") -> tuple[Segment, ...]:
    """Markdown with bracketed ids -> segments; forged ids are left out."""
    text, blocks, _ = settle(text, Brackets(ids, documented))
    segments: list[Segment] = []
    at = 0
    for citation in (each for block in blocks for each in block.citations):
        if citation.start < at:  # one pair of brackets with several ids
            last = segments[-1]
            segments[-1] = Segment(last.text, (*last.citations, AnswerCitation(citation.id)))
            continue
        segments.append(Segment(text[at : citation.start], (AnswerCitation(citation.id),)))
        at = citation.end
    return (*segments, Segment(text[at:])) if text[at:] else tuple(segments)


def _rewrite(text: str, found: Sequence[Bracket]) -> str:
    out: list[str] = []
    at = 0
    previous: Bracket | None = None
    for bracket in found:
        start, end, put = bracket.start, bracket.end, bracket.canonical
        neighbour = previous if previous and _JOIN.fullmatch(text, previous.end, start) else None
        if neighbour and not (bracket.known and neighbour.known):
            # What joined the two goes with whichever of them goes.
            at = max(at, start)
        if not bracket.known:
            start, end, put = _hole(text, bracket, at)
        elif neighbour and not neighbour.known:
            last = next((piece[-1] for piece in reversed(out) if piece), "\n")
            put = put if last in " \n([" else f" {put}"
        out += [text[at:start], put]
        at = max(at, end)
        previous = bracket
    out.append(text[at:])
    joined = "".join(out)
    if any(not bracket.known for bracket in found):
        # Parentheses that held nothing but a forged id go too.
        joined = remove_outside_code(joined, _EMPTIED)
    return joined


def _hole(text: str, bracket: Bracket, floor: int) -> tuple[int, int, str]:
    """What to cut for a bracket that goes: it, and the blank on one side of it."""
    start, end = bracket.start, bracket.end
    while start > floor and text[start - 1] in " \t\u00a0":
        start -= 1
    line_begins = start == 0 or text[start - 1] == "\n"
    following = text[end : end + 1]
    if line_begins or text[start - 1] in "([":
        start = bracket.start
        while end < len(text) and text[end] in " \t\u00a0":
            end += 1
        return start, end, ""
    if text[start - 1] in ",;" and start > floor and following in ".,;:!?\n":
        return start - 1, end, ""
    goes_on = re.match(r"[`*_~\"]*[^\W_]", text[end : end + 8])
    apart = start < bracket.start or text[start - 1].isalnum()
    return start, end, " " if apart and goes_on else ""


def remove_outside_code(text: str, pattern: re.Pattern[str]) -> str:
    """The text without what ``pattern`` finds outside code."""
    holes: list[Span] = []
    for block in read_blocks(text):
        holes += [(block.start, block.end)] if block.kind == "code" else block.code
    pieces = []
    at = 0
    for start, end in without((0, len(text)), holes):
        pieces += [text[at:start], pattern.sub("", text[start:end])]
        at = end
    pieces.append(text[at:])
    return "".join(pieces)
