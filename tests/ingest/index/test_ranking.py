"""Fusing two ranked lists."""

from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Kind
from ingest.index.ranking import Scores, by_kind, fuse, raised

SCORES = st.dictionaries(st.integers(0, 200), st.floats(-1, 50, allow_nan=False), max_size=80)
NONE = Scores({})


def test_what_both_lists_found_comes_before_what_one_of_them_found() -> None:
    document_of = {1: 1, 2: 2, 3: 3}
    ranked = raised(fuse(Scores({1: 0.9, 2: 0.8}), Scores({3: 9.0, 2: 8.0})), document_of, NONE)
    assert [row for row, _score in ranked] == [2, 1, 3]


def test_a_page_with_several_good_passages_comes_before_a_lucky_one() -> None:
    document_of = {1: 1, 2: 2, 3: 2, 4: 2}
    ranked = raised(fuse(Scores({1: 0.80, 2: 0.79, 3: 0.78, 4: 0.77}), NONE), document_of, NONE)
    assert [row for row, _score in ranked] == [2, 3, 4, 1]


def test_a_page_that_matches_as_a_whole_comes_before_one_that_does_not() -> None:
    ranked = raised(fuse(Scores({1: 0.80, 2: 0.79}), NONE), {1: 1, 2: 2}, Scores({2: 7.0}))
    assert [row for row, _score in ranked] == [2, 1]


def test_nothing_found_is_an_empty_ranking() -> None:
    assert raised(fuse(NONE, NONE), {}, NONE) == []


@given(SCORES, SCORES, SCORES, st.booleans())
def test_every_candidate_is_ranked_once_with_falling_scores(
    by_meaning: dict[int, float],
    by_keyword: dict[int, float],
    by_document: dict[int, float],
    cut: bool,
) -> None:
    candidates = by_meaning.keys() | by_keyword.keys()
    lists = [Scores.of(scores, is_cut=cut) for scores in (by_meaning, by_keyword, by_document)]
    ranked = raised(fuse(*lists[:2]), {row: row % 7 for row in candidates}, lists[2])
    assert {row for row, _score in ranked} == candidates
    assert len(ranked) == len(candidates)
    scores = [score for _row, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert all(0 <= score <= 2.2 for score in scores)


def test_links_are_results_only_where_nothing_else_is() -> None:
    ranked = [(1, 2.0), (2, 1.0)]
    assert by_kind(ranked, {1: "navigation", 2: "page"}, asks_for_changes=False) == [(2, 1.0)]
    assert by_kind(ranked[:1], {1: "navigation"}, asks_for_changes=False) == [(1, 2.0)]


def test_orders_to_other_programs_come_behind_all_text_for_people() -> None:
    kinds: dict[int, Kind] = {1: "orders", 2: "page", 3: "change log"}
    ranked = by_kind([(1, 9.0), (2, 1.0), (3, 0.5)], kinds, asks_for_changes=False)
    assert [row for row, _score in ranked] == [2, 3, 1]


def test_a_change_log_counts_in_full_when_the_query_asks_for_changes() -> None:
    ranked = [(1, 1.5), (2, 1.0)]
    kinds: dict[int, Kind] = {1: "change log", 2: "page"}
    asked = by_kind(ranked, kinds, asks_for_changes=True)
    plain = by_kind(ranked, kinds, asks_for_changes=False)
    assert [row for row, _score in asked] == [1, 2]
    assert [row for row, _score in plain] == [2, 1]
