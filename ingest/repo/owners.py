"""CODEOWNERS -> the owner of a file. The last matching line decides, as on the code hosts."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from pathspec import GitIgnoreSpec

PLACES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")


@dataclass(frozen=True)
class Owners:
    """The rules of one CODEOWNERS file, in order."""

    rules: tuple[tuple[GitIgnoreSpec, bool, str], ...] = ()
    """Pattern, whether it matches direct children only, owners."""

    @staticmethod
    def parse(text: str) -> "Owners":
        rules = []
        section_owners = ""
        for line in text.splitlines():
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            section = re.fullmatch(r"\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)", line)
            if section:  # GitLab: default owners of the lines below
                section_owners = section[1].strip()
            elif line and not line.startswith("!"):
                pattern, *owners = re.split(r"(?<!\\)\s+", line, maxsplit=1)
                with suppress(ValueError):  # not a valid pattern
                    spec = GitIgnoreSpec.from_lines([pattern])
                    owner = owners[0] if owners else section_owners
                    rules.append((spec, pattern.endswith("/*"), owner))
        return Owners(tuple(rules))

    @staticmethod
    def first(find: Callable[[str], bytes | None]) -> "Owners":
        """Read the first CODEOWNERS file of all the places where it can be."""
        contents = (content for place in PLACES if (content := find(place)) is not None)
        return Owners.parse(next(contents, b"").decode(errors="replace"))

    def of(self, path: str) -> str | None:
        """Return the owners of a file by its path from the top of the repo, or None."""
        folder = path.rpartition("/")[0]
        for pattern, direct_only, owners in reversed(self.rules):
            if pattern.match_file(path) and not (direct_only and pattern.match_file(folder)):
                return owners or None
        return None
