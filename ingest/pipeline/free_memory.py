"""Memory that was freed -> back to the system.

glibc keeps what threads free for themselves. The threads of the embedder and of Chroma would hold a
quarter of the memory of a long ingest like that.
"""

import ctypes
import sys
from collections.abc import Callable


def _trim() -> Callable[[int], object] | None:
    """Return glibc's function, or None where the system has another one."""
    if sys.platform != "linux":
        return None
    return getattr(ctypes.CDLL(None), "malloc_trim", None)


_malloc_trim = _trim()


def give_back() -> None:
    """Give freed memory back, which takes a few milliseconds."""
    if _malloc_trim is not None:
        _malloc_trim(0)
