"""Long texts: cut at the end or in the middle, never longer than their limit."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.shorten import shorten_end, shorten_middle

WORD = re.compile(r"\w++")
PIECES = st.sampled_from(
    ["a", "b ", "\n", "e\u0301", "👩\u200d🚒", "👍🏽", "\ud83d\ude00", "漢", "…"]
)
TEXTS = st.lists(PIECES, max_size=300).map("".join)


@given(TEXTS, st.integers(0, 400))
def test_a_shortened_text_fits_its_limit_and_begins_as_before(text: str, limit: int) -> None:
    for shortened in (shorten_end(text, limit), shorten_middle(text, limit)):
        assert len(shortened) <= limit
        assert (shortened == text) == (len(text) <= limit)
        assert text.startswith(shortened.partition("\n[… ")[0].removesuffix("…"))


@given(TEXTS, st.integers(60, 400), st.floats(0, 1))
def test_a_text_cut_in_the_middle_says_how_much_is_left_out(
    text: str, limit: int, tail: float
) -> None:
    shortened = shorten_middle(text, limit, tail=tail)
    if shortened == text:
        return
    head, _, rest = shortened.partition("\n[… ")
    count, _, end = rest.partition(" characters left out …]\n")
    assert text.endswith(end)
    assert len(head) + int(count.replace(",", "")) + len(end) == len(text)


@pytest.mark.parametrize("whole", ["e\u0301", "👩\u200d🚒", "👍🏽", "\ud83d\ude00"])
@pytest.mark.parametrize("limit", range(60, 70))
def test_no_letter_is_cut_from_its_accent_and_no_emoji_in_two(whole: str, limit: int) -> None:
    text = whole * 100
    beginning = shorten_end(text, limit).removesuffix("…")
    head, _, rest = shorten_middle(text, limit).partition("\n[… ")
    for part in (beginning, head, rest.partition("]\n")[2]):
        assert part
        assert part == whole * (len(part) // len(whole))


def test_accents_without_end_are_cut_like_other_text() -> None:
    assert len(shorten_end("e" + "\u0301" * 1_000, 500)) == 500


@given(st.lists(st.sampled_from(["word", "longer", "x"]), max_size=80), st.integers(60, 200))
def test_no_match_of_what_has_to_stay_whole_is_cut_in_two(words: list[str], limit: int) -> None:
    text = " ".join(words)
    head, _, rest = shorten_middle(text, limit, whole=WORD).partition("\n[… ")
    tail = rest.partition("…]\n")[2]
    assert {*head.split(), *tail.split()} <= {*words}
