"""The shared reports of cron times that come on other days than cron's rules say."""

from collections.abc import Iterator
from datetime import datetime

import pytest

from ingest.errors import SettingsError
from ingest.runs.cron import CronTimes, read_times
from tests.cases import Json, Unknown, call, faults, remark, require, table
from tests.reports import reports

_TIMES = ("FOOTNOTE_INGEST_AT", "FOOTNOTE_DIGEST_AT")


class Seen:
    """A time as it is set, and what may take its place."""

    def __init__(self, setting: str, at: str, zone: str, start: str, expect: Json) -> None:
        self.setting, self.zone, self.expect = setting, zone, expect
        self.start = datetime.fromisoformat(start)
        self.refusal = ""
        self.times: CronTimes | None = None
        try:
            self.times = self.read(at)
        except SettingsError as error:
            self.refusal = str(error)

    def read(self, at: str) -> CronTimes:
        return read_times(at, self.zone, self.setting)


@pytest.mark.parametrize("case", reports("cron"))
def test_a_time_comes_when_its_report_says(case: Json) -> None:
    require(call(unmet, {k: v for k, v in case.items() if k != "folder"}))


def unmet(env: dict[str, str], expect: Json, from_: str = "2026-01-01T00:00:00+00:00") -> list[str]:
    env = dict(env)
    zone = env.pop("FOOTNOTE_TIMEZONE", "UTC")
    [(setting, at)] = env.items()
    if setting not in _TIMES:
        raise Unknown(f"setting {setting!r} is not known to the tests")
    return faults(expect, CHECKS, Seen(setting, at, zone, from_, expect))


def next_(seen: Seen, days: list[str]) -> Iterator[str]:
    """Days begin with their date; a refusal may do."""
    if seen.times is None:
        if "or" not in seen.expect:
            yield seen.refusal
        return
    times = list(_times(seen.times, seen.start, len(days)))
    if [f"{time:%Y-%m-%d %a}" for time in times] != [" ".join(day.split()[:2]) for day in days]:
        yield f"it comes {times}"


def same_as(seen: Seen, words: str) -> Iterator[str]:
    """As the cron fields that come before the comma of the words."""
    other = seen.read(words.split(", ")[0])
    if seen.times is None:
        yield seen.refusal
    elif list(_times(seen.times, seen.start, 8)) != list(_times(other, seen.start, 8)):
        yield "it comes at other times"


def _times(times: CronTimes, start: datetime, count: int) -> Iterator[datetime]:
    for _ in range(count):
        start = times.after(start) or start
        yield start


CHECKS = table(next_, same_as) | {"or": remark, "why": remark}
