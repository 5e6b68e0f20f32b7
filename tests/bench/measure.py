"""Measured values with their aims, printed as they come."""

import resource
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np


@dataclass
class Sheet:
    """Lines of ``what: value (aim: ..., reached or missed)``."""

    missed: list[str] = field(default_factory=list)

    def head(self, title: str) -> None:
        print(f"\n{title}", flush=True)  # noqa: T201  # a report on stdout

    def line(self, what: str, value: str, *, aim: str = "", reached: bool | None = None) -> None:
        verdict = "" if reached is None else f"   aim {aim}: {'reached' if reached else 'MISSED'}"
        print(f"  {what:<46} {value}{verdict}", flush=True)  # noqa: T201  # a report on stdout
        if reached is False:
            self.missed.append(what)


def seconds(work: Callable[[], object]) -> float:
    begun = time.perf_counter()
    work()
    return time.perf_counter() - begun


def percentiles(milliseconds: Sequence[float]) -> tuple[float, float]:
    p50, p95 = np.percentile(milliseconds, (50, 95))
    return float(p50), float(p95)


def resident_mb() -> float:
    """Current memory of this process."""
    return _memory_mb("VmRSS")


def peak_mb() -> float:
    """Peak memory of this process."""
    return _memory_mb("VmHWM")


def _memory_mb(name: str) -> float:
    status = Path("/proc/self/status")
    if not status.exists():
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    # What getrusage tells of a new process begins with what its parent held.
    held = next(line for line in status.read_text().splitlines() if line.startswith(name))
    return int(held.split()[1]) / 1024


def disk_mb(folder: Path) -> float:
    return sum(file.stat().st_size for file in folder.rglob("*") if file.is_file()) / 1e6
