"""Markdown of note tools: a line -> the line without ``%% comments %%``.

In code they stay, and so do ``%%i`` of a batch file and ``%%NAME%%`` of a template.
"""

import re

NOTE_MARK = "%%"
COMMENT = re.compile(
    r"(?P<code>(?<!`)(?P<tick>`++)(?!`)[^\n]*?[^`\n](?P=tick)(?!`))"
    r"|(?<!\S)%%(?P<words>[^%\n]++(?:%(?!%)[^%\n]*+)*+)%%(?![\w%])"
)
PLACEHOLDER = re.compile(r"[A-Z0-9_]+")


def without_note_comments(line: str) -> str:
    """Return the line without the comments that begin and end on it."""
    return COMMENT.sub(_shown, line).rstrip() if line.count(NOTE_MARK) > 1 else line


def opens_note_comment(line: str) -> bool:
    """Return True if a comment of several lines may begin with this line."""
    return line.lstrip().startswith(NOTE_MARK) and line.count(NOTE_MARK) == 1


def closes_note_comment(line: str) -> bool:
    """Return True if a comment of several lines may end with this line."""
    return line.rstrip().endswith(NOTE_MARK) and line.count(NOTE_MARK) == 1


def _shown(match: re.Match[str]) -> str:
    is_comment = match["code"] is None and not PLACEHOLDER.fullmatch(match["words"])
    return "" if is_comment else match[0]
