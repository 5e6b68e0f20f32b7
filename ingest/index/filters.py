"""Filters of a search -> the numbers of the documents that pass all of them."""

from collections.abc import Collection as Names
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ingest.config_file import Collection
from ingest.documents import DocumentInfo
from ingest.errors import UnknownCollection
from ingest.globs import spec


class Membership:
    """Which pages belong to which collection. Each page is matched once."""

    def __init__(self, collections: Mapping[str, Collection]) -> None:
        self.collections = collections
        self._specs = {name: spec(collection.paths) for name, collection in collections.items()}
        self._names: dict[str, frozenset[str]] = {}

    def names(self, path: str) -> frozenset[str]:
        """The collections that a page is in."""
        found = self._names.get(path)
        if found is None:
            found = self._names[path] = frozenset(
                name for name, pages in self._specs.items() if pages.match_file(path)
            )
        return found

    def checked(self, names: Iterable[str], among: Names[str] | None = None) -> frozenset[str]:
        """These names; raises UnknownCollection for one that is not configured."""
        known = [name for name in self.collections if among is None or name in among]
        wanted = frozenset(names)
        for name in sorted(wanted - set(known)):
            raise UnknownCollection(
                f"There is no collection {name!r}; configured: {', '.join(known) or 'none'}."
            )
        return wanted


def from_docs_root(path: str) -> str:
    """A path as pages have it, however it was written."""
    return path.strip().removeprefix("./").lstrip("/")


@dataclass(frozen=True, slots=True)
class Filters:
    """What a page has to be like; an empty filter lets every page pass."""

    scope: frozenset[str] | None = None
    """The collections that may be seen at all; None for everything."""
    path: str | None = None
    collection: str | None = None
    tags: Names[str] = ()
    updated_after: datetime | None = None

    def passing(self, infos: Mapping[int, DocumentInfo], membership: Membership) -> set[int] | None:
        """Numbers of the documents that pass; None when all do, whatever they are."""
        if self._is_empty:
            return None
        left: Iterable[tuple[int, DocumentInfo]] = infos.items()
        if self.scope is not None:
            scope = self.scope
            left = [item for item in left if scope & membership.names(item[1].path)]
        if self.path:
            prefix = from_docs_root(self.path)
            left = [item for item in left if item[1].path.startswith(prefix)]
        if self.collection:
            [name] = membership.checked([self.collection], self.scope)
            left = [item for item in left if name in membership.names(item[1].path)]
        if self.tags:
            wanted = {tag.casefold() for tag in self.tags}
            left = [item for item in left if wanted & {tag.casefold() for tag in item[1].tags}]
        if since := self.updated_after:
            since = since if since.tzinfo else since.replace(tzinfo=UTC)
            left = [item for item in left if item[1].updated_at and item[1].updated_at >= since]
        return {number for number, _info in left}

    @property
    def _is_empty(self) -> bool:
        return self.scope is None and not (
            self.path or self.collection or self.tags or self.updated_after
        )
