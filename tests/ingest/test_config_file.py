"""``footnote.toml``: what is read from it, and the one line that each mistake ends in."""

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.config_file import ConfigFile, read_collections, read_config_file
from ingest.errors import SettingsError
from ingest.settings import IndexSettings

GOOD = """\
# Parts of the docs.
[collections.runbooks]
paths = ["oncall/**", "*-runbook.md"]
description = "What to do under an alert"

[collections.people]
paths = [
    "people/**",
    "!people/old/**",
]
description = "Benefits and onboarding"
"""


OTHERS = ("channels", "owners")


def read(text: str) -> ConfigFile:
    Path("footnote.toml").write_text(text, encoding="utf-8")
    return read_config_file(IndexSettings().config, OTHERS)


def mistake(text: str) -> str:
    with pytest.raises(SettingsError) as caught:
        read_collections(read(text))
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_without_a_file_nothing_is_configured() -> None:
    assert read_collections(read_config_file(IndexSettings().config)) == {}


def test_collections_are_read_in_the_order_of_the_file() -> None:
    collections = read_collections(read(GOOD))
    assert list(collections) == ["runbooks", "people"]
    assert collections["people"].paths == ("people/**", "!people/old/**")
    assert collections["people"].description == "Benefits and onboarding"


def test_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    Path("footnote.toml").write_bytes(b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode())
    assert len(read_collections(read_config_file(IndexSettings().config))) == 2


def test_a_file_that_was_named_has_to_be_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_CONFIG", "elsewhere.toml")
    with pytest.raises(SettingsError, match=r"^FOOTNOTE_CONFIG: there is no file elsewhere\.toml"):
        read_config_file(IndexSettings().config)
    Path("elsewhere.toml").write_text(GOOD)
    assert read_config_file(IndexSettings().config).path == Path("elsewhere.toml")


@pytest.mark.parametrize(
    ("before", "after", "line"),
    [
        (
            'paths = ["oncall',
            'path = ["oncall',
            "footnote.toml, line 3: collections.runbooks.path is not known. Did you mean paths?",
        ),
        (
            'description = "Benefits and onboarding"',
            "descripton = 3",
            "footnote.toml, line 11: collections.people.descripton is not known. "
            "Did you mean description?",
        ),
        (
            'description = "Benefits and onboarding"',
            "description = 3",
            "footnote.toml, line 11: collections.people.description has to be a text in quotes.",
        ),
        (
            '"people/**",',
            "17,",
            "footnote.toml, line 7: collections.people.paths has to be a text in quotes.",
        ),
        (
            '["oncall/**", "*-runbook.md"]',
            '"oncall/**"',
            "footnote.toml, line 3: collections.runbooks.paths has to be a list in brackets, "
            'such as ["runbooks/**"].',
        ),
        (
            '["oncall/**", "*-runbook.md"]',
            "[]",
            "footnote.toml, line 3: collections.runbooks.paths is empty: name at least one.",
        ),
        (
            '"*-runbook.md"',
            r'"[z-a].md"',
            "footnote.toml, line 3: collections.runbooks.paths '[z-a].md' is not a glob: "
            "write it as in .gitignore, such as runbooks/** or *.txt.",
        ),
        (
            '"*-runbook.md"',
            '"../other/**"',
            "footnote.toml, line 3: collections.runbooks.paths '../other/**' is not a glob: "
            "write it as in .gitignore, such as runbooks/** or *.txt.",
        ),
        (
            '"people/**",',
            "",
            "footnote.toml, line 7: collections.people.paths only has globs that "
            "exclude: add one that includes.",
        ),
        (
            'description = "What to do under an alert"',
            "",
            "footnote.toml, line 2: collections.runbooks.description is missing.",
        ),
        (
            '"What to do under an alert"',
            '"""\nTwo\nlines"""',
            "footnote.toml, line 4: collections.runbooks.description has to be one line of at "
            "most 300 characters.",
        ),
        (
            "[collections.runbooks]",
            "[colections.runbooks]",
            "footnote.toml, line 2: colections is not known. Did you mean collections?",
        ),
        (
            "[collections.runbooks]",
            '[collections."run books"]',
            'footnote.toml, line 2: collections."run books" has a name with '
            "characters other than letters, digits, . _ and -.",
        ),
        (
            "# Parts of the docs.",
            "model = 3",
            "footnote.toml, line 1: model is not known. Use one of collections, channels, owners.",
        ),
        (
            'description = "What to do under an alert"',
            "description = What",
            "footnote.toml is not TOML: line 4, column 15: Invalid value.",
        ),
    ],
)
def test_a_mistake_is_one_line_with_its_place_and_its_cure(
    before: str, after: str, line: str
) -> None:
    assert before in GOOD
    assert mistake(GOOD.replace(before, after, 1)) == line


def test_collections_that_are_no_sections_are_refused() -> None:
    assert mistake("collections = 3") == (
        "footnote.toml, line 1: collections has to be sections such as [collections.NAME]."
    )
    assert mistake("[collections]\npaths = ['a']") == (
        "footnote.toml, line 2: collections.paths has to be a section of its own."
    )


@pytest.mark.parametrize(
    "text", ["a = " + "[" * 5_000, "a = " + "{a = " * 3_000, "a = " + "9" * 5_000]
)
def test_what_is_too_deep_or_too_long_to_be_read_is_refused(text: str) -> None:
    assert mistake(text).startswith("footnote.toml is not TOML: ")


def test_a_mistake_in_a_long_file_is_found_by_its_line() -> None:
    section = '[collections.part{n}]\npaths = ["part{n}/**"]\ndescription = "Part"\n'
    text = "".join(section.replace("{n}", str(n)) for n in range(400)) + "wrong = 1\n"
    assert mistake(text).startswith("footnote.toml, line 1201: collections.part399.wrong is not")


@given(st.text(max_size=200) | st.text("[].=\"'#\n abcollectinspth1*!", max_size=120))
def test_any_text_is_read_or_refused(text: str) -> None:
    Path("footnote.toml").write_text(text, encoding="utf-8", errors="surrogatepass")
    with suppress(SettingsError):
        read_collections(read_config_file(IndexSettings().config))


def test_a_section_that_only_others_know_is_left_alone_unless_it_looks_like_our_own() -> None:
    Path("footnote.toml").write_text(GOOD + "[channels.default]\nfollow_ups = false\n")
    assert len(read_collections(read_config_file(IndexSettings().config))) == 2
    Path("footnote.toml").write_text(GOOD.replace("[collections.", "[colections."))
    with pytest.raises(SettingsError, match=r"Did you mean collections\?"):
        read_config_file(IndexSettings().config)
