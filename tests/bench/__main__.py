"""``make bench``: prints every measure with its aim. It asserts nothing, since machines differ."""

import argparse
import platform
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from tests.bench.answering import measure_answering
from tests.bench.ingesting import measure_growth, measure_ingest
from tests.bench.machine import machine
from tests.bench.measure import Sheet
from tests.bench.searching import measure_search


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description=__doc__)
    parser.add_argument("only", nargs="*", help="of: answering growth ingest search (else all)")
    parser.add_argument("--characters", type=int, default=1_500_000, help="of docs for the ingest")
    parser.add_argument("--chunks", type=int, nargs="+", default=[10_000, 100_000])
    given = parser.parse_args()
    sheet = Sheet()
    sheet.head(f"{datetime.now(UTC):%Y-%m-%d}, {machine()}, Python {platform.python_version()}")
    parts: dict[str, Callable[[Path], None]] = {
        "answering": partial(measure_answering, sheet),
        "growth": partial(measure_growth, sheet),
        "ingest": partial(measure_ingest, sheet, characters=given.characters),
        **{f"search-{n}": partial(measure_search, sheet, chunks=n) for n in given.chunks},
    }
    for name, part in parts.items():
        if not given.only or name.partition("-")[0] in given.only:
            with tempfile.TemporaryDirectory(prefix="footnote-bench-") as work:
                part(Path(work))
    sheet.head(f"Missed: {', '.join(sheet.missed) or 'none'}")


if __name__ == "__main__":
    main()
