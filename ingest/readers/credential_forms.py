"""Text -> the places of credentials in it, by their forms.

The forms of vendors come from detect-secrets, whose checks over the network are never used. The
list here has what it lacks: a token's prefix and length, the frame of a private key, a password at
its place in an address or a header, and a random value behind a name that says "secret".
A value behind such a name stays if it is not random, since most such lines in docs are examples
that people search for.
"""

import base64
import binascii
import re
from collections.abc import Iterator
from functools import cache
from itertools import pairwise

Place = tuple[int, int]
"""Start and end of a credential in a text."""

# Repeats have an upper bound: without one, a page of prefixes would take quadratic time.
TOKENS = (
    ("aki", re.compile(r"\bAKIA[0-9A-Z]{16}\b")),
    ("asi", re.compile(r"\bASIA[0-9A-Z]{16}\b")),
    ("secret", re.compile(r"(?i)secret_?access_?key\W{1,5}([a-z0-9/+=]{40})(?![\w/+=])")),
    ("gh", re.compile(r"\bgh[pousr]_[A-Za-z0-9]{36,255}\b")),
    ("github_pat_", re.compile(r"\bgithub_pat_\w{60,255}\b")),
    ("gl", re.compile(r"\bgl(?:pat|dt|ft|rt|soat|cbt|ptt|imt|agent|ffct)-[\w-]{20,255}")),
    ("xox", re.compile(r"\bxox[abceoprs]-(?=[\w-]{0,40}\d)[\w.-]{20,255}")),
    ("xoxe.", re.compile(r"\bxoxe\.xox[bp]-\d-[\w-]{20,255}")),
    ("xapp-", re.compile(r"\bxapp-\d-[\w-]{20,255}")),
    ("sk-", re.compile(r"\bsk-(?=[\w-]{0,40}\d)[\w-]{32,255}")),
    ("_live_", re.compile(r"\b(?:[rs]k|whsec)_live_\w{20,255}\b")),
    ("whsec_", re.compile(r"\bwhsec_[\w+/=]{24,255}")),
    ("aiza", re.compile(r"\bAIza[\w-]{35}(?![\w-])")),
    ("ya29.", re.compile(r"\bya29\.[\w.-]{20,1000}")),
    ("gocspx-", re.compile(r"\bGOCSPX-[\w-]{20,60}")),
    ("npm_", re.compile(r"\bnpm_[A-Za-z0-9]{36}\b")),
    ("pypi-", re.compile(r"\bpypi-[\w-]{50,1000}")),
    ("hv", re.compile(r"\bhv[sbr]\.[\w-]{20,1000}")),
    ("gl", re.compile(r"\bgl(?:sa|c|eu)_[\w+/=]{32,1000}")),
    ("hf_", re.compile(r"\b(?:hf|api_org)_[A-Za-z0-9]{34,40}\b")),
    ("dckr_", re.compile(r"\bdckr_(?:pat|oat)_[\w-]{20,100}")),
    ("do", re.compile(r"\bdo[opr]_v1_[0-9a-f]{64}\b")),
    ("shp", re.compile(r"\bshp(?:at|ca|pa|ss)_[0-9A-Fa-f]{32}\b")),
    ("sg.", re.compile(r"\bSG\.[\w-]{16,40}\.[\w-]{30,60}(?![\w-])")),
    ("sk", re.compile(r"\b(?:SK|AC)[0-9a-f]{32}\b")),
    ("lin_", re.compile(r"\blin_(?:api|oauth)_[A-Za-z0-9]{32,100}\b")),
    ("pmak-", re.compile(r"\bPMAK-[0-9a-f]{24}-[0-9a-f]{34}\b")),
    ("nrak-", re.compile(r"\bNRAK-[A-Z0-9]{27}\b")),
    ("dapi", re.compile(r"\bdapi[0-9a-f]{32}(?:-\d)?\b")),
    ("atatt3", re.compile(r"\bATATT3[\w=-]{50,500}")),
    ("age-secret-key-", re.compile(r"\bAGE-SECRET-KEY-1[0-9A-Z]{40,80}\b")),
    ("eyj", re.compile(r"\beyJ[\w-]{10,500}\.eyJ[\w-]{10,2000}\.[\w-]{20,1000}")),
    ("hooks.slack.com", re.compile(r"hooks\.slack\.com/[a-z]{5,12}/([\w/]{20,200})")),
    ("/webhooks/", re.compile(r"\bdiscord[a-z./]{4,12}(?:v\d+/)?webhooks/(\d+/[\w-]{40,100})")),
    ("webhook", re.compile(r"\bwebhook\.office\.com/(webhookb2/[\w@/-]{60,300})")),
)  # fmt: skip
"""A lower-case part of a credential -> its form; group 1, if there is one, is the secret part."""

