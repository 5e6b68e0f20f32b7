"""What must not reach the index: characters that nobody sees, and credentials.

Both keep every line in its place. Credentials are masked by shapes that mean one thing only (a
token's prefix and length, a private key's frame): ``password = ...`` stays, since most such lines
in docs are examples that somebody looks for.
"""

import re

HIDDEN = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f\u00ad\u061c\u115f\u1160\u180e\u200b\u200e\u200f\u202a-\u202e\u2060-\u206f"
    "\ufe00-\ufe0d\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
    "|(?<![\u0600-\u08ff\u0900-\u0dff\u2190-\u2bff\ufe0f\U0001f000-\U0001faff])[\u200c\u200d]"
)
MASK = "[masked]"
PRIVATE_KEY = re.compile(
    r"(-----BEGIN [A-Z ]*PRIVATE KEY-----)(.*?)(?=-----END |\n\s*\n|\Z)", re.DOTALL
)
# Repeats have an upper bound: without one, a page of prefixes would take time by its square.
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


def without_hidden(text: str) -> str:
    """The text without zero-width, bidi, tag and control characters."""
    return HIDDEN.sub("", text)


def masked(text: str) -> tuple[str, int]:
    """The text with credentials replaced by a mark, and how many there were."""
    lowered = text.lower()
    count = 0
    for hint, pattern in CREDENTIALS:
        if hint in lowered:
            text, found = pattern.subn(_mask, text)
            count += found
    if "private key-----" in lowered:
        text, found = PRIVATE_KEY.subn(_mask_key, text)
        count += found
    return text, count


def _mask(match: re.Match[str]) -> str:
    return (match[1] if match.lastindex else "") + MASK


def _mask_key(match: re.Match[str]) -> str:
    return match[1] + "\n".join(MASK if line.strip() else line for line in match[2].split("\n"))
