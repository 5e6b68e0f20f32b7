"""Words of a message -> a word to stop, something that asks, or neither."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bot.question.intent import asks, is_question, is_stop
from tests.waiting import cpu_seconds

ASKING = [
    "no that's wrong", "wrong runbook", "that's not what I asked", "I don't understand",
    "I meant the ledger service", "no change", "it got worse", "it fired again", "cannot evict pod",
    "the queue is still growing", "since when", "to which version", "any side effects",
    "anything else I should check", "auf deutsch", "link to the runbook", "summarize",
    "compare v1 and v2", "would a restart help", "that link is dead", "404 on that link",
    "shorter please", "next step", "sigue sin funcionar", "per favore spiega", "job keeps failing",
    "tried that, no luck", "got \"connection refused\" on port 5432",
    "exit code 137",
    "dame un ejemplo",
    "and how do I check that it worked", "still the same error after that",
    "what about the EU cluster", "how about staging", "and for eu", "and for the EU cluster",
    "now for staging", "same for X", "the same for staging please", "for staging",
    "show me the command", "give me an example", "list all steps", "explain the second step",
    "tell me more about that", "find the dashboard", "check whether the limits apply to refunds",
    "still failing with PAY-4031", "PAY-4031", "I get a 503 now", "CrashLoopBackOff",
    "it doesn't work", "didn't help", "that didn't fix it", "still stuck in PENDING",
    "pods keep crashing", "permission denied", "nothing happened", "any idea why",
    "no idea how to roll back", "not sure what to do next", "ok cool, how do I check that",
    "thanks! what else", "is it safe to retry", "does ledger retry", "did the deploy go out",
    "can you explain that", "could you list the steps", "more details", "in german please",
    "please summarize", "yes please", "and the second one", "and if it fails again",
    "and in the EU", "go on", "I need the rollback command", "I'd like to know the limits",
    "restart it?", "?", "```\nTraceback (most recent call last):\nValueError: x\n```",
    "wie lange dauert das", "und für staging", "zeig mir das Kommando",
    "geht nicht, gleicher Fehler", "warum", "comment faire", "et pour staging", "ça ne marche pas",
    "¿y ahora?", "cómo lo reviso", "no funciona", "muéstrame el comando", "как откатить",
    "не работает", "怎么回滚", "どうやって", "동작 안 돼", "come posso fare",
    "so what is the first step",
    "what was step 7 again", "I don't know how to roll it back", "I'm getting a timeout",
    "we're still seeing errors", "now I get ECONNREFUSED", "hmm, it hangs", "not working",
    "hm, why is that", "the runbook link is broken", "where is it", "who owns this",
]  # fmt: skip
SILENT = [
    "error rate is dropping", "failed over to replica 2", "restarted the hung worker",
    "root cause: expired cert, renewed it", "found the problem, cert expired",
    "the errors have stopped", "retried the failed jobs, all green", "sorry, wrong thread",
    "ok let me look", "it recovered by itself", "the retry worked", "going with option 2",
    "in progress", "on my way", "have a look at this", "that was it", "hat geklappt",
    "parfait merci beaucoup", "paged the owners", "works like a charm", "ok please wait",
    "no please",
    "lol", "on it", "looking", "rolled back", "that fixed it", "tysm", "danke", "great answer",
    "looks like the deploy is green now", "<https://grafana.example.com/d/ledger>",
    "https://example.com/a?b=c", "thanks all, I restart it now", "ok, watching the graphs",
    "ok, got it :thumbsup:", "thanks for the help!", "I am rolling back now",
    "perfect, that did it", "merci", "gracias!", "ok cool", "will do", "works now, thanks",
    "no more errors since the rollback", "PAY-4031 is gone", "the error is gone now",
    "found it, the config was wrong", "it was a typo, my bad", "sounds good", "can confirm",
    "have a nice weekend", "let me check", "I'll try that", "checking the logs", "which is weird",
    "what a mess", "when it is done I will write it up here", "not sure", "give me a sec",
    "nice one", "ran `kubectl rollout undo deploy/payments-api`", "filed PAY-123 for this",
    ":tada:", "haha", "deploy is out", "done", "me too", "for now I leave it", "same here",
    "should be fine", "that makes sense", "did the rollback", "restarting the pods",
    "we are at 4.12 now", "yes", "nope", "good to know", "please wait", "all green",
    "I know how to do it", "kim is looking at it", "brb", "I will report back",
    "fertig, läuft wieder", "super, funktioniert", "ça marche, merci", "vale, gracias",
    "> how do I roll back?", "it's not failing any more", "thanks, that helped a lot",
]  # fmt: skip
STOPPING = [
    "stop", "STOP!", "please stop", "ok, stop it", "be quiet please", "pls stop", "stop pls",
    "footnote, stop", "stop replying here", "stop answering in this thread", "stop responding",
    "STOP STOP", "you can stop now", "never mind, stop", "enough", "please don't answer here",
    "thanks, that's enough", "can you stop", "stop it now please", "don't reply any more",
    ":octagonal_sign: stop", "Stop, please!", "shut up", "leave us alone", "hör auf", "arrête",
    "basta", "bitte stopp", "stop responding to me", "no need to answer", "not you, footnote",
    "I wasn't talking to you", "you don't have to reply here", "nobody asked you",
]  # fmt: skip
GOING_ON = [
    "stop the payments-api how?", "how do I stop the worker?", "never mind", "it stopped",
    "stop the worker", "do not restart it", "it stops here", "thanks", "stop writers first",
    "quiet hours", "enough disk",
]  # fmt: skip


@pytest.mark.parametrize("words", ASKING)
def test_a_question_a_request_and_a_problem_ask(words: str) -> None:
    assert asks(words)


@pytest.mark.parametrize("words", SILENT)
def test_thanks_chit_chat_and_progress_ask_nothing(words: str) -> None:
    assert not asks(words)


@pytest.mark.parametrize("words", STOPPING)
def test_a_word_to_stop_counts_in_polite_phrases_too(words: str) -> None:
    assert is_stop(words)


@pytest.mark.parametrize("words", GOING_ON)
def test_stopping_something_else_does_not_tell_footnote_to_stop(words: str) -> None:
    assert not is_stop(words)


@pytest.mark.parametrize(
    "words", ["found it", "see https://x.example/?a=1", "use `a ? b : c`", "ok"]
)
def test_a_question_mark_in_code_or_an_address_does_not_ask(words: str) -> None:
    assert not is_question(words)


@settings(deadline=None)
@given(
    st.lists(st.sampled_from(["stop ", "please ", "not ", "`", "<a:", "and ", "?"]), max_size=40)
)
def test_no_message_takes_long_to_understand(parts: list[str]) -> None:
    words = "".join(parts) * 100
    assert cpu_seconds(lambda: (is_stop(words), asks(words))) < 20
