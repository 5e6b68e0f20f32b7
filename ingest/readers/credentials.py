"""Credentials in a text -> marks.

Lines keep their places. Only shapes with one meaning are masked (a token's prefix and length, the
frame of a private key). ``password = ...`` stays, since most such lines in docs are examples that
people search for.
"""

import re

MASK = "[masked]"
PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(?=-----END |\n\s*\n|\Z)", re.DOTALL
)
# Repeats have an upper bound: without one, a page of prefixes would take quadratic time.
CREDENTIALS = (
    ("akia", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    ("asia", re.compile(r"\bASIA[0-9A-Z]{16}\b")),
    ("secret_access_key", re.compile(r"(?i)(secret_access_key\W{1,5})[a-z0-9/+=]{40}(?![\w/+=])")),
    ("secretaccesskey", re.compile(r"(?i)(secretaccesskey\W{1,5})[a-z0-9/+=]{40}(?![\w/+=])")),
    ("gh", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b")),
    ("github_pat_", re.compile(r"\bgithub_pat_\w{60,255}\b")),
    ("glpat-", re.compile(r"\bglpat-[\w-]{20,255}")),
    ("xox", re.compile(r"\bxox[abeprs]-(?=[\w-]{0,40}\d)[\w-]{20,255}")),
    ("xapp-", re.compile(r"\bxapp-\d-[\w-]{20,255}")),
    ("sk-", re.compile(r"\bsk-(?=[\w-]{0,40}\d)[\w-]{32,255}")),
    ("k_live_", re.compile(r"\b[rs]k_live_\w{20,255}\b")),
    ("aiza", re.compile(r"\bAIza[\w-]{35}\b")),
    ("npm_", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("eyj", re.compile(r"\beyJ[\w-]{10,500}\.eyJ[\w-]{10,2000}\.[\w-]{20,1000}")),
)


def masked(text: str) -> tuple[str, int]:
    """Replace credentials by a mark; return the text and their number."""
    lowered = text.lower()
    count = 0
    for hint, pattern in CREDENTIALS:
        if hint in lowered:
            text, replaced = pattern.subn(_mask, text)
            count += replaced
    if "private key-----" in lowered:
        text, replaced = PRIVATE_KEY.subn(_mask_key, text)
        count += replaced
    return text, count


def _mask(match: re.Match[str]) -> str:
    return (match[1] if match.lastindex else "") + MASK


def _mask_key(match: re.Match[str]) -> str:
    return match[1] + "\n".join(MASK if line.strip() else line for line in match[2].split("\n"))
