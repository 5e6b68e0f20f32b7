"""Words of a message -> whether they are a remark: thanks, assent, progress, good news. Pure.

In a thread between one person and Footnote, all messages but remarks are meant for Footnote. If
others take part, only messages that ask are (``bot/question/intent.py``).
"""

import re

from bot.question.intent import alternatives, clauses_of

_THANKS = alternatives(
    r"thanks?|thx|ty\w*|cheers|appreciate\w*|welcome|pleasure|sorry|oops|np|no (?:problem|worries)",
    r"danke?|dank\w*|merci|gracias|obrigad[oa]|valeu|grazie|bedankt|takk?|спасибо|dzięki|teşekkür\w*",
)
_ASSENT = alternatives(
    r"o?k+(?:ay|ey)?|y(?:es|ep|up|eah)|no(?:pe)?|nah|sure|fine|right|true|correct|exactly|indeed",
    r"agree\w*|ditto|same|got it|gotcha|understood|noted?|roger|copy|ack\w*|see|makes sense|fair",
    r"klar|stimmt|genau|verstanden|passt|gut|d'accord|bon|vale|entendido|klopt|oke|понял\w*|ок|tamam",
)
_FEELING = alternatives(
    r"great|nice|cool|neat|sweet|super|awesome|amazing|perfect\w*|excellent|brilliant|impressive",
    r"good|best|well|lovely?|fun(?:ny)?|lgtm|l(?:o|mao|ma)l?|(?:ha){2,}|wow|yay|oh|ah+|aha|h+m+|ugh",
    r"that (?:did|was) it|(?:me|you) (?:too|neither)|weird|odd|strange|interesting|bad|mess|phew",
    r"finally|at last|d[ae]mn|argh|you rock|as expected|(?:as|like) (?:i|you|we) said|told you",
    r"parfait|perfecto|perfetto|prima|toll|h(?:i|ey|ello)",
)
_ASIDE = alternatives(
    r"never ?mind|nvm?|forget (?:it|that)|ignore (?:it|that|this)|false alarm|wrong (?:thread|"
    r"channel|window|chat)|fyi|heads up|for the record|brb|afk|omw|bye|(?:one|a) (?:sec\w*|min\w*|"
    r"moment)|hang on|hold on|wait\w*|maybe|perhaps|probably|whatever|dunno|idk|no idea|not sure|"
    r"tests?|testing|tomorrow|tonight|later|on it|mine|eta|cc|who knows|time for|take your time",
    r"morning|night|nacht|nuit|noche|morgen|demain|mañana",
)
_DOING = alternatives(
    r"(?:i|we|he|she|they|somebody|someone|let's|let me|je|ich|wir)\b",
    r"\w+(?:'s| is| are| has| have| was| were) (?:on it|\w+ing|\w+ed)\b",
    r"\w{2,}(?:ing|ed)\b|(?:(?:re)?(?:ran|built)|did|made|sent|took|put|went|back|off)\b",
    r"(?:(?:going|about|able) to|gonna|will|see you|have fun|(?:just )?(?:found|was|turned))\b",
)
_GOOD_NEWS = alternatives(
    r"works?|worked|fixed|resolved|solved|recover\w*|green|stable|normal|healthy|good|merged|gone|"
    r"released|done|finished|complete\w*|clear\w*|approved|up|out|in place|ready|over|empty|better",
    r"\w{3,}(?<!fail)(?<!lock)(?<!deni)(?<!crash)ed$",
    r"erledigt|fertig|läuft|geklappt|fatto|listo|gelukt|funziona|funciona\w*|marche|готово|"
    r"заработало|działa",
)
_REMARK = re.compile(
    rf"\b(?:{_THANKS}|{_ASSENT}|{_FEELING}|{_ASIDE}|{_GOOD_NEWS})\b|^(?:{_DOING})"
    r"|ありがとう|了解|承知|解決しま|直りました|谢谢|好的|收到|搞定|已解决|감사|해결|^네$"
)
_NEGATED = re.compile(r"\b(?:nicht|kein\w*|pas|niet|não|не|kan ikke)\b")
_LETTER = re.compile(r"[^\W\d_]{2}|[^\W\d_a-z]")


def is_remark(words: str) -> bool:
    """Return True if each clause is a remark, or there are no words."""
    return all(map(_is_remark, clauses_of(words)))


def _is_remark(clause: str) -> bool:
    if not _LETTER.search(clause):
        return True
    return bool(_REMARK.search(clause)) and not _NEGATED.search(clause)
