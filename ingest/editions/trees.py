"""Paths -> folders that hold the same pages as another folder.

A folder that holds a translation or a version shows itself by the pages that it has in common with
the folder of the original, which is near: above it, beside it, or beside a folder above it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import islice

SAMPLED = 64
"""Maximum number of pages of a folder that are looked for elsewhere."""
MOST_FOLDERS = 256
"""Maximum number of folders in which they are looked for."""
ENOUGH = 0.5
"""Minimum share of them that the other folder has to hold."""

Parts = tuple[str, ...]


@dataclass(slots=True)
class Paths:
    """The paths of some documents, and their folders."""

    paths: set[Parts] = field(default_factory=set)
    _folders: defaultdict[Parts, set[str]] = field(default_factory=lambda: defaultdict(set))

    _sorted: dict[Parts, list[Parts]] = field(default_factory=dict)

    @staticmethod
    def of(paths: Iterable[Parts]) -> "Paths":
        all_paths = Paths()
        for path in paths:
            all_paths.paths.add(path)
            for depth in range(len(path) - 1):
                all_paths._folders[path[:depth]].add(path[depth])
        return all_paths

    def counterpart(
        self, tree: Parts, suffixes: Sequence[Parts], avoid: Collection[Parts] = ()
    ) -> Parts | None:
        """Return the folder that holds most of these pages of a tree, if it holds enough."""
        asked = sampled(suffixes)
        best: Parts | None = None
        most = 0
        for base in islice(self._near(tree), MOST_FOLDERS):
            if base in avoid:
                continue
            held = sum((*base, *suffix) in self.paths for suffix in asked)
            if held > most and held >= ENOUGH * len(asked):
                best, most = base, held
        return best

    def beside(self, prefix: Parts) -> list[Parts]:
        """Folders directly in a folder, by name."""
        if prefix not in self._sorted:
            names = sorted(self._folders.get(prefix, ()))
            self._sorted[prefix] = [(*prefix, name) for name in names]
        return self._sorted[prefix]

    def _near(self, tree: Parts) -> Iterable[Parts]:
        """Folders that can hold the originals of a tree, the nearest first."""
        for depth in range(len(tree) - 1, -1, -1):
            above = tree[:depth]
            yield above
            yield from (folder for folder in self.beside(above) if folder != tree[: depth + 1])


def sampled(items: Sequence[Parts]) -> Sequence[Parts]:
    """Return at most ``SAMPLED`` of the items, evenly spread."""
    step = -(-len(items) // SAMPLED) or 1
    return list(islice(items, 0, None, step))
