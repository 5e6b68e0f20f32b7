"""Versions in names of folders and in questions."""

import pytest

from ingest.editions.version_numbers import asked_version, order_of, version_of

VERSIONS = {"1.14", "2.3", "2.x", "3", "latest"}


@pytest.mark.parametrize(
    ("part", "version"),
    [
        ("v1.14", "1.14"),
        ("version-2.3", "2.3"),
        ("release-2.8", "2.8"),
        ("2.x", "2.x"),
        ("v3", "3"),
        ("1_2", "1.2"),
        ("2.0-rc1", "2.0-rc1"),
    ],
)
def test_the_form_of_a_name_shows_a_version(part: str, version: str) -> None:
    assert version_of(part) == (version, True)


@pytest.mark.parametrize("part", ["docs", "2024", "2024.05.01", "version", "vault", "v", "1.2.md"])
def test_other_names_are_no_versions(part: str) -> None:
    assert version_of(part) is None


def test_versions_are_ordered_by_their_numbers() -> None:
    newest_first = ["10.0", "2.x", "2.3", "2.0", "2.0-rc1", "2.0-alpha1", "1.10", "1.2.1", "1.2"]
    assert sorted(newest_first, key=order_of) == newest_first[::-1]


@pytest.mark.parametrize(
    ("question", "version"),
    [
        ("what is the limit in v1.14?", "1.14"),
        ("What is the limit in version 1.14.3?", "1.14"),
        ("limit on 2.3", "2.3"),
        ("limit on 2.7?", "2.x"),
        ("limit in version 3", "3"),
        ("limit of 3 sockets", None),
        ("limit at 10.1.14.2", None),
        ("limit in 9.9", None),
        ("the latest limit", None),
    ],
)
def test_a_question_names_a_version_that_there_is(question: str, version: str | None) -> None:
    assert asked_version(question, VERSIONS) == version
