"""Tables of an answer whose rows hold commands, and rows that are too long."""

import pytest

from bot.blocks import render_answer
from tests.bot.blocks.answers import answer
from tests.bot.blocks.shown import Shown, shown

HEAD = "| Command | Does |\n|---|---|\n"


def shows(text: str) -> Shown:
    return shown(render_answer(answer(text)))


@pytest.mark.parametrize("written", ["`qctl ls | grep red`", r"`qctl ls \| grep red`"])
def test_a_command_with_a_bar_stays_one_command_in_its_cell(written: str) -> None:
    result = shows(f"{HEAD}| {written} | lists [oncall/queues-1] |")
    assert result.spans == ["qctl ls | grep red"]
    assert result.rows[1][1].strip() == "lists [oncall/queues-1]"


def test_a_bar_in_code_goes_where_no_parser_can_take_it_for_a_border() -> None:
    [message] = render_answer(answer(f"{HEAD}| `a | b` | c |"))
    assert message["blocks"][0]["type"] == "table"


def test_cells_beyond_the_last_column_are_kept_in_the_last_cell() -> None:
    assert shows(f"{HEAD}| 1 | 2 | 3 | 4 |\n| 5 |").rows[1:] == [["1", "2 | 3 | 4"], ["5", " "]]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (f"{HEAD}| 1 | 2 |\n```sh\nps | grep a | wc | sort\n```", "ps | grep a | wc | sort"),
        ("| no | `x | y` |\n| table | here |\n|--|", "x | y"),
        (f"> {HEAD}".replace("\n", "\n> ") + "| `x | y` | z | w |", "x | y"),
    ],
)
def test_bars_beside_and_around_a_table_stay_what_they_are(text: str, code: str) -> None:
    assert code in shows(text).codes


def test_plain_cells_of_a_table_block_are_short() -> None:
    rows = "\n".join(f"| a{n} | b{n} |" for n in range(90))
    [message] = render_answer(answer(HEAD + rows))
    assert message["blocks"][0]["rows"][1][0] == {"type": "raw_text", "text": "a0"}
