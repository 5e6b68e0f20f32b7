"""CODEOWNERS -> the owner of a file. The last matching line decides, as on the code hosts."""

import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass

from ingest.repo.owner_globs import owner_glob

MOST_RULES = 5_000
"""Maximum number of rules, the last ones: each costs a comparison for each file."""
_LONGEST_PATTERN = 1_000
PLACES = (".github/CODEOWNERS", ".gitlab/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS")


@dataclass(frozen=True)
class Owners:
    """The rules of one CODEOWNERS file, in order."""

    rules: tuple[tuple[re.Pattern[str], str], ...] = ()
    """Pattern, owners."""

    @staticmethod
    def parse(text: str) -> "Owners":
        rules: list[tuple[str, str]] = []
        section_owners = ""
        for line in text.splitlines():
            line = re.sub(r"(^|\s)#.*", "", line).strip()
            section = re.fullmatch(r"\^?\[[^\]]+\](?:\[\d+\])?\s*(.*)", line)
            if section:  # GitLab: default owners of the lines below
                section_owners = section[1].strip()
            elif line and not line.startswith("!"):
                pattern, *owners = re.split(r"(?<!\\)\s+", line, maxsplit=1)
                rules.append((pattern, owners[0] if owners else section_owners))
        compiled = []
        for pattern, owner in rules[-MOST_RULES:]:
            with suppress(re.error):  # not a valid pattern
                if len(pattern) <= _LONGEST_PATTERN and (glob := owner_glob(pattern)):
                    compiled.append((glob, owner))
        return Owners(tuple(compiled))

    @staticmethod
    def first(find: Callable[[str], bytes | None]) -> "Owners":
        """Read the first CODEOWNERS file of all the places where it can be."""
        contents = (content for place in PLACES if (content := find(place)) is not None)
        return Owners.parse(next(contents, b"").decode(errors="replace"))

    def of(self, path: str) -> str | None:
        """Return the owners of a file by its path from the top of the repo, or None."""
        for pattern, owners in reversed(self.rules):
            if pattern.match(path):
                return owners or None
        return None
