"""When a result is called weak."""

from ingest.index.calibration import DEFAULT_THRESHOLD
from ingest.index.confidence import Signals, confidence


def test_a_near_passage_that_holds_what_the_query_names_is_trusted() -> None:
    assert confidence(Signals(similarity=0.65, in_docs=1.0, named=1.0)) > DEFAULT_THRESHOLD


def test_a_near_passage_is_not_enough_when_the_docs_never_name_what_is_asked_for() -> None:
    assert confidence(Signals(similarity=0.55, in_docs=0.6, named=0.0)) < DEFAULT_THRESHOLD


def test_known_words_are_not_enough_when_nothing_is_near() -> None:
    assert confidence(Signals(similarity=0.2, in_docs=1.0, named=1.0)) < DEFAULT_THRESHOLD
