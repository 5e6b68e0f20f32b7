"""Text of a file -> the format that its lines show, and whether it is written for people."""

import re
from collections.abc import Sequence

from ingest.readers.asciidoc.asciidoc_blocks import read_asciidoc
from ingest.readers.parsed_file import ParsedFile, UnreadableDocument
from ingest.readers.rst import has_titles, read_rst
from ingest.readers.text import read_text

RST_SIGN = re.compile(
    r"^[ \t]*\.\.[ \t]+[\w-]++(?::[\w-]++)*+::|(?<![\w:+.-]):[\w:+.-]{2,}+(?<=:)`[^`\n]++`",
    re.MULTILINE,
)
ASCIIDOC_SIGN = re.compile(
    r"^(?:(?:include|ifdef|ifndef|image)::\S*\[|\[\[[\w.:-]++\]\]$|\[(?:source|NOTE|TIP|WARNING"
    r"|IMPORTANT|CAUTION|verse|quote|role|id)\b[^\n]*\]$)",
    re.MULTILINE,
)
ASCIIDOC_TITLE = re.compile(r"^={1,6} \S", re.MULTILINE)
PLAIN_WORD = re.compile(
    r"[\"'(\[*_`“‘«]*+[^\W\d_]++(?:['’/-][^\W\d_]++)*+[.,;:!?)\]\"'*_`”’»…。！？、，]*+"
)
LETTERS = re.compile(r"[^\W\d_\x00-\u024f]")
"""A letter of a script whose words may stand without spaces."""
NOT_PROSE = ("#!", "<?xml", "<!DOCTYPE", "%!PS", "-----BEGIN ", "diff --git", "{", "<svg")
LEGAL = (
    re.compile(r"\bwarrant(?:y|ies)\b", re.IGNORECASE),
    re.compile(r"\bliab(?:le|ility)\b", re.I),
)
NO_PROSE = "no page: a file without a suffix whose content is not prose"
FEWEST_WORDS = 4
"""Fewest words of a line that is read as a sentence."""
WORDS_SHARE, SENTENCES_SHARE = 0.7, 0.4
"""Smallest share of plain words in a sentence, and of sentences in prose, by characters."""
SAMPLE = 20_000
"""Maximum number of characters that are looked at."""


def read_plain(lines: Sequence[str]) -> ParsedFile:
    """Read a text file, by the markup that it shows."""
    text = "\n".join(lines)
    if RST_SIGN.search(text) and has_titles(lines):
        return read_rst(lines)
    if ASCIIDOC_SIGN.search(text) and (ASCIIDOC_TITLE.search(text) or has_titles(lines)):
        return read_asciidoc(lines)
    return read_text(lines)


def read_unnamed(lines: Sequence[str]) -> ParsedFile:
    """Read a file without a suffix. Raises UnreadableDocument unless it is prose."""
    if not is_prose("\n".join(lines)):
        raise UnreadableDocument(NO_PROSE)
    return read_plain(lines)


def is_prose(text: str) -> bool:
    """Return True for sentences of people, and not for code, data or the text of a licence."""
    text = text[:SAMPLE].lstrip()
    if text.startswith(NOT_PROSE) or all(sign.search(text) for sign in LEGAL):
        return False
    lines = [line.strip() for line in text.split("\n")]
    sentences = sum(len(line) for line in lines if _is_sentence(line))
    return sentences > SENTENCES_SHARE * sum(map(len, lines))


def _is_sentence(line: str) -> bool:
    words = line.split()
    plain = sum(PLAIN_WORD.fullmatch(word) is not None for word in words)
    if plain >= FEWEST_WORDS and plain >= WORDS_SHARE * len(words):
        return True
    return len(LETTERS.findall(line)) >= max(FEWEST_WORDS * 2, len(line) / 2)
