"""Answers without a model: verbatim, and unbreakable."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from agent.offline import passages_text
from tests.agent.test_content import PASSAGE


def test_the_line_says_why_and_what_that_means() -> None:
    text = passages_text([PASSAGE], "The model is overloaded.")

    assert text.startswith(
        "_The model is overloaded. These are the best-matching passages, word for word; "
        "nobody has checked that they answer the question._\n\n"
        "**Runbook › Roll back** [runbook-0]\n````\n"
    )


def test_weak_matches_are_called_that_and_nothing_found_is_said() -> None:
    assert "only loosely related" in passages_text([PASSAGE], "Why.", weak=True)
    assert (
        passages_text([], "Why.") == "_Why. A search of the docs found nothing for this question._"
    )


def test_only_the_best_three_are_shown() -> None:
    text = passages_text([replace(PASSAGE, id=f"p-{n}") for n in range(9)], "Why.")

    assert text.count("**Runbook") == 3


@given(st.text(alphabet=st.sampled_from("ab`~\n> *[]()<!@"), min_size=1, max_size=120))
def test_no_passage_breaks_out_of_its_fence(hostile: str) -> None:
    text = passages_text([replace(PASSAGE, text=f"x{hostile}x")], "Why.")

    tokens = MarkdownIt().parse(text)
    assert [token.type for token in tokens if token.level == 0][-1] == "fence"
    assert tokens[-1].content.rstrip("\n") == f"x{hostile}x".strip("\n")


def test_a_passage_that_is_too_long_is_cut_at_a_line_and_says_so() -> None:
    text = passages_text([replace(PASSAGE, text="a line of text\n" * 400)], "Why.")

    assert text.endswith("\n```\nThe passage goes on: open it to read the rest.")
    assert len(text) < 2_000
