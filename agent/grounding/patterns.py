"""Patterns of words that must be right letter for letter: addresses, paths, flags, names."""

import errno
import re
import signal

from agent.grounding.dates import WEEKDAYS, ZONES

_URL = r"(?:https?|ftp|ssh|wss?|postgres(?:ql)?|redis|amqp|s3|file)://[^\s<>\"'`\[\]{}|\\^]+"
# Bounded, and without the brackets that open the next link: "[a](" repeated must be fast.
LINK = re.compile(
    r"!?\[(?P<label>[^\[\]\n]{0,300})\]\((?P<url>\s{0,9}<?[^\s<>()\[]{0,2000}"
    r"(?:\([^\s<>()\[]{0,300}\)[^\s<>()\[]{0,2000}){0,3}>?)(?:\s{1,9}\"[^\"\n]{0,300}\")?\s{0,9}\)"
)
QUOTE = re.compile(
    r"\"([^\"\n]{2,200})\"|“([^“”\n]{2,200})”|«([^»\n]{2,200})»|„([^„“”\n]{2,200})[“”]"
    r"|「([^「」\n]{1,200})」|『([^『』\n]{1,200})』|‘([^‘’\n]{2,200})’(?!\w)"
    r"|(?<![\w'])'(?=\S)([^'\n]{2,80})(?<=\S)'(?!\w)"
)
_TLD = "com|net|org|io|dev|internal|local|svc|cloud|app|co|ai|example|test|lan|corp|intra|invalid"
_HOST = rf"(?:[A-Za-z0-9][A-Za-z0-9-]*\.)+(?:{_TLD})\b(?::\d+)?"
HOST = re.compile(_HOST)
_EXTENSION = (
    "ya?ml|json|toml|conf|cfg|ini|env|sh|py|go|js|ts|rb|java|sql|log|txt|md|rst|tf|service|timer"
    "|properties|xml|csv|pem|crt|key|gz|zip|tar|lock|html?"
)
_SYSTEM = "|".join(
    sorted(
        {name for name in errno.errorcode.values() if len(name) > 4}
        | {each.name for each in signal.Signals},
        key=len,
        reverse=True,
    )
)
TOKENS = re.compile(
    # None of these begins inside a word.
    rf"(?<![A-Za-z0-9_])(?=[\w~./#@-])(?:(?P<url>{_URL})"
    r"|(?P<email>(?<![\w.+-])[\w.+-]{1,64}@[\w-]+(?:\.[\w-]+)+)"
    r"|(?P<hash>\bsha(?:1|256|512):[0-9A-Fa-f]{6,}|(?<![\w-])[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\b"
    r"|(?<![\w:])(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b"
    r"|(?<![\w.-])(?=[a-f]{0,60}\d)(?=\d{0,60}[a-f])[0-9a-f]{7,64}(?![\w-])"
    r"|(?<=commit )[0-9a-f]{7,64}\b)"
    rf"|(?P<host>(?<![\w@/.-]){_HOST}(?![\w-])(?:/[\w./%?=&#-]*)?)"
    r"|(?P<ip>(?<![\w.])\d{1,3}(?:\.\d{1,3}){3}(?:[:/]\d+)?(?![\w.]\w))"
    r"|(?P<path>(?<![\w/.:*)<])(?:~|\.{1,2})?/[\w.@%+~-]+(?:/[\w.@%+~*-]+)*/?"
    rf"|(?<![\w/.:-])[\w-]+(?:/[\w.-]+)+\.(?:{_EXTENSION})\b|(?<![\w/.:-])\w[\w-]*\.(?:{_EXTENSION})\b)"
    r"|(?P<windows>\b[A-Z]:\\[\w\\.$-]+)"
    r"|(?P<flag>(?<![\w-])--[A-Za-z][\w-]*(?:=[^\s,;)]+)?|(?<![\w-])-[A-Za-z](?![\w-]))"
    r"|(?P<mention>(?<![\w&/#.@])[#@][A-Za-z][\w-]*(?:\.[\w-]+)*(?![\w/]))"
    r"|(?P<name>(?<![\w-])[A-Za-z][A-Za-z0-9]*(?:[-_][A-Za-z0-9]+)*-\d\w*(?:[-.]\w+)*\b|\b[A-Z]{1,5}\d{3,}\b"
    r"|\b[A-Z]{2,5}\d{1,2}\b(?![-.]\w)|\b(?i:sev(?:erity)?) ?\d\b"
    r"|\b\d{1,5}[A-Z]{1,2}\d{1,6}\b|(?<![\w.-])(?!v\d)[a-z]{1,12}(?:-[a-z]{1,12}){0,3}\d{1,6}\b(?![-.]\w)"
    r"|\bv\d{1,3}(?:alpha|beta)\d{1,3}\b|\b[a-z]{1,3}\d[a-z]{0,3}\.\d{0,2}[a-z]{2,8}\b"
    r"|\b0x[0-9A-Fa-f]+\b|(?<!\w)(?=\w{0,60}[A-Za-z])\w{1,60}_\w{0,60}[A-Za-z0-9]\b|(?<![\w-])(?:[A-Z][a-z0-9]+){3,}\b"
    r"|(?<![\w.-])[a-z]\w{2,}(?:\.[a-z]\w*){2,}(?![\w.]\w)|\bX(?:-[A-Za-z]\w*)+\b|\b[A-Z]\d{1,2}\b(?![-.]\w)"
    rf"|\b[1-5]xx\b|\b(?:{_SYSTEM})\b)"
    rf"|(?P<zone>(?<=\d )(?:{ZONES})\b|(?<=[ap]m )(?:{ZONES})\b|(?<=[AP]M )(?:{ZONES})\b)"
    rf"|(?P<weekday>\b{WEEKDAYS}\b))"
)
WELL_KNOWN = re.compile(
    r"(?:utf|sha|iso|aes|rsa|md|base|x86|covid|ipv|http|ascii|latin|arm|amd|mp|ec|oauth|python|log)-?\d+"
    r"|(?:mid|pre|post|top|step|tier|level|phase|day|week|layer|part|option|point|item|line|version"
    r"|non|sub|under|over|about|and|or|to|than|plan|method)-\d\w*|[hHlL]\d|S3|A4|V8",
    re.IGNORECASE,
)
_SIGNS = ".,:;!?*_'"


def clean_url(text: str) -> str:
    """A URL without the punctuation of the sentence around it."""
    text = text.rstrip(_SIGNS)
    end, unopened = len(text), text.count(")") - text.count("(")
    while end and (text[end - 1] in _SIGNS or (text[end - 1] == ")" and unopened > 0)):
        end -= 1
        unopened -= text[end] == ")"
    return text[:end]
