"""Bracketed ids in a model's text -> citations as data; ids that were not retrieved leave the text.

``[payments-runbook-0]`` is a citation if that id was retrieved. A bracket of the same shape whose
id was not retrieved is forged: it is removed together with the blank before it. Text in code marks
never cites. Other brackets (``[x]``, ``[ERROR]``, links) stay as they are.

This is the only module that reads bracketed ids. Everything after it works on ``CitedText``.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

from agent.answer import Citation, Segment
from agent.grounding.cited_text import MARK, CitedText, Edit
from agent.grounding.matching import DASHES, HIDDEN, INVISIBLE
from agent.grounding.statements import Block, Span, code_at, read_blocks, without

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
_EMPTIED = re.compile(
    r"(?<![ \t])[ \t]*+\((?:see|sources?|from|cf\.?|per|ref|and|,|;|:|\s)*+\)", re.IGNORECASE
)
_ANY_BRACKET = re.compile(r"[\[\]【】［］〔〕]")
_ROUNDS = 20
_JOIN = re.compile(r"[ \t]*+(?:(?:,|;|&|and)[ \t]*+)?")
_PART = re.compile(r"[,;|]| and ")


_CARRIAGE_RETURN = re.compile(r"\r\n?")
_OWN_MARK = re.compile(r"(?:\n\n[ \t>]*| )?\(⚠ (?:not in|no source|shortened|from)[^()\n]*\)")


@dataclass(frozen=True, slots=True)
class _Bracket:
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
    """Whether this is a ``MARK``."""

    @property
    def cites(self) -> bool:
        return bool(self.known or self.label or self.is_citation)


class _Brackets:
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

    def read(self, text: CitedText, prose: Iterable[Span]) -> list[_Bracket]:
        """The citing brackets and the citations in ``prose``, in order."""
        folded = text.text.translate(_BRACKET_FORMS)
        cited = {at: citation.id for at, citation in text.places()}
        brackets: list[_Bracket] = []
        for start, end in prose:
            for bracket in self._scan(folded, start, end):
                forged = cited.get(bracket.start) if bracket.is_citation else None
                if forged is not None and forged not in self._ids.values():
                    # The API named a chunk that was never retrieved.
                    bracket = _Bracket(bracket.start, bracket.end, forged=(forged,))
                brackets.append(bracket)
        return brackets

    def _scan(self, text: str, start: int, end: int) -> Iterator[_Bracket]:
        for opening in _OPENING.finditer(text, start, end):
            at = opening.start()
            if at < start:
                continue
            if text[at] == MARK:
                yield _Bracket(at, at + 1, is_citation=True)
                continue
            begin = at - 1 if at > start and text[at - 1] == "\\" else at
            bracket = self._wrapped(text, begin, end) or self._bracket_at(text, begin, end)
            if bracket is not None:
                yield bracket
                start = bracket.end

    def _wrapped(self, text: str, begin: int, end: int) -> _Bracket | None:
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
            return _Bracket(*match.span(), label=match.span(1))
        forged = tuple(each for bracket in inner for each in bracket.forged)
        return _Bracket(*match.span(), forged=forged)

    def _bracket_at(self, text: str, begin: int, end: int) -> _Bracket | None:
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
            return _Bracket(begin, match.end(), tuple(known), tuple(forged))
        if not known and self._is_link(forged, target.group(1).strip("<>")):
            return None
        begin -= text.startswith("![", begin - 1) if begin else 0
        return _Bracket(begin, target.end(), tuple(known), tuple(forged))

    def _is_link(self, labels: Sequence[str], url: str) -> bool:
        """Whether this links a document's name, or a ticket ``[OPS-12](...)`` with a documented
        address.
        """
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


_OPENING = re.compile(rf"[\[{MARK}]")
_BRACKET_FORMS = str.maketrans({"【": "[", "】": "]", "［": "[", "］": "]", "〔": "[", "〕": "]"})


def _plain(text: str) -> str:
    return INVISIBLE.sub("", text).translate(DASHES).strip().casefold()


def _letters(text: str) -> str:
    """An id without its punctuation: a bracket that differs only there means that id."""
    return re.sub(r"[\W_]+", "-", _plain(text))


@dataclass(frozen=True, slots=True)
class WrittenAnswer:
    """An answer as the model wrote it, with its citations as data."""

    text: CitedText
    removed: tuple[str, ...] = ()
    """Ids that it cited although they were not retrieved."""


def read_answer(text: CitedText, ids: Collection[str], documented: str = "") -> WrittenAnswer:
    """Read a model's text, without hidden characters and without marks that look like ours."""
    breaks = ((match.start(), match.end(), "\n") for match in _CARRIAGE_RETURN.finditer(text.text))
    text = text.edited(breaks)
    for pattern in (HIDDEN, _OWN_MARK):
        if pattern.search(text.text):
            text = text.without(pattern, _outside_code(text.text))
    return read_citations(text, ids, documented)


