"""Words for the keyword index."""

import sqlite3

from hypothesis import given
from hypothesis import strategies as st
from inline_snapshot import snapshot

from ingest.store.terms import MAX_QUERY_TERMS, identifier_parts, identifiers, query_terms, row_text


def test_an_identifier_is_found_whole_and_in_parts() -> None:
    assert identifiers("PAY-4031 in max_retries of KubePodCrashLooping, see a/b.md") == snapshot(
        ["PAY-4031", "max_retries", "KubePodCrashLooping", "a/b.md"]
    )
    assert identifier_parts("PAY-4031 KubePodCrashLooping") == snapshot(
        "pay 4031 pay4031 kube pod crash looping kubepodcrashlooping"
    )


def test_a_query_asks_for_its_words_without_stop_words_and_for_the_parts_of_identifiers() -> None:
    assert query_terms("What does error PAY-4031 mean?").phrases == snapshot(
        ('"error"', '"pay"', '"4031"', '"mean"', '"pay4031"')
    )


def test_scripts_without_blanks_are_cut_into_pairs() -> None:
    assert row_text("再起動の手順 now").split() == ["再起", "起動", "動の", "の手", "手順", "now"]
    assert query_terms("再起動").phrases == ('"再起"', '"起動"')


def test_a_single_sign_finds_the_pairs_that_begin_with_it() -> None:
    assert query_terms("鍵").phrases == ('"鍵"*',)


def test_a_query_of_stop_words_asks_for_nothing() -> None:
    assert query_terms("what is it?").phrases == ()


def test_a_pasted_log_does_not_grow_the_expression_without_bound() -> None:
    log = " ".join(f"word{number}" for number in range(5_000))
    assert len(query_terms(log).phrases) == MAX_QUERY_TERMS


@given(st.text())
def test_any_query_is_a_valid_expression(query: str) -> None:
    db = sqlite3.connect(":memory:")
    db.execute("CREATE VIRTUAL TABLE t USING fts5 (body, tokenize = 'porter unicode61')")
    expression = " OR ".join(query_terms(query.encode("utf-8", "replace").decode()).phrases)
    if expression:
        db.execute("SELECT * FROM t WHERE t MATCH ?", (expression,)).fetchall()
    db.close()
