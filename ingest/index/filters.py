"""Filters of a search -> the numbers of the documents that pass all of them."""

from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from ingest.config_file import DocsCollection
from ingest.documents import DocumentInfo
from ingest.errors import UnknownCollection
from ingest.globs import spec
from ingest.letters import composed, folded


class Membership:
    """The collections that each document is in. Each document is matched once."""

    def __init__(self, collections: Mapping[str, DocsCollection]) -> None:
        self.collections = collections
        self._specs = {
            name: spec(map(composed, collection.paths)) for name, collection in collections.items()
        }
        self._names: dict[str, frozenset[str]] = {}

    def names(self, path: str) -> frozenset[str]:
        """Names of the collections that the document with this path is in."""
        names = self._names.get(path)
        if names is None:
            names = self._names[path] = frozenset(
                name for name, paths in self._specs.items() if paths.match_file(composed(path))
            )
        return names

    def checked(self, names: Iterable[str], among: Collection[str] | None = None) -> frozenset[str]:
        """Return these names. Raises UnknownCollection for one that is not configured."""
        configured = [name for name in self.collections if among is None or name in among]
        wanted = frozenset(names)
        for name in sorted(wanted - set(configured)):
            raise UnknownCollection(
                f"There is no collection {name!r}; configured: {', '.join(configured) or 'none'}."
            )
        return wanted


def from_docs_root(path: str) -> str:
    """A path as it is stored: without blanks, ``./`` or ``/`` at its start."""
    return path.strip().removeprefix("./").lstrip("/")


def spelled_like(name: str, paths: Iterable[str]) -> str | None:
    """Return the path that differs from a name only in how its accents are written."""
    wanted = {composed(name), composed(f"{name}.md")}
    return next((path for path in paths if composed(path) in wanted), None)


@dataclass(frozen=True, slots=True)
class Filters:
    """Conditions for documents; without any, every document passes."""

    scope: frozenset[str] | None = None
    """Collections that the caller may search; None means the whole index."""
    path: str | None = None
    collection: str | None = None
    tags: Collection[str] = ()
    updated_after: datetime | None = None

    def passing(
        self,
        infos: Callable[[], Mapping[int, DocumentInfo]],
        membership: Membership,
        names: Callable[[str], Collection[str]],
    ) -> set[int] | None:
        """Numbers of the documents that pass; None without any condition.

        ``infos`` returns all documents; it is called only with a condition. ``names`` returns the
        collections of a document by its path.
        """
        if self._is_empty:
            return None
        passing: Iterable[tuple[int, DocumentInfo]] = infos().items()
        if self.scope is not None:
            scope = self.scope
            passing = [item for item in passing if not scope.isdisjoint(names(item[1].path))]
        if self.path:
            prefix = composed(from_docs_root(self.path))
            passing = [item for item in passing if composed(item[1].path).startswith(prefix)]
        if self.collection:
            [name] = membership.checked([self.collection], self.scope)
            passing = [item for item in passing if name in names(item[1].path)]
        if self.tags:
            wanted = set(map(folded, self.tags))
            passing = [item for item in passing if wanted & set(map(folded, item[1].tags))]
        if since := self.updated_after:
            since = since if since.tzinfo else since.replace(tzinfo=UTC)
            passing = [
                item for item in passing if item[1].updated_at and item[1].updated_at >= since
            ]
        return {number for number, _info in passing}

    @property
    def _is_empty(self) -> bool:
        return self.scope is None and not (
            self.path or self.collection or self.tags or self.updated_after
        )
