"""Patterns of CODEOWNERS mean what they mean in .gitignore, in time that no pattern explodes."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from pathspec import GitIgnoreSpec

from ingest.repo.owner_globs import owner_glob
from ingest.repo.owners import MOST_RULES, Owners
from tests.waiting import cpu_seconds

PARTS = st.lists(
    st.lists(st.sampled_from(["a", "b", "*", "?", "[ab]", ".", "\\ "]), min_size=1, max_size=4).map(
        "".join
    )
    | st.just("**"),
    min_size=1,
    max_size=4,
)
PATHS = st.lists(st.text("ab. ", min_size=1, max_size=4), min_size=1, max_size=5)


@given(PARTS, st.booleans(), st.booleans(), PATHS)
def test_a_pattern_matches_what_git_would_ignore(
    parts: list[str], from_top: bool, folder: bool, path: list[str]
) -> None:
    pattern = "/" * from_top + "/".join(parts) + "/" * folder
    assume(all(part.strip(".") for part in path))
    # `docs/*` names the files in a folder only, and git's own meaning includes those below.
    assume(not pattern.endswith("/*"))
    glob = owner_glob(pattern)
    name = "/".join(path)
    expected = GitIgnoreSpec.from_lines([pattern]).match_file(name)
    assert bool(glob and glob.match(name)) == expected, (pattern, name)


@pytest.mark.parametrize(
    ("pattern", "path", "matches"),
    [
        ("docs/*", "docs/a.md", True),
        ("docs/*", "docs/deep/a.md", False),
        ("**/*", "docs/deep/a.md", True),
        ("*", "docs/deep/a.md", True),
        ("a[!b]c", "a/c", False),
        ("a[!b]c", "adc", True),
        ("[", "a", False),
        ("[z-a]", "b", False),
    ],
)
def test_stars_and_sets_stay_within_a_folder(pattern: str, path: str, matches: bool) -> None:
    assert (Owners.parse(f"{pattern} @team").of(path) == "@team") == matches


@given(st.text("[]!^a-b&~|*?/\\\\.# ", max_size=12), st.text("ab/-&[", min_size=1, max_size=8))
def test_whatever_a_pattern_holds_it_matches_or_not(pattern: str, path: str) -> None:
    Owners.parse(f"{pattern} @team").of(path)


@pytest.mark.parametrize("piece", ["*a", "*?a", "**/a", "a*", "*[ab]"])
def test_the_time_for_a_path_does_not_explode_with_the_stars(piece: str) -> None:
    path = "/".join(["a" * 60] * 4) + "b.md"

    def match(stars: int) -> float:
        owners = Owners.parse(f"{piece * stars}z @team")
        return cpu_seconds(lambda: [owners.of(path) for _ in range(200)], runs=3)

    assert match(24) < 20 * match(6) + 0.01


def test_of_too_many_rules_the_last_ones_count() -> None:
    lines = [f"/{number}.md @team{number}" for number in range(MOST_RULES + 10)]
    owners = Owners.parse("\n".join([*lines, f"{'x' * 100_000} @long"]))
    assert owners.of(f"{MOST_RULES + 9}.md") == f"@team{MOST_RULES + 9}"
    assert owners.of("5.md") is None
