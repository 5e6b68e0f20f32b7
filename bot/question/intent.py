"""Words of a message -> a word to stop, a question, a request, a problem, or none of these. Pure.

A message without a mention is answered only if it asks. So a phrase that is not listed here means
silence: chit-chat, thanks, reports of progress. Code and addresses are not prose, but an error in
pasted output is a problem. Phrases of a few languages beside English are listed.
"""

import re


def alternatives(*lines: str) -> str:
    """Join patterns into one that matches any of them."""
    return "(?:" + "|".join(lines) + ")"


def _one_of(*lines: str) -> re.Pattern[str]:
    return re.compile(alternatives(*lines))


_FILLER = _one_of(
    r"please|pls|plz|ok|okay|k|thanks|thank you|thx|ty|hey|hi|hello|no|yes|so|well|right|alright",
    r"all right|footnote|bot|assistant|now|just|here|again|already|for now|never ?mind|nvm|dear",
    r"you (?:can|may|should|could)|(?:can|could|would|will) you|i said|bitte|danke|jetzt|merci",
    r"s'il (?:te|vous) pla[iî]t|por favor|per favore|grazie|gracias",
)
_SPEAKING = alternatives(
    r"(?:answer|reply|respond|post|comment|talk|speak|writ|interrupt|interfer|spamm?)(?:ing|e)?",
    r"chim(?:e|ing) in|jump(?:ing)? in|butt(?:ing)? in|do(?:ing)? (?:that|this)|that|this|it",
)
_WHERE = _one_of(
    r"(?:to |on |in |of )?(?:me|us|this|here|this thread|the thread|this channel|everything)",
    r"any ?more|now|in here|to (?:everyone|everybody|every message)|with (?:that|this)",
)
_STOPPING = _one_of(
    rf"stop(?: {_SPEAKING})?",
    rf"(?:do not|don't|dont) {_SPEAKING}",
    r"(?:be |keep |stay )?(?:quiet|silent)",
    r"(?:stay|keep|get|butt) out",
    r"(?:leave (?:us|me|it|this)(?: thread)?(?: alone)?)|no more (?:answers|replies|messages)",
    r"(?:there(?:'s| is) )?no need to (?:answer|reply|respond)|(?:not|nobody asked) (?:for )?you",
    r"you (?:don't|do not) (?:need|have) to (?:answer|reply|respond)",
    r"(?:i|we)(?:'m|'re| am| are| was| were)? ?(?:not|n't) (?:talking|speaking) to you",
    r"silence|sh+|hush|shush|shut up|mute(?: yourself)?|go away|back off",
    r"(?:that's |that is )?enough",
    r"stopp|halt|hör auf|aufhören|ruhe|sei (?:still|ruhig)|schluss|genug|arr[eê]te|tais-toi",
    r"ça suffit|para|basta|c[aá]llate|detente|smettila|pare|chega|hou op|стоп|хватит|замолчи",
    r"停|停止|闭嘴|やめて|止めて|ストップ",
)
_STEPS = (
    (_FILLER, "start", "start"),
    (_STOPPING, "start", "stop"),
    (_STOPPING, "stop", "stop"),
    (_WHERE, "stop", "stop"),
    (_FILLER, "stop", "end"),
    (_FILLER, "end", "end"),
)
"""A message to stop, phrase by phrase: kind of the phrase, state before it, state after it."""
_LONGEST = 6
"""Number of words in the longest phrase."""

