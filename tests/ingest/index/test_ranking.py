"""Fusing two ranked lists."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.index.ranking import fuse, raised

SCORES = st.dictionaries(st.integers(0, 200), st.floats(-1, 50, allow_nan=False), max_size=80)


def test_what_both_lists_found_comes_before_what_one_of_them_found() -> None:
    document_of = {1: 1, 2: 2, 3: 3}
    ranked = raised(fuse({1: 0.9, 2: 0.8}, {3: 9.0, 2: 8.0}), document_of, {})
    assert [row for row, _score in ranked] == [2, 1, 3]


def test_a_page_with_several_good_passages_comes_before_a_lucky_one() -> None:
    document_of = {1: 1, 2: 2, 3: 2, 4: 2}
    ranked = raised(fuse({1: 0.80, 2: 0.79, 3: 0.78, 4: 0.77}, {}), document_of, {})
    assert [row for row, _score in ranked] == [2, 3, 4, 1]


def test_a_page_that_matches_as_a_whole_comes_before_one_that_does_not() -> None:
    ranked = raised(fuse({1: 0.80, 2: 0.79}, {}), {1: 1, 2: 2}, {2: 7.0})
    assert [row for row, _score in ranked] == [2, 1]


def test_nothing_found_is_an_empty_ranking() -> None:
    assert raised(fuse({}, {}), {}, {}) == []


@given(SCORES, SCORES, SCORES)
def test_every_candidate_is_ranked_once_with_falling_scores(
    by_meaning: dict[int, float], by_keyword: dict[int, float], by_document: dict[int, float]
) -> None:
    candidates = by_meaning.keys() | by_keyword.keys()
    ranked = raised(fuse(by_meaning, by_keyword), {row: row % 7 for row in candidates}, by_document)
    assert {row for row, _score in ranked} == candidates
    assert len(ranked) == len(candidates)
    scores = [score for _row, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 2.2 for score in scores)
