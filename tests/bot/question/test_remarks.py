"""Remarks of one person to Footnote, which need no answer."""

import pytest

from bot.question.intent import asks
from bot.question.remarks import is_remark

REMARKS = [
    "thanks", "thx that worked", "thanks a lot, got it!", "tyvm", "ok", "k", "+1", ":+1:", "👍", "",
    "great, that did it", "good catch", "makes sense", "you're right", "never mind", "false alarm",
    "sorry, wrong window", "rolling back now", "rolled back, all pods are up", "ran it, looks good",
    "I'll write it up tomorrow", "let me check", "kim is looking", "queue is empty now", "on it",
    "status page updated", "deploy done", "error is gone", "it works", "fixed", "monitoring", "lol",
    "<https://grafana.example.com/d/ledger>", "danke, läuft wieder", "merci, ça marche", "gracias",
    "ありがとうございます", "谢谢", "解決しました", "one moment", "back in 5 minutes", "PR merged",
]  # fmt: skip
MEANT = [
    "in staging", "the EU cluster", "lag is at 12 seconds", "no, the other one", "and then",
    "it's back", "it is v2 there", "the docs say 15 minutes", "PAY-4032", "eu-west", "and eu",
    "that is for v1", "with kubectl", "weiter", "das stimmt nicht", "et ensuite", "y luego",
    "EUの場合は", "还是不行", "유럽은요", "а дальше", "hala çalışmıyor", "disk is at 97%",
    "thanks. the lag is 12 seconds", "replica 2",
]  # fmt: skip


@pytest.mark.parametrize("words", REMARKS)
def test_thanks_assent_progress_and_good_news_are_remarks(words: str) -> None:
    assert is_remark(words)
    assert not asks(words)


@pytest.mark.parametrize("words", MEANT)
def test_all_other_messages_are_not_remarks(words: str) -> None:
    assert not is_remark(words)