_LEAD = re.compile(
    r"(?:(?:and|but|so|ok|okay|also|then|hm+|well|or|cool|great|nice|thanks|thank you|thx|oh|ah|"
    r"hey|right|actually|plus|um+|sorry|alright|got it|perfect|yes|no|hi|hello|footnote|"
    r"please|pls|plz|und|aber|et|y|e|mais|pero|ma|en|maar|а|и)\b[\s,:;–-]*)+"
)
_THING = r"(?:the|this|that|these|those|it|there|my|our|your|any\w*|some\w*|every\w*)"
_ONE = r"(?:i|we|you|they|he|she)"
_QUESTION = re.compile(
    alternatives(
        r"what(?!ever)(?! (?:an?|i|we|you|they|he|she) |(?: the)? (?:hell|heck|fuck)$)",
        r"(?:what|how|where|who)'?s|why|whose|whom",
        r"how(?! (?:nice|cool|weird|odd|strange|funny|great|annoying|awful|sweet)\b)",
        r"who(?! (?:knows|cares)\b)|which(?! (?:i|we|is|was|means|makes|explains|seems|works?)\b)",
        r"(?:when|where)(?: (?:do|does|did|is|are|was|were|will|would|should|can|could|to|else|in|"
        r"exactly|has|have)\b|$)",
        rf"(?:is|are|was|were|am|can|will|has|had|could|would|should|shall|does|might) "
        rf"(?!the (?:trick|job)\b)(?:{_ONE}|{_THING})",
        r"(?:could|would|should|will|can|does) an? \w+ \w+",
        rf"did (?!(?:it|that|this|the \S+)$)(?:{_ONE}|{_THING})",
        rf"(?:do|have|may|must) (?:{_ONE}|any\w*|these|those)",
        rf"(?:isn't|aren't|wasn't|doesn't|don't|didn't|can't|won't|shouldn't|couldn't|hasn't) "
        rf"(?:{_ONE}|{_THING})",
        r"does (?!not\b|that\b|nothing\b)\S+ \S+|should (?!not\b|be\b)\S+ be",
        r"(?:wie|warum|wieso|weshalb|wo|wann|wer|wen|wem|welche[rsnm]?|woher|wohin)",
        r"was (?:ist|sind|bedeutet|heißt|mache?|machen|tun|passiert|wenn|kann|muss|soll|gibt)",
        r"(?:kann|können|muss|soll|darf) (?:ich|man|wir|das|es)|gibt es",
        r"comment|pourquoi|où|quand|quels?|quelles?|combien|est-ce|qu'est-ce",
        r"que (?:faire|signifie|hago|es|significa|pasa)",
        r"c[oó]mo|qué|por ?qu[eé]|d[oó]nde|cu[aá]ndo|cu[aá]l(?:es)?|qui[eé]n|quando|qual|quais",
        r"perch[eé]|dove|quale|come (?:si|posso|faccio|funziona)|cosa (?:faccio|significa|succede)",
        r"hoe|waarom|waar|wanneer|welke?|jak|dlaczego|gdzie|kiedy",
        r"как|почему|где|когда|что|кто|зачем|какой|какая|какие|сколько",
    )
    + r"\b"
)
_ASKING = re.compile(
    alternatives(
        r"\bany (?:idea|clue|thoughts?|suggestions?|hints?|advice|chance|docs?|pointers?|tips?)\b",
        r"\b(?:what|how) about\b|\bhow come\b|\bwhat if\b",
        r"\b(?:not sure|no idea|no clue|don'?t know|do not know|dunno|unclear|wonder(?:ing)?|"
        r"confused|curious|don'?t (?:get|understand|see)|can'?t (?:tell|see|figure out)) "
        r"(?:how|what|why|where|when|which|who|whether|if)\b",
        r"^(?:and )?(?:to|from|in|on|with|for|by|since|until|at|of) (?:which|what|whom|when)\b",
        r"\b(?:can|could|would|will) (?:you|someone|somebody|anyone|anybody) \w",
    )
)
"""Phrases that ask anywhere in a clause."""
_REQUEST = re.compile(
    alternatives(
        r"show (?:me|us|the|all|an?|more|it|that|where|how|what)\b",
        r"(?:give|send|get|tell|remind|point|walk|teach|link|help|guide|find) (?:me|us)\b"
        r"(?! (?:a|one|two) (?:sec|second|min|minute|moment|bit|break)\b)",
        r"(?:give|get|find|list|describe|summari[sz]e|compare|translate|search|clarify) "
        r"(?:the|all|an?|more|every|any|for|what|which|where|how|it|this|that|both)\b"
        r"(?! (?:few )?(?:sec|second|min|minute|moment|try)s?\b)",
        r"explain\b|elaborate\b|compare \w|go deeper$|next steps?$|look (?:up|into|for)\b|"
        r"list (?!looks|is|was)\w",
        r"check (?!it out|this out|that out)(?:if|whether|for|what|which|how|that|this|the|it)\b",
        r"help(?: with\b| please| me| us|$)|(?:more|further) (?:details?|info|examples?|about)\b",
        r"(?:details|examples?|steps|link|sources?)(?: please)?$",
        r"(?:try|answer|say (?:it|that)|explain|search) again\b|(?:go on|continue)(?: please)?$",
        r"(?:the )?same (?:question )?(?:for|on|in|with) (?!me\b|us\b)",
        r"now (?:for|with|in|on) (?!it\b|my\b)\w|for (?!now|sure|real|what|me\b|us\b|the|your)\w",
        r"i (?:still )?(?:need|want) (?:help|to (?:know|see|understand|find)|the|more)\b",
        r"i(?:'d| would) (?:like|love) (?:to (?:know|see|understand|find)|the|more|an?)\b",
        r"(?:what )?i (?:mean|meant)\b|need (?:the|more|help|an? (?:example|link))\b",
        r"(?:in|auf|en|em) (?:english|german|french|spanish|short|deutsch|français|español)$",
        r"(?:repeat|rephrase|shorten|summari[sz]e|shorter|longer|simpler|retry|tl;?dr)\b",
        r"(?:got )?(?:a |the )?link (?:to|for)\b|(?:anything|what|who|where|something) else\b",
        r"any(?: other)? (?:risks?|downsides?|alternatives?|options?|side effects?)$",
        r"(?:yes|yeah|sure|ja|oui|sí) (?:please|bitte|s'il (?:te|vous) pla[iî]t|por favor)$",
        r"(?:zeige?|erkläre?|liste|nenne?|such|finde|hilf|beschreibe?) \w|gib (?:mir|uns)\b",
        r"(?:montre|explique|donne|cherche|trouve|aide)(?:z|r)?\b",
        r"(?:muéstra|explíca|da|di|busca|ayúda)(?:me|nos)\b|(?:explica|muestra|ayuda)\b",
        r"(?:mostre|mostra(?:mi)?|spiega(?:mi)?|dammi|trova|elenca|aiuto)\b",
        r"(?:toon|geef|zoek|pokaż|wyjaśnij|покажи|объясни|расскажи|найди)\b",
    )
)
_CONTINUED = re.compile(
    r"(?:(?:and|or|also|then|now|und|et|y|e|en|и|а) )+(?:"
    r"(?:for|if|without|für|bei|mit|wenn|pour|avec|para|con|per|voor|для) "
    r"(?!now\b|me\b|sure\b)\S.*|"
    r"(?:the|in|on|with|after|under|about|im|auf|sur|dans|en|sul) (?!it\b)\S+(?: \S+)?|"
    r"\S+ (?:one|cluster|service|environment|region|side))"
)
"""The same question about something else: ``and for eu``, ``and the second one``."""
_POLITE = re.compile(
    r"(?:please|pls|plz|kindly|bitte|por favor|per favore) (?!wait|hold|ignore|do\b|don't|stand|"
    r"stay|hang|disregard)\w"
    r"|(?!(?:no|ok|okay|thanks) )\S.* (?:please|pls|plz|bitte)$"
)
_THANKS = re.compile(r"(?:thanks|thank you|thx|ty|cheers|sorry|great|nice|ok|okay|right) for\b")
_CJK = re.compile(
    r"怎么|为什么|為什麼|什么|什麼|如何|哪|吗|嗎|请问|どう|なぜ|どこ|いつ|教えて|ですか|ますか|何|"
    r"어떻게|왜|어디|언제|무엇|까요|나요"
)

