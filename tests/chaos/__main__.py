"""``make chaos``: break a running system in every way on the list, and count what people got.

Each item starts real processes (`footnote sandbox`, `footnote run`, `footnote ingest`), breaks
them or what they talk to, and holds the figures against limits: no question lost, answered twice,
answered in the wrong place or by half, and no thread that shows work under way for ever.
"""

import argparse
import importlib
import pkgutil
import secrets
import signal
import sys
import time
import traceback
from pathlib import Path
from types import FrameType
from typing import NoReturn

import tests.chaos.items
from tests.chaos.catalogue import ITEMS, Item, in_order
from tests.chaos.processes import Zygote
from tests.chaos.report import write_report
from tests.chaos.trial import Session, Trial

EXAMPLES = """
examples:
  make chaos                              everything (about two hours); figures go to chaos.jsonl
  make chaos ARGS=--list                  the items, what each breaks, and its minutes
  make chaos ARGS="kills drops"           some items
  make chaos ARGS=--quick                 short forms of the most telling items (90 s)
  make chaos ARGS="kills --seed 7"        the same chance as in an earlier run
  make chaos ARGS="report chaos.jsonl"    docs/reliability.md from figures

The exit code is 1 if a figure is beyond its limit. What a machine lacks (PostgreSQL, faketime, a
tmpfs, which needs root) is skipped with a reason. Everything listens on loopback, and is ended by
its process id.
"""


def load_items() -> None:
    for module in pkgutil.iter_modules(tests.chaos.items.__path__):
        importlib.import_module(f"{tests.chaos.items.__name__}.{module.name}")


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="make chaos",
        description=__doc__.replace("``", "").replace("`", ""),
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("items", nargs="*", metavar="ITEM", help="items (default: all)")
    parser.add_argument("--list", action="store_true", help="show the items and what they break")
    parser.add_argument("--quick", action="store_true", help="short forms, at most 90 seconds")
    parser.add_argument("--seed", type=int, help="chance of an earlier run (default: a new one)")
    parser.add_argument("--out", type=Path, help="file of figures (default: chaos.jsonl)")
    return parser.parse_args()


def list_items() -> None:
    for each in in_order():
        mark = " (quick)" if each.quick else ""
        print(f"{each.name:<18} {each.minutes:>4g} min  {each.breaks}{mark}")  # noqa: T201  # a command
        print(f"{'':<18}           held: {each.holds}")  # noqa: T201  # a command


def chosen(names: list[str], quick: bool) -> list[Item]:
    unknown = [name for name in names if name not in ITEMS]
    if unknown:
        print(f"no such item: {', '.join(unknown)} (see make chaos ARGS=--list)", file=sys.stderr)  # noqa: T201  # a command
        raise SystemExit(2)
    if names:
        return [ITEMS[name] for name in names]
    return [each for each in in_order() if each.quick or not quick]


def run(items: list[Item], session: Session) -> int:
    """Run the items; return the exit code."""
    begun = time.monotonic()
    for number, each in enumerate(items, 1):
        session.say(f"== {each.name} ({number} of {len(items)}): {each.breaks}")
        trial = Trial(session, each)
        try:
            each.body(trial)
        except Exception as error:  # noqa: BLE001  # the other items are worth their figures
            traceback.print_exc()
            trial.row(f"the harness itself: {error!r}"[:200], ended=None, most={"ended": 0})
    failed = [row for row in session.rows if row.faults]
    skipped = sum(bool(row.skipped) for row in session.rows)
    passed = len(session.rows) - len(failed) - skipped
    session.say(f"seed {session.seed}, {skipped} skipped, {time.monotonic() - begun:.0f} s")
    print(f"{passed} passed, {len(failed)} failed", flush=True)  # noqa: T201  # a command
    return 1 if failed else 0


def stop(_number: int, _frame: FrameType | None) -> NoReturn:
    raise SystemExit(1)


def main() -> int:
    load_items()
    options = parse()
    if options.list:
        list_items()
        return 0
    if options.items[:1] == ["report"]:
        write_report([Path(name) for name in options.items[1:]])
        return 0
    items = chosen(options.items, options.quick)
    seed = options.seed if options.seed is not None else secrets.randbelow(100_000)
    out = options.out or (None if options.quick else Path("chaos.jsonl"))
    signal.signal(signal.SIGTERM, stop)
    with Zygote() as zygote:
        session = Session(out.open("a") if out else None, seed, options.quick, zygote)
        session.say(f"seed {seed}; figures go to {out or 'nowhere'}")
        try:
            code = run(items, session)
        finally:
            signal.signal(signal.SIGTERM, signal.SIG_IGN)  # nothing stays behind
            session.close()
    if out and not options.items:
        write_report([out])
    return code


if __name__ == "__main__":
    sys.exit(main())
