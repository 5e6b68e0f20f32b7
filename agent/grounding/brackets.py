"""The brackets of a text: which of them cite, and what.

A bracket can hold several ids, other spellings of an id, or more brackets; it can be the label of a
link. This module only reads. ``ids.py`` rewrites the text.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.grounding.cited_text import MARK, CitedText
from agent.grounding.matching import DASHES, INVISIBLE
from agent.grounding.statements import Span, without

_LEAD = r"(?:(?:sources?|source id|chunk|ids?|see|ref|cf\.?|from)\b[:\s]*|[#^])?"
_ID_SHAPED = re.compile(r"(?=.*[^\W\d_])\S(?:.*\S)?[-‐‑–]\d{1,6}", re.DOTALL)
_SUFFIX = r"\.(?:md|mdx|rst|txt|adoc)"
_PAGE = re.compile(rf"\S(?:(?!{_SUFFIX}(?:[#:]|$)).)*+{_SUFFIX}(?:[#:].*)?", re.IGNORECASE)
_CODE_SHAPED = re.compile(r"[A-Z][A-Z0-9]*(?:-[A-Z0-9]+)*-\d{2,}")
_CHARACTERS = re.compile(r"(?:[A-Za-z0-9]-[A-Za-z0-9]){2,}")
"""Ranges of characters, such as ``[a-z0-9]``, are not ids."""
_BRACKET = re.compile(rf"\\?\[([^\[\]\n{MARK}]{{1,300}}?)\\?\]")
_TARGET = re.compile(
    # Blanks come before the address, or, without an address, before the title.
    r"\((?:\s*+|(?=\s++\"))(<[^<>\n]*+>|[^\s()]*+(?:\([^\s()]*+\)[^\s()]*+)*+)"
    r"(?:\s++\"[^\"\n]*+\")?+\s*+\)"
)
_WRAPPED = re.compile(
    r"!?\\?\[((?:[^\[\]\n]|\[[^\[\]\n]{1,300}\]){1,300})\\?\](?:" + _TARGET.pattern + ")?"
)
_BETWEEN = re.compile(r"(?:[\s,;|/&+\\…–—-]|\b(?:and|or|to)\b)*", re.IGNORECASE)
_PART = re.compile(r"[,;|]| and ")
_OPENING = re.compile(rf"[\[{MARK}]")
_BRACKET_FORMS = str.maketrans({"【": "[", "】": "]", "［": "[", "］": "]", "〔": "[", "〕": "]"})


@dataclass(frozen=True, slots=True)
class Bracket:
    """One pair of brackets that contains ids, or a citation that was read before."""

    start: int
    end: int
    known: tuple[str, ...] = ()
    """Retrieved ids in it."""
    forged: tuple[str, ...] = ()
    """Ids in it that were not retrieved."""
    label: Span | None = None
    """The words of a link around citations: the words stay, the link is removed."""
    is_citation: bool = False
    """True if the bracket is a ``MARK``."""

    @property
    def cites(self) -> bool:
        return bool(self.known or self.label or self.is_citation)


class Brackets:
    """Reads the brackets of a text, given the retrieved ids."""

    def __init__(self, ids: Collection[str], documented: str) -> None:
        self._ids = {_plain(each): each for each in ids}
        self._letters = {_letters(each) for each in ids}
        self._documents = set()
        for each in ids:
            document = re.sub(r"-\d+$", "", _plain(each))
            self._documents |= {document, document.rsplit("/", 1)[-1]}
        longest = sorted(map(re.escape, ids), key=len, reverse=True)
        self._known = re.compile(rf"\\?\[\s*{_LEAD}({'|'.join(longest)})\s*\\?\]", re.I)
        self._among = re.compile(rf"(?<![\w/.-])(?:{'|'.join(longest)})(?![\w-])", re.I)
        self._documented = documented

    @cached_property
    def _urls(self) -> set[str]:
        return set(re.split(r"[\s()<>\"'`]+", self._documented))

    def read(self, text: CitedText, prose: Iterable[Span]) -> list[Bracket]:
        """The citing brackets and the citations in ``prose``, in order."""
        folded = text.text.translate(_BRACKET_FORMS)
        cited = {at: citation.id for at, citation in text.places()}
        brackets: list[Bracket] = []
        for start, end in prose:
            for bracket in self._scan(folded, start, end):
                forged = cited.get(bracket.start) if bracket.is_citation else None
                if forged is not None and forged not in self._ids.values():
                    # The API named a chunk that was never retrieved.
                    bracket = Bracket(bracket.start, bracket.end, forged=(forged,))
                brackets.append(bracket)
        return brackets

    def _scan(self, text: str, start: int, end: int) -> Iterator[Bracket]:
        for opening in _OPENING.finditer(text, start, end):
            at = opening.start()
            if at < start:
                continue
            if text[at] == MARK:
                yield Bracket(at, at + 1, is_citation=True)
                continue
            begin = at - 1 if at > start and text[at - 1] == "\\" else at
            bracket = self._wrapped(text, begin, end) or self._bracket_at(text, begin, end)
            if bracket is not None:
                yield bracket
                start = bracket.end

    def _wrapped(self, text: str, begin: int, end: int) -> Bracket | None:
        """Read citations inside another pair of brackets, with or without a link target."""
        begin -= text.startswith("![", begin - 1) if begin else 0
        match = _WRAPPED.match(text, begin, end)
        if match is None or not _OPENING.search(match[1]):
            return None
        inner = list(self._scan(text, *match.span(1)))
        cites = any(bracket.cites for bracket in inner)
        words = without(match.span(1), [(each.start, each.end) for each in inner])
        alone = all(_BETWEEN.fullmatch(text, *span) for span in words)
        if not inner or not (alone or (cites and match[2] is not None)):
            return None
        if cites:
            return Bracket(*match.span(), label=match.span(1))
        forged = tuple(each for bracket in inner for each in bracket.forged)
        return Bracket(*match.span(), forged=forged)

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
        """Return True for a link on a document's name, or on a ticket with a documented address."""
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
        name = re.sub(r"\.\w+$", "", _plain(bare)).rsplit("/", 1)[-1]
        if (name in self._documents and not bare.isdigit()) or _letters(bare) in self._letters:
            return True
        if _CHARACTERS.fullmatch(bare):
            return False
        if not _ID_SHAPED.fullmatch(bare) or not re.search(r"[^\W\d_]", bare.split()[-1]):
            return False
        # A code such as [PAY-4031] that the docs or the question name is not a citation.
        return not (_CODE_SHAPED.fullmatch(bare) and bare in self._documented)


def _plain(text: str) -> str:
    return INVISIBLE.sub("", text).translate(DASHES).strip().casefold()


def _letters(text: str) -> str:
    """An id without its punctuation: a bracket that differs only there means that id."""
    return re.sub(r"[\W_]+", "-", _plain(text))
