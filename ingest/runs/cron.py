"""A setting such as ``03:00`` or ``30 2 * * 1-5`` -> the moments that it stands for in cron.

Weekdays count from Sunday. Of a day and a weekday that are both restricted, one is enough. In the
night that skips an hour, a time within it comes right after the gap; in the night that repeats an
hour, it comes once.
"""

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from cronsim import CronSim, CronSimError

from ingest.errors import SettingsError

_WEEKDAYS = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
_SPAN = re.compile(rf"([0-7]|{'|'.join(_WEEKDAYS)})-([0-7]|{'|'.join(_WEEKDAYS)})(?:/(\d{{1,2}}))?")


@dataclass(frozen=True, slots=True)
class CronTimes:
    """Moments that recur in a time zone."""

    fields: str
    """Minute, hour, day, month and weekday, as ``cronsim`` reads them."""
    zone: tzinfo

    def after(self, moment: datetime) -> datetime | None:
        """Return the first moment later than this one, or None if there is none in 50 years."""
        times = CronSim(self.fields, moment.astimezone(self.zone))
        # In an hour that comes twice, cronsim returns the first one, which may be over.
        later = (time for time in times if time.timestamp() > moment.timestamp())
        time = next(later, None)
        return time and time.astimezone(UTC).astimezone(self.zone)

    def last_due(self, now: datetime, within: timedelta) -> datetime | None:
        """Return the last moment up to ``now``, at most ``within`` ago, or None."""
        due, time = None, self.after(now - within)
        while time is not None and time <= now:
            due, time = time, self.after(time)
        return due


def read_times(at: str, timezone: str, setting: str = "FOOTNOTE_INGEST_AT") -> CronTimes:
    """Read ``HH:MM`` or five cron fields, in a time zone. Raises SettingsError."""
    zone = _zone(timezone)
    if clock := re.fullmatch(r"(\d{1,2}):(\d{2})", at.strip()):
        fields = [clock[2], clock[1], "*", "*", "*"]
    else:
        fields = at.lower().split()
    if len(fields) != 5:  # cronsim would read a sixth one as seconds
        raise _bad_time(at, setting, "it has not five fields")
    times = CronTimes(" ".join((*fields[:4], _weekdays(fields[4]))), zone)
    try:
        first = times.after(datetime.now(zone))
    except (CronSimError, ValueError) as error:
        raise _bad_time(at, setting, str(error).lower()) from error
    if first is None:
        raise _bad_time(at, setting, "no such day comes")
    return times


def _bad_time(at: str, setting: str, reason: str) -> SettingsError:
    return SettingsError(
        f"{setting}: {at!r} is not a time of day ({reason}). "
        "Use a time such as 03:00, or five cron fields such as '30 2 * * 1-5'."
    )


def _zone(name: str) -> tzinfo:
    if name.upper() == "UTC":
        return UTC  # also where the system has no time zone data
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(
            f"FOOTNOTE_TIMEZONE: {name!r} is not a time zone. Use a name such as Europe/Berlin."
        ) from error


def _weekdays(field: str) -> str:
    """Write spans as single days: cronsim refuses those that go over the end of the week."""
    days: list[str] = []
    for part in field.split(","):
        if not (span := _SPAN.fullmatch(part)) or span[3] in ("0", "00"):
            days.append(part)
            continue
        first, last = _weekday(span[1]), _weekday(span[2])
        if last < first:
            last += 7
        days += [str(day % 7) for day in range(first, last + 1, int(span[3] or 1))]
    return ",".join(days)


def _weekday(name: str) -> int:
    return int(name) if name.isdigit() else _WEEKDAYS.index(name)
