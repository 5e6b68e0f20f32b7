"""Addresses, owners files and times of any content end in a value or in one of our errors."""

from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st

from ingest.documents import Revision
from ingest.errors import DocsRepoError, SettingsError
from ingest.permalinks import permalink
from ingest.repo.git_address import Remote
from ingest.repo.owners import Owners
from ingest.runs.cron import read_times

SECRET = "s3cr3t-t0ken"
hosts = st.text(st.sampled_from("abc.-[]:@/%\n é"), max_size=12)


@given(st.sampled_from(["https", "ssh", "file", "http", "ext:", ""]), hosts, st.text(max_size=20))
def test_an_address_never_shows_its_password(scheme: str, host: str, path: str) -> None:
    address = f"{scheme}://someone:{SECRET}@{host}/{path}"
    try:
        shown = Remote.parse(address).url
    except DocsRepoError as error:
        shown = str(error)
    link = permalink(Revision("1" * 40, "main", shown), "docs", "a.md", (1, 2), None)
    assert SECRET not in f"{shown} {link}"
    assert "\n" not in shown


@given(st.text(max_size=80), st.text(min_size=1, max_size=20))
def test_any_owners_file_can_be_read(text: str, path: str) -> None:
    owner = Owners.parse(text).of(path)
    assert owner is None or owner


@given(st.text(st.sampled_from("0123456789*/-,:#Lw montue"), max_size=20))
def test_any_time_is_a_trigger_or_a_settings_error(text: str) -> None:
    with suppress(SettingsError):
        read_times(text, "UTC")
