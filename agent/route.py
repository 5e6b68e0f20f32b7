"""Question -> no search, one fixed search, or the loop: rules that cost nothing.

``single`` searches once with the question and answers; ``agent`` lets the model decide; ``auto``
gives plain look-ups to ``single`` and everything else to ``agent``. Without a model, small talk is
told by its words.
"""

import re

from agent.conversation import Conversation
from agent.settings import AgentSettings

_LOOKUP_WORDS = 18
_SEVERAL = re.compile(
    r"\b(and|or|versus|vs|compare[ds]?|difference|between|both|each|all|why|then)\b|[;\n]",
    re.IGNORECASE,
)
_TALK = re.compile(r"\W*(hi|hello|hey|thanks?|thank you|ok(ay)?|great|cheers)\b", re.IGNORECASE)
_GREETING = re.compile(
    r"hi|hello|hey|hiya|howdy|morning|afternoon|evening|bye|goodbye|thanks?|thx|ty|cheers|"
    r"hallo|moin|servus|morgen|danke?|tschüss|bonjour|bonsoir|salut|merci|hola|gracias|adiós|"
    r"ciao|grazie|buongiorno|olá|obrigad[oa]"
)
_COURTESY = re.compile(
    r"there|all|every(?:one|body)|folks|team|footnote|bot|again|good|nice|to|meet|see|you|later|"
    r"day|night|so|very|much|many|a|lot|and|that|this|it|was|is|helped|work(?:s|ed)|fixed|did|the|"
    r"trick|great|perfect|awesome|super|cool|ok|okay|please|for|your|how|are|today|"
    r"guten?|tag|abend|nacht|vielen|schön|sehr|beaucoup|buen[oa]s|días|tardes|muchas|mille"
)
_ABOUT_ITSELF = re.compile(
    r"(?:what (?:can|do) you (?:do|help(?: me)? with|know)|who are you|"
    r"how do(?: you work| i use you)|how are you)(?: today| here)?"
)


def searches_first(conversation: Conversation, settings: AgentSettings) -> bool:
    """Whether the question is searched as it stands before the model is asked."""
    if settings.route == "auto":
        return is_lookup(conversation)
    return settings.route == "single"


def is_lookup(conversation: Conversation) -> bool:
    """A first, short question about one thing."""
    question = conversation.question.strip()
    return (
        not conversation.earlier
        and 2 <= len(question.split()) <= _LOOKUP_WORDS
        and question.count("?") <= 1
        and not _SEVERAL.search(question)
        and not _TALK.match(question)
    )


def is_small_talk(text: str) -> bool:
    """A greeting, thanks, or a question about Footnote itself: nothing that docs could answer."""
    words = re.findall(r"\w+", re.sub(r":\w+:", " ", text.lower()))
    other = [word for word in words if not _GREETING.fullmatch(word)]
    is_greeting = len(other) < len(words) and all(map(_COURTESY.fullmatch, other))
    return is_greeting or bool(_ABOUT_ITSELF.fullmatch(" ".join(words)))
