"""Progress of a run in words: with the time to go once it is known, and now and then in a log."""

import io

from ingest.terminal import VisibleConsole, progress_bar
from ingest.time_to_go import Pace, described


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_no_time_is_told_before_it_is_known() -> None:
    clock = Clock()
    pace = Pace(clock)
    pace.hear("read", 40, 100)
    assert pace.words == "reading 40 of 100"
    pace.hear("embed", 0, 140_000)
    clock.now = 4
    pace.hear("embed", 400, 140_000)
    assert pace.words == "embedding 400 of 140,000"
    clock.now = 200
    pace.hear("embed", 20_000, 140_000)
    assert pace.seconds_left is None  # nothing is known of the last minute
    clock.now = 210
    pace.hear("embed", 21_000, 140_000)
    assert pace.words == "embedding 21,000 of 140,000, about 20 minutes to go"


def test_documents_that_are_written_meanwhile_do_not_hide_what_takes_the_time() -> None:
    pace = Pace(Clock())
    pace.hear("embed", 256, 1_000)
    pace.hear("write", 20, 90)
    assert (pace.stage, pace.done, pace.total) == ("embed", 256, 1_000)
    pace.hear("embed", 1_000, 1_000)
    pace.hear("write", 90, 90)
    assert (pace.stage, pace.done) == ("write", 90)


def test_the_time_to_go_is_a_rough_one() -> None:
    assert described("embed", 1, 2, 20).endswith(", less than a minute to go")
    assert described("embed", 1, 2, 62).endswith(", about 1 minute to go")
    assert described("embed", 1, 2, 9_000).endswith(", about 2 hours to go")
    assert described("fetch", 0, None, None) == "fetching"


def lines(seconds: int, rate: int, total: int) -> list[str]:
    """What a pipe receives of a run that embeds at this rate."""
    clock, out = Clock(), io.StringIO()
    with progress_bar(VisibleConsole(file=out, width=200), clock) as show:
        for second in range(seconds):
            clock.now = float(second)
            show("embed", second * rate, total)
    return out.getvalue().splitlines()


def test_a_pipe_receives_a_line_at_each_twentieth_of_a_long_run() -> None:
    told = lines(400, 10, 4_000)
    assert len(told) == 19
    assert told[0] == "embedding 200 of 4,000, about 6 minutes to go"


def test_a_pipe_receives_a_line_each_minute_of_a_very_long_run_and_none_of_a_short_one() -> None:
    assert len(lines(400, 10, 1_000_000)) == 6
    assert lines(9, 10, 90) == []
