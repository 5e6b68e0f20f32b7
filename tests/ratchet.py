"""Shared cases that fail today, by the missing feature.

A case on this list must fail. When one passes, its test fails until the case leaves the list; from
then on it must pass.
"""

_LACKS = {
    # Alerts.
    "the stand-in text of Slack's clients is given as content": "alerts-x-cannot-display",
    "fields that hold lists and objects are left out": "alerts-x-list-values",
    "an e-mail's subject and the title of its file are both given": "alerts-x-email-file",
    # Who is answered.
    "only a follow-up that looks like a question is answered": """
        events-x-follow-do-the-same answer-to-its-question yes-to-its-question
        problem-taken-for-a-remark""",
    "remarks in other words or languages are answered": """
        events-x-remark-alright events-x-remark-sgtm events-x-remark-love
        events-x-remark-rabotaet""",
    "what an app posts for a person is taken for a bot's": "own-token-post",
    "a snippet is read in earlier messages only": "own-snippet",
    "a thread that Slack does not give is asked for without a sign or an end": (
        "replies-rate-limited"
    ),
    # What is marked in an answer.
    "a check of strings does not see another meaning of the same words": """
        grounding-r2-cmp-2 grounding-r2-cmp-5 grounding-r2-not-1 grounding-r2-not-4
        grounding-r2-not-7 grounding-r2-order-3 grounding-r2-svc-2 grounding-r2-cond-2
        grounding-r2-row-2 grounding-r2-row-5 grounding-r2-mix-1 grounding-r2-mix-4
        grounding-r2-prose-3""",
    "names of people, teams and tools in prose are not checked": """
        grounding-r2-cite-5 grounding-r2-own-w3 grounding-r2-name-2 grounding-r2-name-5""",
    "numbers, days and time zones in words or other languages are not checked": """
        grounding-r2-word-3 grounding-r2-lang-1 grounding-r2-lang-6 grounding-r2-zone-1""",
    "invented variables, operators and values for placeholders are not marked": """
        grounding-x-env-var grounding-x-env-host grounding-x-env-prose grounding-r2-sym-3
        grounding-r2-fill-1 grounding-r2-fill-5""",
    "the same value in another form or language is marked": """
        grounding-r2-fr-2 grounding-r2-n2-4 grounding-r2-c2-4 grounding-r2-l2-3
        grounding-x-row-label-unit grounding-x-product-version""",
    "numbers of steps, another placeholder or style of YAML is marked": """
        grounding-x-inline-steps-parens grounding-x-steps-range grounding-x-steps-keycaps
        grounding-x-bracket-placeholder grounding-x-yaml-indent""",
}

FAILS_TODAY = {id: reason for reason, ids in _LACKS.items() for id in ids.split()}
"""Reason by id."""
