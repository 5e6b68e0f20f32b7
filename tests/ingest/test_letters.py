"""Text is compared in one form, whatever way its letters are written in."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.letters import composed, folded, plain


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("ＰＡＹ－４０３１", "pay-4031"),
        ("ﬁle ofﬁce", "file office"),
        ("ﾊﾞｯｸｱｯﾌﾟ", "バックアップ"),
        ("Ⅳ", "IV"),
        ("mm²", "mm2"),
        (unicodedata.normalize("NFD", "백업 Größe"), "백업 größe"),
        ("STRASSE", "straße"),
        ("KIRMIZI", "kırmızı"),
        ("ΟΔΟΣ", "οδος"),
        ("ꮳꮃꭹ", "ᏣᎳᎩ"),
        ("ſtop", "STOP"),
        ("Å", "Å"),
    ],
)
def test_letters_that_mean_the_same_are_one(one: str, other: str) -> None:
    assert folded(one) == folded(other)


@pytest.mark.parametrize("text", ["Footnote™ runs", "①Footnote runs", "℡Footnote runs"])
def test_a_sign_does_not_become_part_of_a_word(text: str) -> None:
    assert "Footnote" in plain(text).split()


@given(st.text(max_size=400))
def test_composed_and_decomposed_text_are_one(text: str) -> None:
    apart = unicodedata.normalize("NFD", text)
    assert composed(apart) == composed(text)
    assert folded(apart) == folded(text)


def test_a_long_run_of_accents_is_read_in_linear_time() -> None:
    assert len(plain("\u0315\u0300" * 200_000)) == 400_000  # at once it would take minutes


@pytest.mark.parametrize("blanks", ["", " "])
def test_a_long_line_is_brought_into_one_form_throughout(blanks: str) -> None:
    line = blanks.join(["한글", "ｶﾅ", "，"] * 700)
    assert set(plain(line)) - {" "} == set("한글カナ,")
