"""Question -> one fixed search, or the loop: rules that cost nothing.

``single`` searches once with the question and answers; ``agent`` lets the model decide; ``auto``
gives plain look-ups to ``single`` and everything else to ``agent``.
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
