"""The machine that numbers come from, in one line."""

import os
import platform
from pathlib import Path


def machine() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    model = next((line.partition(": ")[2] for line in lines if line.startswith("model name")), "")
    load = f", load {os.getloadavg()[0]:.1f} at the start" if hasattr(os, "getloadavg") else ""
    return f"{os.cpu_count()} cores {model or platform.machine()}{load}"