_FRAME = re.compile(
    r"-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)? ?-{4,5}"
    r"|\bPrivate-Lines: \d{1,4}(?=\n)"
)
_FRAME_END = re.compile(r"-{4,5} ?(?:END|BEGIN)\b|\bPrivate-MAC:")
_KEY_LINE = re.compile(
    r"[ \t>*|#\"'-]*+(?:[A-Za-z0-9+/=\\]++|[A-Za-z-]{4,30}: [^\n]*+)?[\"', \t]*+"
)
_PIECE = re.compile(r"[/_.-]")
_LONGEST_PREFIX = 4
_RANDOM = 0.3
"""Least share of the characters of a random value that are of another kind than the one before.

The kinds are digits, capitals and small letters."""
_KEY_RUN = re.compile(r"[A-Za-z0-9+/]{6,}+")
_LONGEST_KEY = 20_000
_MOST_STRANGE = 2
"""Maximum number of lines within a private key that are not those of a key."""
_NAMED = re.compile(
    r"(?:(?<![A-Za-z])|(?<=[a-z]{3})|(?<=[a-z])(?=[A-Z]))(?i:secret|token|credential|passphrase|passw(?:or)?d|pwd|auth(?![a-z])|(?:api|access|account|auth|private|encryption|signing"
    r"|shared|storage|service)[_.-]?key)[\w-]{0,20}[\"'`]?[ \t]{0,9}(?::=|=>|[:=])[ \t]{0,9}[\"'`]?"
    r"([\w+/=.~-]{16,4000})"
)
_PREFIXED = re.compile(
    r"(?<![\w/+=.-])[a-z][a-z0-9]{1,9}(?:_[a-z0-9]{1,9}){0,2}_([A-Za-z0-9]{32,255})(?![\w/+=.-])"
)
"""A token of any vendor: a short name and a long random value, which is not hexadecimal.

A hyphen between them makes the name of a thing, such as ``node-csr-...``.
"""
_SIGNATURE = re.compile(r"[?&;](?:sig|X-Amz-Signature|X-Goog-Signature)=([\w%+/=-]{20,1000})")
_IN_ADDRESS = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://([^\s:/?#@<>\"'`]{0,100}):([^\s/?#@<>\"'`]{1,200})@", re.IGNORECASE
)
_BASIC = re.compile(r"\bBasic[ \t]{1,4}([A-Za-z0-9+/=_-]{6,2000})", re.IGNORECASE)
_BEARER = re.compile(r"\b(?:Bearer|Token)[ \t]{1,4}([\w.~+/=-]{16,4000})", re.IGNORECASE)
_CURL = re.compile(
    r"\bcurl\b[^\n|;]{0,300}?[ \t](?:-u|--user)[ \t=]{0,4}[\"']?"
    r"([^\s:\"'`]{1,100}):([^\s\"'`]{1,200})"
)
_FILLER = frozenset("x*.0-_=")
"""Characters that stand for a value in examples."""
_NAMES_ITSELF = re.compile(r"pass|pwd|secret|token|key|user", re.IGNORECASE)
_VARIABLE = frozenset("$%{<[(")
_HEX = re.compile(r"[0-9a-fA-F]++")
_SEPARATOR = re.compile(r"[.~-]")


def credentials(text: str) -> Iterator[Place]:
    """Yield the places of all credentials, in any order; places may overlap."""
    lowered = text.lower()
    yield from _tokens(text, lowered)
    if "private" in lowered:
        yield from _private_keys(text)
    prefixed = _PREFIXED.finditer(text)
    yield from (match.span(1) for match in prefixed if _is_of_three_kinds(match[1]))
    for value in (_NAMED, _BEARER, _SIGNATURE):
        yield from (match.span(1) for match in value.finditer(text) if _is_random(match[1]))
    for match in _BASIC.finditer(text):
        user, colon, password = _decoded(match[1]).partition(":")
        if colon and password and not _is_example(user, password):
            yield match.span(1)
    for pair in (_IN_ADDRESS, _CURL):
        matches = pair.finditer(text)
        yield from (match.span(2) for match in matches if not _is_example(match[1], match[2]))


