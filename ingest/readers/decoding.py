"""Bytes of a file -> text with ``\\n`` line ends, or the reason why it is not text."""

import codecs
import re

from charset_normalizer import from_bytes

from ingest.readers.parsed_file import UnreadableDocument

LFS_POINTER = b"version https://git-lfs.github.com/spec/v1"
SIGNATURES = (
    b"\x89PNG",
    b"\xff\xd8\xff",
    b"GIF87a",
    b"GIF89a",
    b"%PDF-",
    b"PK\x03\x04",
    b"\x1f\x8b",
    b"\x7fELF",
    b"\xfd7zXZ",
    b"7z\xbc\xaf",
    b"SQLite format 3",
    b"\xd0\xcf\x11\xe0",
)
BYTE_ORDER_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\0\t\n\v\f\r\x1b"})
UNDEFINED = b"\x81\x8d\x8f\x90\x9d"
"""Bytes without a character in cp1252."""
SAMPLE = 16_384
"""Bytes around the first wrong one by which charset-normalizer judges a page."""
TOLERANCE = 1.0
"""Disorder up to which charset-normalizer accepts a guess; text in another script has more."""
MULTIBYTE = re.compile(rb"[\xc3-\xf4][\x80-\xbf]")
WORD = re.compile(r"[^\s\d!-/:-@\[-`{-~]+")
INSIDE_WORD = re.compile(r"(?<=[^\W\d_])(?:[^\w\s!-~’‘´–—…·×\xad]|[¹³¼½¾])(?=[^\W\d_])")
"""A sign between two letters that Western text does not have there; another encoding has letters
at its place."""
FOREIGN_SHARE = 0.2
"""Largest share of the words with a letter or sign beyond ASCII that may look foreign."""


def decode(data: bytes) -> str:
    """Return the text of a file. Raises UnreadableDocument for anything but text."""
    if not data:
        raise UnreadableDocument("empty: the file has no content")
    if data.startswith(LFS_POINTER):
        raise UnreadableDocument("lfs: a Git LFS pointer, the page itself was not fetched")
    return with_line_feeds(_decoded(data))


def with_line_feeds(text: str) -> str:
    """Replace the line ends of all systems by line feeds."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace").replace("\0", "")
    if data.startswith(SIGNATURES):
        raise UnreadableDocument("binary: the content is not text, whatever the name says")
    if b"\0" in data:
        return _wide(data)
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        return _western(data, error.start)


def _wide(data: bytes) -> str:
    """Decode UTF-16 without a byte order mark, if it is plausible: some ASCII, no controls."""
    for encoding in ("utf-16-le", "utf-16-be"):
        try:
            text = data.decode(encoding)
        except UnicodeDecodeError:
            continue
        # In the wrong order of bytes, ASCII becomes Chinese.
        ascii_only = text.encode("ascii", "ignore")
        if len(ascii_only) > len(text) * 0.3 and not _controls(ascii_only) and "\0" not in text:
            return text
    raise UnreadableDocument("binary: the content has zero bytes")


def _western(data: bytes, first: int) -> str:
    """Decode UTF-8 with a few wrong bytes, or a Western page. ``first``: place of a wrong byte."""
    if _controls(data) > len(data) * 0.02:
        raise UnreadableDocument("binary: the content is not text, whatever the name says")
    repaired = data.decode(errors="replace")
    wrong = repaired.count("\ufffd")
    if MULTIBYTE.search(data) and wrong <= len(repaired) * 0.01 + 1:
        return repaired
    start = max(0, first - SAMPLE // 2)
    text = data.decode("cp1252", errors="replace")
    if not _is_plausible(data[start : start + SAMPLE]) or _looks_foreign(text):
        raise UnreadableDocument("encoding: neither UTF-8 nor UTF-16; save the page as UTF-8")
    return text


def _is_plausible(sample: bytes) -> bool:
    """Return True if charset-normalizer accepts the sample as Western text."""
    matches = from_bytes(
        sample.translate(None, UNDEFINED),
        cp_isolation=["cp1252"],
        threshold=TOLERANCE,
        preemptive_behaviour=False,
        enable_fallback=False,
    )
    return matches.best() is not None


def _looks_foreign(text: str) -> bool:
    """Return True if many of the words cannot be Western: their encoding is another one."""
    words = foreign = 0
    for match in WORD.finditer(text):
        if not match[0].isascii():
            words += 1
            foreign += _is_foreign(match[0])
    return foreign > words * FOREIGN_SHARE


def _is_foreign(word: str) -> bool:
    """Return True for a word of mostly accented letters, or with a sign between two letters."""
    letters = sum(map(str.isalpha, word))
    accented = letters - len(word.encode("ascii", "ignore"))
    return (accented >= 3 and accented * 2 > letters) or bool(INSIDE_WORD.search(word))


def _controls(data: bytes) -> int:
    """Number of control characters that text does not contain."""
    return len(data) - len(data.translate(None, CONTROLS))
