"""Bracketed ids: known ones become citations, forged ones and links around them are removed."""

import pytest

from agent.answer import written
from agent.grounding.ids import named_ids, read_segments

IDS = ("oncall/queues-1", "limits-0")


def read(answer: str) -> str:
    return written(read_segments(answer, IDS, "https://docs.test/x"))


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("See [[limits-0]](https://evil.test/x) first.", "See [limits-0] first."),
        ("See [\\[limits-0\\]](https://evil.test).", "See [limits-0]."),
        ("See [[limits-0]].", "See [limits-0]."),
        ("[see [limits-0] here](https://evil.test/) now", "see [limits-0] here now"),
        ("[**[limits-0]**](https://evil.test)", "**[limits-0]**"),
        ("![[limits-0]](https://evil.test/a.png)", "[limits-0]"),
        ("[[limits-0], [oncall/queues-1]]", "[limits-0], [oncall/queues-1]"),
        ("Never [[other-3]](https://evil.test) this.", "Never this."),
        ("[[limits-0](https://evil.test)](https://evil.test)", "[limits-0]"),
    ],
)
def test_a_link_around_a_citation_goes_and_the_citation_stays(answer: str, text: str) -> None:
    assert read(answer) == text


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("x [other-3][limits-0].", "x [limits-0]."),
        ("x [limits-0] and [other-3].", "x [limits-0]."),
        ("See [other-3] and [limits-0].", "See [limits-0]."),
        ("([other-3], [limits-0])", "([limits-0])"),
        ("x [limits-0], [other-3], then y", "x [limits-0], then y"),
        ("x, [other-3].", "x."),
        ("**x [other-3]** and _y [other-3]_ z", "**x** and _y_ z"),
        ("x [other-3] **y**", "x **y**"),
        ("x ![other-3](https://evil.test/a.png) y", "x y"),
    ],
)
def test_a_forged_id_takes_along_what_joined_it_to_its_neighbours(answer: str, text: str) -> None:
    assert read(answer) == text


@pytest.mark.parametrize(
    "inside",
    [
        "limits-0 and oncall/queues-1",
        "limits-0 oncall/queues-1",
        "limits-0 / oncall/queues-1",
        "limits-0 … oncall/queues-1",
        "limits\u20110, oncall/queues\u20111",
    ],
)
def test_known_ids_in_one_pair_of_brackets_are_cited_each(inside: str) -> None:
    assert read(f"x [{inside}].") == "x [limits-0] [oncall/queues-1]."


@pytest.mark.parametrize(
    "answer", ["See [limits](https://a.test/x), [queues.md](./queues.md).", "A name is [a-z0-9]."]
)
def test_a_link_named_after_a_page_and_a_range_of_characters_are_no_citations(answer: str) -> None:
    assert read(answer) == answer


@pytest.mark.parametrize(
    "answer",
    [
        "if [[ -f x ]] then [limits-0]",
        "[see the docs](https://docs.test/x) [limits-0]",
        "[ERROR [limits-0] and no end",
        "`[[limits-0]](https://docs.test)`",
        "- [ ] open [limits-0]",
    ],
)
def test_brackets_that_hold_no_citation_alone_stay_as_they_are(answer: str) -> None:
    assert read(answer) == answer


def test_each_citation_of_a_long_list_belongs_to_its_own_item() -> None:
    segments = read_segments("\n".join(["- drain [limits-0]"] * 2_000), IDS)
    assert [len(segment.citations) for segment in segments] == [1] * 2_000


def test_the_ids_of_an_own_message_are_read_with_their_blanks() -> None:
    text = "Open [config (old)/db settings-0] and [limits-12] [limits-12], `[code-0]`, [x], [1]."
    assert named_ids(text) == ("config (old)/db settings-0", "limits-12")


def test_an_id_of_a_file_above_the_docs_root_is_cited() -> None:
    text = "It holds for 41 s [../examples/relay.ini-0], not [../examples/other.ini-0]."
    assert written(read_segments(text, ("../examples/relay.ini-0",))) == (
        "It holds for 41 s [../examples/relay.ini-0], not."
    )
    assert named_ids("See [../examples/relay.ini-0].") == ("../examples/relay.ini-0",)
