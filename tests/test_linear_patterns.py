"""The time of every regular expression grows at most linearly with its text.

The tests collect them from the source, so that a new one is tested at once.
"""

import ast
import re
from collections import deque
from collections.abc import Callable
from typing import Any

import pytest

from tests.growth import gently, growth
from tests.hostile import Text, hostile
from tests.patterns import calls, patterns, sources

LONGEST = 3_000
"""Characters of a test text, unless its pieces are long."""
FEWEST = 512


def asked(pattern: re.Pattern[Any], use: str, text: Text) -> Callable[[int], Callable[[], object]]:
    """The work of a pattern's function on a text of a given length."""

    def work(size: int) -> Callable[[], object]:
        written: Any = text.of(size)
        given = written.encode() if isinstance(pattern.pattern, bytes) else written
        if use == "finditer":
            return lambda: deque(pattern.finditer(given), 0)
        return lambda: getattr(pattern, use)(given)

    return work


def grown(pattern: re.Pattern[Any], use: str, texts: list[Text]) -> str:
    """The first text whose cost per character grows with its length, and the growth; else None."""
    for text in texts:
        longest = max(LONGEST // len(text.pump), FEWEST)
        found = growth(asked(pattern, use, text), gently(longest))
        if found:
            return f"{use} of {pattern.pattern!r} on {text}: {found}"
    return ""


@pytest.mark.parametrize("module", [name for name, said in sources().items() if "re." in said])
def test_no_pattern_outgrows_its_text(module: str) -> None:
    for pattern in patterns(module):
        texts = hostile(pattern.made)
        for use in sorted(pattern.uses):
            assert not grown(pattern.made, use, texts), pattern.place


def test_patterns_are_collected_from_wherever_they_are_written() -> None:
    uses = [pattern.uses for pattern in patterns("bot.question.intent")]
    assert {"match"} in uses
    assert {"search"} in uses
    written = [pattern.made.pattern for pattern in patterns("bot.reading.mentions")]
    assert written[-1].startswith("<@ab7c")


@pytest.mark.parametrize(
    "hidden", ["from re import sub", "import re as expressions", "import re\nfind = re.search"]
)
def test_a_pattern_that_would_not_be_collected_is_told(hidden: str) -> None:
    with pytest.raises(AssertionError, match="line"):
        list(calls(ast.parse(hidden)))


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\s+$", "finditer"),
        (r"<!--.*?-->", "finditer"),
        (r"[ \t]*<@U1>", "finditer"),
        (r"[.!;,:]+(?=\s|$)", "finditer"),
        (r"(?:\s*)+,", "match"),
        (r"[\s,]*(?:\"[^\"]*\"\s*:?|[\d\s:]|true)+", "fullmatch"),
        (r"(?:please )*stop(?: in here| here| in)*(?: here| in here)*", "fullmatch"),
        (r"\w+(?:\.\w+)*(?=:)", "finditer"),
    ],
)
def test_a_pattern_that_outgrows_its_text_is_found_by_a_text_of_its_own(
    pattern: str, use: str
) -> None:
    made = re.compile(pattern)
    assert grown(made, use, hostile(made))


@pytest.mark.parametrize(
    ("pattern", "use"),
    [
        (r"\w+", "finditer"),
        (r"(?<!\s)\s++$", "finditer"),
        (r"a{1,200}b", "finditer"),
        (r"(?>.*?=).*", "fullmatch"),
    ],
)
def test_a_pattern_that_is_linear_is_not(pattern: str, use: str) -> None:
    made = re.compile(pattern)
    assert not grown(made, use, hostile(made))


@pytest.mark.parametrize(
    ("steps", "grows"),
    [
        (lambda size: 1_000 * size, False),
        (lambda size: 100 * size * size.bit_length(), False),
        (lambda size: 20 * min(size, 150) * size, False),
        (lambda size: 10_000 + size**2, True),
        (lambda size: 1 << min(size, 24), True),
    ],
    ids=["linear", "as a sort", "bounded", "a square", "exponential"],
)
def test_growth_is_told_from_a_sort_and_from_a_bound(
    steps: Callable[[int], int], grows: bool
) -> None:
    found = growth(lambda size: lambda: sum(range(steps(size))), gently(2_000))
    assert (found is not None) == grows
