"""Settings of ingest: what cannot be right is told by name, before anything starts."""

from pathlib import Path

import pytest

from ingest.errors import FootnoteError, SettingsError
from ingest.globs import spec
from ingest.settings import IndexSettings, read_settings


@pytest.mark.parametrize("variable", ["FOOTNOTE_DOCS_INCLUDE", "FOOTNOTE_DOCS_EXCLUDE"])
@pytest.mark.parametrize("glob", ["[", "docs/[a-", "[z-a]", "!", "a\\", "*.md, ["])
def test_a_glob_that_matches_nothing_is_told(
    variable: str, glob: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, glob)
    with pytest.raises(SettingsError, match=rf"^{variable}: .*is not a glob") as refused:
        read_settings(IndexSettings)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("glob", ["*.md", "guides/**", "!draft*.md", "[a-z]*.md", "運用/*.md"])
def test_a_glob_of_gitignore_is_taken(glob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FOOTNOTE_DOCS_INCLUDE", glob)
    assert read_settings(IndexSettings).docs_include == (glob,)


@pytest.mark.parametrize(
    "template",
    [
        *("{nope}", "https://x.example/{nope}", "https://x.example/{}", "https://x.example/{path"),
        *("https://x.example/{first:03}", "garbage", "javascript:{path}"),
    ],
)
def test_a_template_that_makes_no_link_is_told(
    template: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOOTNOTE_LINK_TEMPLATE", template)
    with pytest.raises(SettingsError, match=r"^FOOTNOTE_LINK_TEMPLATE: "):
        read_settings(IndexSettings)


def test_a_template_may_hold_every_placeholder(monkeypatch: pytest.MonkeyPatch) -> None:
    template = "https://x.example/{commit}/{path}?page={page}#L{first}-L{last}"
    monkeypatch.setenv("FOOTNOTE_LINK_TEMPLATE", template)
    assert read_settings(IndexSettings).link_template == template


def test_a_dotenv_that_is_no_text_is_told() -> None:
    Path(".env").write_bytes(b"\xff\xfeF\x00")
    with pytest.raises(SettingsError, match=r"\.env is not UTF-8"):
        read_settings(IndexSettings)


def test_an_error_for_people_is_one_line_whatever_it_quotes() -> None:
    assert str(FootnoteError("*** in database main ***\nTree 5 page 7\r\n\tis bad")) == (
        "*** in database main *** Tree 5 page 7 is bad"
    )


def test_a_folder_is_taken_out_of_what_other_globs_match() -> None:
    pages = spec(["*.md", "!draft/", "oncall/", "!oncall/old.md"])
    paths = ["a.md", "draft/b.md", "oncall/limits.txt", "oncall/old.md", "c.txt"]
    assert list(filter(pages.match_file, paths)) == ["a.md", "oncall/limits.txt"]
