"""Settings for a time come at the moments that cron gives them."""

from datetime import UTC, datetime, timedelta
from itertools import pairwise
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ingest.errors import SettingsError
from ingest.runs.cron import read_times

BERLIN = ZoneInfo("Europe/Berlin")
BASE = datetime(2020, 1, 1, tzinfo=UTC)


def days_of(weekday: str) -> list[str]:
    """Weekdays of a week that begins on a Sunday, at which a time with this field comes."""
    times, time = read_times(f"0 3 * * {weekday}", "UTC"), datetime(2026, 11, 28, 12, tzinfo=UTC)
    days = []
    while (later := times.after(time)) and later < datetime(2026, 12, 6, tzinfo=UTC):
        days.append(f"{later:%a}")
        time = later
    return days


@pytest.mark.parametrize(
    ("field", "days"),
    [
        ("*/2", "Sun Tue Thu Sat"),
        ("*/3", "Sun Wed Sat"),
        ("1-5/2", "Mon Wed Fri"),
        ("sun-tue", "Sun Mon Tue"),
        ("fri-sun", "Sun Fri Sat"),
        ("FRI-SUN", "Sun Fri Sat"),
        ("sat-mon", "Sun Mon Sat"),
        ("6-1", "Sun Mon Sat"),
        ("7", "Sun"),
        ("0-7", "Sun Mon Tue Wed Thu Fri Sat"),
        ("mon,thu-sun/2", "Mon Thu Sat"),
    ],
)
def test_weekdays_count_from_sunday_and_go_over_it(field: str, days: str) -> None:
    assert days_of(field) == days.split()


@pytest.mark.parametrize(
    ("at", "dates"),
    [
        ("0 9 1 * 1", ["2026-12-01", "2026-12-07", "2026-12-14"]),
        ("0 9 15 * fri", ["2026-12-04", "2026-12-11", "2026-12-15"]),
        ("0 9 */2 * 1", ["2026-12-07", "2026-12-21", "2027-01-11"]),
        ("0 9 1 12 *", ["2026-12-01", "2027-12-01", "2028-12-01"]),
    ],
)
def test_of_a_day_and_a_weekday_one_is_enough_unless_one_has_a_star(
    at: str, dates: list[str]
) -> None:
    times, time = read_times(at, "UTC"), datetime(2026, 11, 30, 12, tzinfo=UTC)
    came: list[str] = []
    while len(came) < len(dates):
        time = times.after(time) or time
        came.append(f"{time:%Y-%m-%d}")
    assert came == dates


@pytest.mark.parametrize("at", ["02:30", "15,45 2 * * *", "30 2 * * sun"])
def test_the_night_without_that_hour_has_its_run(at: str) -> None:
    evening = datetime(2026, 3, 28, 20, tzinfo=BERLIN)
    times = read_times(at, "Europe/Berlin")
    first = times.after(evening)
    assert first == datetime(2026, 3, 29, 3, tzinfo=BERLIN)
    second = times.after(first)
    assert second is not None
    assert second.date() > first.date()


def test_the_night_with_that_hour_twice_has_one_run() -> None:
    times = read_times("02:30", "Europe/Berlin")
    first = times.after(datetime(2026, 10, 24, 20, tzinfo=BERLIN))
    assert first == datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)
    for minute in (10, 40):  # a start within the second of the two hours
        later = times.after(datetime(2026, 10, 25, 2, minute, tzinfo=BERLIN, fold=1))
        assert later == datetime(2026, 10, 26, 2, 30, tzinfo=BERLIN)


def test_every_hour_means_both_of_them() -> None:
    times, time = read_times("30 * * * *", "Europe/Berlin"), datetime(2026, 10, 24, 23, tzinfo=UTC)
    hours = []
    for _ in range(4):
        time = times.after(time) or time
        hours.append(f"{time:%H:%M%z}")
    assert hours == ["01:30+0200", "02:30+0200", "02:30+0100", "03:30+0100"]