_CODE = re.compile(
    alternatives(
        r"\b[A-Z][A-Z0-9]+[-_]\d{2,}\b|\bE[A-Z]{5,}\b|\bERR_\w+",
        r"\b\w+(?:Error|Exception|Failure|BackOff|Killed|Timeout|Fault)\b|Traceback \(most recent",
        r"\bHTTP(?:/[\d.]+)? ?[45]\d\d\b|\b(?:exit|status|error|return) (?:code|"
        r"status)?:? ?-?[1-9]\d*\b",
        r"\b(?:an?|the|get|gets|got|getting|seeing|see|with|returns?|returned|throws) [45]\d\ds?\b",
    )
)
_NOT = r"(?:not|n't|nt|never|no longer|cannot|won't)"
_PROBLEM = re.compile(
    alternatives(
        r"\b(?:errors?|exceptions?|traceback|stack ?trace|fail(?:s|ed|ing|ures?)?"
        r"|broken|breaks|broke)\b",
        r"\b(?:crash(?:es|ed|ing)?|stuck|hangs?|hanging|hung"
        r"|tim(?:es?|ed|ing) out|timeouts?|oom\w*)\b",
        r"\b(?:denied|refused|forbidden|unauthori[sz]ed"
        r"|unavailable|unreachable|not found|missing)\b",
        r"\b(?:corrupt\w*|panic\w*|problems?|issues?|bug"
        r"|regress\w+|outage|unresponsive|unhealthy)\b",
        rf"{_NOT} (?:\w+ )?(?:work|start|help|load|connect|respond|run|fix|recover|resolv|exist"
        r"|build|deploy|finish|com(?:e|ing) up|solv|go(?:ne)? away|find|reach|open|log in|see"
        r"|get(?:ting)? it)\w*",
        r"\b(?:no (?:luck|effect|change|difference)|(?:nothing|no) (?:happen|chang|help)\w*|"
        r"same (?:error|problem|issue|thing|result))",
        rf"\b(?:wrong|incorrect|outdated)\b(?! (?:thread|channel|window|chat)\b)|"
        rf"{_NOT} (?:right|correct|true|better|what i)\b|\bcontradict\w*|\bworse\b",
        rf"\b(?:fir|happen)\w* again$|{_NOT} (?:\w+ )?(?:understand|get (?:it|that|this))",
        r"\b(?:i(?:'m| am)? (?:lost|confused)|makes no sense|unclear|not clear)\b",
        r"\bstill (?:\w+ )?(?:grow|climb|ris|increas|going up|fill|fir|restart|fail)\w*",
        r"\bno such\b|\b(?:cannot|unable to) \w|\bblocked\b",
        r"\b(?:dead|deprecated|expired|invalid|no existe|sin funcionar)\b|\b404\b",
        r"\bstill (?:the same|down|red|seeing|getting|slow|happening|there|firing|pending|no)\b",
        r"\bkeeps? \w+ing\b|\b(?:got|getting|seeing) (?:an? |the |these )?(?:warnings?|alerts?)\b",
        r"\b(?:fehler|kaputt|hängt|schlägt fehl|klappt nicht|geht nicht|funktioniert nicht|"
        r"läuft nicht)",
        r"\b(?:erreur|en panne|plante|échoue|(?:marche|fonctionne) (?:pas|toujours pas))",
        r"\b(?:no funciona|falla|fallo|fallando|não funciona|erro|errore|non funziona|guasto)\b",
        r"\b(?:werkt niet|fout|kapot|nie działa|błąd|не работает|ошибк\w+|падает)",
        r"エラー|動かない|失敗|错误|錯誤|报错|失败|不工作|오류|에러|안 (?:돼|됩)",
    )
)
_NOT_SETTLED = re.compile(
    rf"{_NOT} (?:\w+ )?(?:fix|resolv|solv|gone|clear|recover|work|help)\w*|didn't (?:fix|help|work)"
)
_SETTLED = re.compile(
    alternatives(
        r"\b(?:no|without|zero) (?:more |longer |any )?(?:\w+ )?"
        r"(?:errors?|fail\w*|problems?|issues?|alerts?)",
        r"\b(?:fixed|resolved|solved|gone|cleared|recovered|closed)\b",
        rf"{_NOT} (?:fail|crash|hang|tim)\w*",
        r"\bno (?:problem|worries|issue|longer|more)\b|\bfound (?:it|the|out)\b",
        r"\bback to normal\b",
        r"\bturned out\b|\bmy bad\b",
        r"\b(?:was|it's|its) (?:just |only )?(?:a |my )?(?:typo|mistake|bad|fault)\b",
        r"\b(?:filed|created|opened|linked|merged|tracking|reported|raised) \S+",
        r"^(?:i'?m|i am|we'?re|we are|i'?ll|i will|we'?ll|let me|let's|going to|will)\b"
        r"(?! (?:still |also |now )*(?:getting|seeing|stuck|having|hitting|unable|not|lost|"
        r"blocked))",
        r"\b(?:error|failure)\w*(?: rates?)? (?:\w+ )?(?:drop|stop|back to|down to|fine|ok)\w*",
        r"^fail(?:ing|ed) over\b",
        r"^(?!fail|crash|tim|hang|deni)(?:\w+ed|reran) (?:the|all|an?|our|my)\b",
        r"^(?:looking|checking|investigating|restarting|rolling|deploying|watching|trying|"
        r"retrying|on it)\b",
    )
)

