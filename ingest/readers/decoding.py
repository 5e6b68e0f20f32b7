"""Bytes of a file -> text with ``\\n`` line ends, or the reason why it is not text."""

import codecs
from collections.abc import Sequence
from contextlib import suppress

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
WIDE = ("utf_16_le", "utf_16_be")
WESTERN = ("cp1252", "latin_1")
CONTROLS = bytes({*range(0x20), 0x7F} - {*b"\0\t\n\v\f\r\x1b"})
SAMPLE = 16_384
"""Bytes by which an encoding is guessed; even, so that it ends between UTF-16 characters."""
TOLERANCE = 1.0
"""Disorder up to which charset-normalizer accepts a guess; text in another script has more."""


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
    if encoding := _guess(data[:SAMPLE], WIDE):
        with suppress(UnicodeDecodeError):
            text = data.decode(encoding)
            ascii_only = text.encode("ascii", "ignore")
            if len(ascii_only) > len(text) * 0.3 and not _controls(ascii_only):
                return text
    raise UnreadableDocument("binary: the content has zero bytes")


def _western(data: bytes, first: int) -> str:
    """Decode UTF-8 with a few wrong bytes, or a Western page. ``first``: place of a wrong byte."""
    if _controls(data) > len(data) * 0.02:
        raise UnreadableDocument("binary: the content is not text, whatever the name says")
    repaired = data.decode(errors="replace")
    wrong = repaired.count("\ufffd")
    if wrong <= len(repaired) * 0.01 + 1 and not repaired.replace("\ufffd", "").isascii():
        return repaired
    start = max(0, first - SAMPLE // 2)
    if _guess(data[start : start + SAMPLE], WESTERN) is None:
        raise UnreadableDocument("encoding: neither UTF-8 nor UTF-16; save the page as UTF-8")
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _guess(sample: bytes, encodings: Sequence[str]) -> str | None:
    best = from_bytes(
        sample,
        cp_isolation=list(encodings),
        threshold=TOLERANCE,
        preemptive_behaviour=False,
        enable_fallback=False,
    ).best()
    return best.encoding if best else None


def _controls(data: bytes) -> int:
    """Number of control characters that text does not contain."""
    return len(data) - len(data.translate(None, CONTROLS))