@given(
    st.sampled_from(["Europe/Berlin", "America/New_York", "Asia/Beirut", "Australia/Lord_Howe"]),
    st.integers(0, 23),
    st.integers(0, 59),
    st.integers(0, 10 * 365 * 24 * 60).map(lambda minutes: BASE + timedelta(minutes=minutes)),
)
def test_a_daily_time_comes_once_a_day_in_any_zone(
    zone: str, hour: int, minute: int, start: datetime
) -> None:
    times = read_times(f"{hour}:{minute:02}", zone)
    came = [start]
    for _ in range(4):
        time = times.after(came[-1])
        assert time is not None
        came.append(time)
    assert all(one < other for one, other in pairwise(came))
    days = [time.date() for time in came[1:]]
    assert [other - one for one, other in pairwise(days)] == [timedelta(days=1)] * 3


@pytest.mark.parametrize(
    ("at", "zone", "expected"),
    [
        ("03:00", "UTC", "2026-03-02T03:00:00+00:00"),
        ("3:15", "Europe/Berlin", "2026-03-02T03:15:00+01:00"),
        ("30 2 * * *", "America/New_York", "2026-03-02T02:30:00-05:00"),
        ("0 */6 * * *", "UTC", "2026-03-01T18:00:00+00:00"),
        ("0 4 * * 1-5", "UTC", "2026-03-02T04:00:00+00:00"),
        ("0 4 * * 0", "UTC", "2026-03-08T04:00:00+00:00"),
        ("0 4 * * 7", "UTC", "2026-03-08T04:00:00+00:00"),
        ("0 4 * * 5-7", "UTC", "2026-03-06T04:00:00+00:00"),
        ("0 4 * * tue,4", "UTC", "2026-03-03T04:00:00+00:00"),
        ("0 4 1 * *", "UTC", "2026-04-01T04:00:00+00:00"),
    ],
)
def test_times_are_read_as_cron_means_them(at: str, zone: str, expected: str) -> None:
    sunday_noon = datetime(2026, 3, 1, 12, 30, tzinfo=UTC if zone == "UTC" else ZoneInfo(zone))
    fire = read_times(at, zone).after(sunday_noon)
    assert fire is not None
    assert fire.isoformat() == expected


@pytest.mark.parametrize(
    "at",
    [
        "25:00",
        "3am",
        "0 4 * *",
        "0 4 * * 9",
        "0 4 31 2 *",
        "0 4 31 6,9,11 *",
        "",
        "* * * * * *",
        "0 4 30 2 1#6",
        "0 4 * * 1-5/0",
    ],
)
def test_a_time_that_is_none_is_named(at: str) -> None:
    with pytest.raises(SettingsError, match="FOOTNOTE_INGEST_AT"):
        read_times(at, "UTC")


def test_a_time_of_another_setting_is_named_by_that_setting() -> None:
    with pytest.raises(SettingsError, match="FOOTNOTE_DIGEST_AT: 'soon' is not a time"):
        read_times("soon", "UTC", "FOOTNOTE_DIGEST_AT")


@pytest.mark.parametrize(
    ("now", "due"),
    [
        ("2026-03-02T08:59:59", None),
        ("2026-03-02T09:00:00", "2026-03-02T09:00:00"),
        ("2026-03-03T08:00:00", "2026-03-02T09:00:00"),
        ("2026-03-03T09:00:01", None),
    ],
)
def test_what_was_due_last_is_found_again_for_a_while(now: str, due: str | None) -> None:
    mondays = read_times("0 9 * * 1", "UTC")
    found = mondays.last_due(datetime.fromisoformat(f"{now}+00:00"), timedelta(hours=24))
    assert (found and found.isoformat()) == (due and f"{due}+00:00")


def test_of_several_times_the_newest_is_the_last() -> None:
    now = datetime(2026, 3, 2, 9, 31, tzinfo=UTC)
    found = read_times("*/10 * * * *", "UTC").last_due(now, timedelta(hours=24))
    assert found == now.replace(minute=30)


@pytest.mark.parametrize("zone", ["Mars/Base", "", "../etc/passwd"])
def test_a_time_zone_that_is_none_is_named(zone: str) -> None:
    with pytest.raises(SettingsError, match="FOOTNOTE_TIMEZONE"):
        read_times("03:00", zone)