_EXPLAINED = re.compile(
    r"\W*(?:root cause|turned out|"
    r"(?:i |we )?found (?:it|the (?:\w+ )?(?:problem|issue|cause|bug)))\b"
)
"""Begins a message about a problem that is over."""

_FENCED = re.compile(r"```.*?(?:```|\Z)|`[^`\n]*`", re.DOTALL)
_ADDRESS = re.compile(r"<[a-z]+:[^<>\s]*(?:\|[^<>]*)?>|https?://\S+|<[@#!][^<>]*>", re.IGNORECASE)
_EMOJI = re.compile(r":[a-z0-9_+-]+:")
_QUOTED = re.compile(r"^(?:>|&gt;).*$", re.MULTILINE)
_MARK = re.compile(r"[?？؟]")
_SIGNS = r"[.!;\n…。！,，:–—]"
_CLAUSE = re.compile(rf"(?<!{_SIGNS}){_SIGNS}+(?=\s|$)|[。！，]|\s[-–—]++\s")


def is_stop(words: str) -> bool:
    """Return True if the words only tell Footnote to stop, however politely."""
    plain = _EMOJI.sub(" ", words.lower().replace("’", "'"))
    each = re.sub(r"[^\w\s'-]", " ", plain).split()
    # The possible states after each number of words. One pass finds them for every way to split the
    # words into phrases.
    states_after: dict[int, set[str]] = {0: {"start"}}
    for start in range(len(each)):
        states = states_after.pop(start, set())
        if not states and not states_after:
            return False
        for end in range(start + 1, min(start + _LONGEST, len(each)) + 1) if states else ():
            phrase = " ".join(each[start:end])
            following = {
                after
                for kind, before, after in _STEPS
                if before in states and kind.fullmatch(phrase)
            }
            if following:
                states_after.setdefault(end, set()).update(following)
    return not states_after.get(len(each), set()).isdisjoint({"stop", "end"})


