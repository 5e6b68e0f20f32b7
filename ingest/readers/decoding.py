"""Bytes of a file -> text with ``\\n`` line ends, or the reason why there is none."""

import codecs
import re
from contextlib import suppress

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
MULTIBYTE = re.compile(rb"[\xc3-\xf4][\x80-\xbf]")
CONTROL = re.compile(rb"[\x01-\x08\x0e-\x1a\x1c-\x1f\x7f]")
HIGH = re.compile(rb"[\x80-\xff]")


def decode(data: bytes) -> str:
    """The text of a file. Raises UnreadableDocument for what is not text."""
    if not data:
        raise UnreadableDocument("empty: the file has no content")
    if data.startswith(LFS_POINTER):
        raise UnreadableDocument("lfs: a Git LFS pointer, the page itself was not fetched")
    return with_line_feeds(_decoded(data))


def with_line_feeds(text: str) -> str:
    """Lines of any system, ended as on this one."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _decoded(data: bytes) -> str:
    for mark, encoding in BYTE_ORDER_MARKS:
        if data.startswith(mark):
            return data[len(mark) :].decode(encoding, errors="replace").replace("\0", "")
    if data.startswith(SIGNATURES):
        raise UnreadableDocument("binary: the content is no text, whatever the name says")
    if b"\0" in data:
        return _wide(data)
    try:
        return data.decode()
    except UnicodeDecodeError:
        return _legacy(data)


def _wide(data: bytes) -> str:
    """UTF-16 without a byte order mark: Latin text has its zeros on one side only."""
    sample = data[:4096]
    for zeros, letters, encoding in ((1, 0, "utf-16-le"), (0, 1, "utf-16-be")):
        if sample[zeros::2].count(0) > len(sample) * 0.3 and not sample[letters::2].count(0):
            with suppress(UnicodeDecodeError):
                text = data.decode(encoding)
                if not CONTROL.search(text.encode()):
                    return text
    raise UnreadableDocument("binary: the content has zero bytes")


def _legacy(data: bytes) -> str:
    """Text with bytes that are not UTF-8: stray ones in a UTF-8 page, or a Western page."""
    if len(CONTROL.findall(data)) > len(data) * 0.02:
        raise UnreadableDocument("binary: the content is no text, whatever the name says")
    repaired = data.decode(errors="replace")
    if MULTIBYTE.search(data) and repaired.count("\ufffd") <= len(repaired) * 0.01 + 1:
        return repaired
    if len(HIGH.findall(data)) > len(data) * 0.3:
        raise UnreadableDocument("encoding: neither UTF-8 nor UTF-16; save the page as UTF-8")
    try:
        return data.decode("cp1252")
    except UnicodeDecodeError:
        return data.decode("latin-1")