def read_citations(text: CitedText, ids: Collection[str], documented: str = "") -> WrittenAnswer:
    """Turn bracketed ``ids`` into citations, and remove forged ones.

    ``documented`` is everything the model was given: a code or a link that it contains is not a
    forged id.
    """
    brackets = _Brackets(ids, documented)
    removed: list[str] = []
    rounds = 0
    # A removal can join two pieces to a new bracket, so the text is read until it stays the same.
    while True:
        blocks = read_blocks(text.text)
        if holes := [at for at, _ in text.places() if code_at(blocks, at)]:
            # Code stays as it was written, and never cites.
            text = text.edited((at, at + 1, "") for at in holes)
            continue
        cited = brackets.read(text, _prose(blocks))
        if all(bracket.is_citation for bracket in cited):
            return WrittenAnswer(text, tuple(dict.fromkeys(removed)))
        removed += [each for bracket in cited for each in bracket.forged]
        rounds += 1
        text = _rewritten(text, cited)
        if any(not bracket.cites for bracket in cited):
            # Parentheses that held nothing but a forged id go too.
            text = text.without(_EMPTIED, _outside_code(text.text))
        if rounds == _ROUNDS:
            text = text.without(_ANY_BRACKET, _outside_code(text.text))


def read_segments(text: str, ids: Collection[str], documented: str = "") -> tuple[Segment, ...]:
    """Read Markdown with bracketed ``ids`` as segments, without forged ids."""
    return read_citations(CitedText.plain(text), ids, documented).text.segments


def named_ids(text: str) -> tuple[str, ...]:
    """Ids in the brackets of an own message, which was checked when it was written."""
    brackets = _Brackets((), "").read(CitedText.plain(text), _prose(read_blocks(text)))
    return tuple(dict.fromkeys(each for bracket in brackets for each in bracket.forged))


def _prose(blocks: Iterable[Block]) -> Iterator[Span]:
    """The parts of the blocks outside code."""
    for block in blocks:
        if block.kind != "code":
            yield from without((block.start, block.end), block.code)


def _outside_code(text: str) -> Iterator[Span]:
    holes: list[Span] = []
    for block in read_blocks(text):
        holes += [(block.start, block.end)] if block.kind == "code" else block.code
    return without((0, len(text)), holes)


def _rewritten(text: CitedText, brackets: Sequence[_Bracket]) -> CitedText:
    """The text with a citation for each known id, and without the forged ones."""
    edits: list[Edit] = []
    at = 0
    last = "\n"  # the character before the next edit
    previous: _Bracket | None = None
    for bracket in brackets:
        joins = previous is not None and _JOIN.fullmatch(text.text, previous.end, bracket.start)
        neighbour = previous if joins else None
        if neighbour and not (bracket.cites and neighbour.cites) and at < bracket.start:
            # If one of the two is removed, the words that join them are removed too.
            edits.append((at, bracket.start, ""))
            at = bracket.start
        last = text.text[bracket.start - 1] if at < bracket.start else last
        if bracket.cites:
            apart = neighbour is not None and not neighbour.cites and last not in " \n(["
            edits += _citing(text, bracket, " " if apart else "")
            last = MARK
        else:
            start, end, blank = _hole(text.text, bracket, at)
            edits.append((start, end, blank))
            last = blank or (text.text[start - 1] if start > at else last)
        at = max(at, bracket.end, edits[-1][1] if edits else 0)
        previous = bracket
    return text.edited(edits)


def _citing(text: CitedText, bracket: _Bracket, blank: str) -> Iterator[Edit]:
    """The edits that leave only the citations of ``bracket``, after ``blank``."""
    start, end = bracket.start, bracket.end
    if bracket.label is not None:
        yield start, bracket.label[0], blank
        yield bracket.label[1], end, ""
    elif bracket.is_citation:
        yield start, start, blank
    elif text.text[start - 1 : start] == MARK and bracket.known == (_id_before(text, start),):
        yield start, end, ""  # the server points at the chunk that the model names
    else:
        yield start, end, CitedText.plain(blank) + CitedText.citing(*map(Citation, bracket.known))


def _id_before(text: CitedText, end: int) -> str:
    return text.citations[text.text.count(MARK, 0, end) - 1].id


def _hole(text: str, bracket: _Bracket, floor: int) -> tuple[int, int, str]:
    """Cut a bracket, and the blank on one side of it."""
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