def is_question(words: str) -> bool:
    """Return True for a question mark outside code and addresses, or a clause that asks."""
    prose = _prose(words)
    if _MARK.search(prose) or _CJK.search(prose):
        return True
    return any(_QUESTION.match(_led(c)) or _ASKING.search(c) for c in _clauses(prose))


def is_request(words: str) -> bool:
    """Return True if a clause tells Footnote what to do, or asks the same for something else."""
    return any(
        _POLITE.match(clause)
        or _CONTINUED.fullmatch(clause)
        or _REQUEST.match(clause)
        or (not _THANKS.match(clause) and _REQUEST.match(_led(clause)))
        for clause in clauses_of(words)
    )


def is_problem(words: str) -> bool:
    """Return True if a clause says that something fails, and does not say that it is settled.

    An error in a code block is a problem, too.
    """
    text = _QUOTED.sub(" ", _ADDRESS.sub(" ", words)).replace("’", "'")
    is_over = _EXPLAINED.match(text.lower())
    return not is_over and any(_is_broken(clause) for clause in _clauses(text))


def asks(words: str) -> bool:
    """Return True if the words want something of Footnote."""
    return is_question(words) or is_request(words) or is_problem(words)


def _is_broken(clause: str) -> bool:
    low = clause.lower()
    if _NOT_SETTLED.search(low):
        return True
    problem = _CODE.search(clause) or _PROBLEM.search(low)
    return bool(problem) and not (_SETTLED.search(low) or _SETTLED.search(_led(low)))


def _prose(words: str) -> str:
    """Return a person's own words in lower case, without code, addresses and quotations."""
    for pattern in (_FENCED, _ADDRESS, _EMOJI, _QUOTED):
        words = pattern.sub(" ", words)
    return words.lower().replace("’", "'")


def clauses_of(words: str) -> list[str]:
    """Return the clauses of a person's own words, in lower case."""
    return _clauses(_prose(words))


def _clauses(text: str) -> list[str]:
    return [" ".join(clause.split()) for clause in _CLAUSE.split(text) if clause.strip()]


def _led(clause: str) -> str:
    """Return the clause without the small words that lead into it."""
    return _LEAD.sub("", clause, count=1) if _LEAD.match(clause) else clause