def _tokens(text: str, lowered: str) -> Iterator[Place]:
    for hint, form in TOKENS:
        for match in form.finditer(text) if hint in lowered else ():
            if not _is_filler(max(_PIECE.split(match[0]), key=len)[_LONGEST_PREFIX:]):
                yield match.span(1 if match.lastindex else 0)
    for form in _of_vendors():
        for match in form.finditer(text):
            if _stands_alone(text, match) and not _is_filler(match[0][_LONGEST_PREFIX:]):
                yield match.span()


@cache
def _of_vendors() -> tuple[re.Pattern[str], ...]:
    """The forms that detect-secrets keeps; those that depend on words around them are left out."""
    # It is slow to import, and only an ingest needs it.
    from detect_secrets.plugins import (
        azure_storage_key,
        discord,
        github_token,
        gitlab_token,
        mailchimp,
        pypi_token,
        sendgrid,
        square_oauth,
        stripe,
        telegram_token,
        twilio,
    )

    detectors = (
        azure_storage_key.AzureStorageKeyDetector,
        discord.DiscordBotTokenDetector,
        github_token.GitHubTokenDetector,
        gitlab_token.GitLabTokenDetector,
        mailchimp.MailchimpDetector,
        pypi_token.PypiTokenDetector,
        sendgrid.SendGridDetector,
        square_oauth.SquareOAuthDetector,
        stripe.StripeDetector,
        telegram_token.TelegramBotTokenDetector,
        twilio.TwilioKeyDetector,
    )
    return tuple(form for detector in detectors for form in detector.denylist)


def _stands_alone(text: str, match: re.Match[str]) -> bool:
    """Return True if the match is not a part of a longer word, such as a digest."""
    start, end = match.span()
    return not (text[max(start - 1, 0) : start].isalnum() or text[end : end + 1].isalnum())


def _private_keys(text: str) -> Iterator[Place]:
    """Yield the bodies of private keys; a frame without an end closes where its lines end."""
    at = 0
    while frame := _FRAME.search(text, at):
        start = frame.end()
        end = _FRAME_END.search(text, start, start + _LONGEST_KEY)
        lines = text[start : end.start() if end else start + _LONGEST_KEY].split("\n")
        strange = [n for n, line in enumerate(lines) if not _KEY_LINE.fullmatch(line)]
        if not end or len(strange) > _MOST_STRANGE:
            lines = lines[: strange[0] if strange else len(lines)]
        body = "\n".join(lines)
        at = start + len(body)
        if any(_is_mixed(run) for run in _KEY_RUN.findall(body.replace("\\n", " "))):
            yield start, at


def _is_mixed(run: str) -> bool:
    return not (run.isalpha() and (run.isupper() or run.islower()))


def _is_random(value: str) -> bool:
    """Return True for a value that nobody would write by hand, and that is no placeholder."""
    if value.endswith(".."):
        return False
    value = max(_SEPARATOR.split(value.rstrip("=")), key=len)
    if len(value) < 16 or _is_filler(value) or not any(map(str.isdigit, value)):
        return False
    if _HEX.fullmatch(value):
        return len(value) in (32, 40, 48, 64, 96, 128)
    words = _decoded(value)
    if " " in words or _names_itself(words):
        return False
    kinds = [char.isdigit() + 2 * char.isupper() for char in value]
    changes = sum(one != next_ for one, next_ in pairwise(kinds))
    return bool(changes > _RANDOM * len(value))


def _is_of_three_kinds(value: str) -> bool:
    kinds = (str.isdigit, str.isupper, str.islower)
    return all(any(map(kind, value)) for kind in kinds) and _is_random(value)


def _names_itself(password: str) -> bool:
    """Return True for a password such as ``my-password``."""
    return bool(_NAMES_ITSELF.search(password)) and not any(map(str.isdigit, password))


def _is_filler(value: str) -> bool:
    return bool(value) and _FILLER.issuperset(value.lower())


def _is_example(user: str, password: str) -> bool:
    """Return True for a password that names itself or its user, or stands for another."""
    return (
        password[0] in _VARIABLE
        or password == user
        or _is_filler(password)
        or _names_itself(password)
    )


def _decoded(value: str) -> str:
    try:
        return base64.b64decode(value + "=" * (-len(value) % 4), validate=True).decode()
    except (binascii.Error, ValueError):
        return ""
