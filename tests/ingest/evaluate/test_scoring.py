"""Passages against gold pages and spans."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Passage
from ingest.evaluate.cases import Case
from ingest.evaluate.scoring import METRICS, averages, compare, mark


def passage(path: str, text: str) -> Passage:
    return Passage(path, path, path, (), (1, 1), text, "")


def question(mode: str = "any", **gold: str) -> Case:
    """Gold pages with a quote each."""
    return Case.model_validate(
        {
            "id": "q",
            "kind": "how-to",
            "question": "how?",
            "gold_mode": mode,
            "gold_files": [f"{name}.md" for name in gold],
            "gold_quotes": [{"file": f"{n}.md", "quote": quote} for n, quote in gold.items()],
        }
    )


def test_a_quote_counts_where_its_last_character_has_been_read() -> None:
    found = [passage("x.md", "x" * 4_790), passage("a.md", "the\n  answer"), passage("b.md", "")]
    got = mark(question(a="the answer"), found, ms=1.0, weak=False)
    assert got.to_json() == {"id": "q", "kind": "how-to", "file_rank": 2, "quote_char": 4_802}
    assert got.scores["quote@4.8k"] == 0.0
    assert got.scores["quote@9.6k"] == 1.0
    assert got.scores["quote@4"] == 1.0
    assert got.scores["mrr"] == 0.5
    assert got.scores["file@1"] == 0.0


def test_where_all_pages_are_needed_each_counts_its_share() -> None:
    found = [passage("a.md", "one"), passage("a.md", "one again")]
    got = mark(question("all", a="one", b="two"), found, ms=1.0, weak=False)
    assert got.scores["file@8"] == 0.5
    assert got.scores["quote@8"] == 0.5
    assert got.scores["mrr"] == 1.0
    assert got.quote_char is None
    both = [*found, passage("b.md", "one two")]
    assert mark(question("all", a="one", b="two"), both, ms=1.0, weak=False).quote_char == 19


def test_the_words_of_a_quote_on_another_page_do_not_count() -> None:
    got = mark(question(a="the answer"), [passage("b.md", "the answer")], ms=1.0, weak=False)
    assert set(got.scores.values()) == {0.0}
    assert got.file_rank is None


def test_a_first_page_beyond_the_twentieth_passage_has_no_reciprocal_rank() -> None:
    found = [*[passage("b.md", "")] * 20, passage("a.md", "")]
    got = mark(question(a="x"), found, ms=1.0, weak=False)
    assert (got.file_rank, got.scores["mrr"]) == (21, 0.0)


def test_a_change_that_every_question_shows_holds_and_one_that_none_shows_does_not() -> None:
    bad = [mark(question(a="x"), [passage("b.md", "")], ms=1.0, weak=False)] * 12
    good = [mark(question(a="x"), [passage("a.md", "x")], ms=3.0, weak=False)] * 12
    assert all(change.holds and change.mean == 1.0 for change in compare(bad, good))
    assert not any(change.holds for change in compare(good, good))
    assert averages(good)["p50_ms"] == pytest.approx(3.0)


@given(st.lists(st.tuples(st.sampled_from(["a.md", "b.md", "c.md"]), st.text(max_size=9))))
def test_scores_lie_between_nothing_and_all(found: list[tuple[str, str]]) -> None:
    got = mark(question("all", a="x", b="y"), [passage(*p) for p in found], ms=1.0, weak=False)
    assert got.scores.keys() == set(METRICS)
    assert all(0.0 <= score <= 1.0 for score in got.scores.values())
    assert got.scores["quote@4.8k"] <= got.scores["quote@9.6k"]
