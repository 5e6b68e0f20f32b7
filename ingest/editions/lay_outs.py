"""Paths of all documents -> the edition that each of them is.

A page can have versions (``versioned_docs/version-2.3``, ``v1.14``, ``latest``, ``archive/1.2``)
and translations (``i18n/zh``, ``content/de``, ``install.zh.md``). A folder that looks like a
version holds editions of pages if the same pages lie in a folder beside it.

The current edition is the first of: what ``versions.json`` releases first; the folder without a
version, or ``latest``; the highest version. Folders of what is not released (``next``) come behind,
then what is old (``archive``). With a ``versions.json``, the folder without a version is what comes
next, as in Docusaurus.
"""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from ingest.editions.edition import Edition, LayOut, Stated, TextOf
from ingest.editions.near_copies import common_share
from ingest.editions.renames import renamed
from ingest.editions.text_words import words
from ingest.editions.translations import Translations, translations
from ingest.editions.trees import ENOUGH, Parts, Paths, sampled
from ingest.editions.version_numbers import Order, is_unreleased, order_of, version_of

CURRENT = ("latest", "stable", "current")
COMING = ("next", "nightly", "dev", "devel", "develop", "main", "master", "edge", "canary",
          "unstable", "preview", "unreleased")  # fmt: skip
OLD = ("archive", "archived", "old", "legacy", "previous", "deprecated")
SAME_PAGE = 0.3
"""Minimum share of common words of two texts that can be versions of one page."""
LIKELY = 0.6
"""The same where only the texts show it: the name of the folder is a number, or says little."""
NEIGHBOURS = 4
"""Number of folders on each side that a folder is compared with."""

Released = Mapping[str, Sequence[str]]
"""Folder -> the versions that its ``versions.json`` lists, the current one first."""
Rank = tuple[int, int, Order, str]


@dataclass(slots=True)
class _Tree:
    """A folder that may hold one version of pages."""

    folder: Parts
    name: str
    version: str | None
    is_certain: bool
    pages: dict[Parts, list[str]] = field(default_factory=lambda: defaultdict(list))
    """Path below the folder -> documents: one in each language."""


@dataclass(slots=True)
class _Group:
    """Folders in one folder that may hold versions of the same pages."""

    prefix: Parts
    trees: list[_Tree]
    base: Parts | None = None
    """Folder that holds the same pages without a version."""
    leans: bool = False
    """True if that folder belongs to another group."""

    def marked(self) -> set[Parts]:
        return {(*tree.folder, *page) for tree in self.trees for page in tree.pages}

    def is_beside(self, marked: set[Parts]) -> bool:
        """Return True if the pages beside these folders are in the folders of a group, too."""
        if self.base is None:
            return False
        pages = (page for tree in self.trees for page in tree.pages)
        return any((*self.base, *page) in marked for page in pages)


def lay_out(
    paths: Sequence[str],
    stated: Mapping[str, Stated],
    text_of: TextOf,
    released: Released | None = None,
) -> LayOut:
    """Return the edition of each document."""
    languages = translations(paths, stated, text_of)
    return _Versions(paths, stated, text_of, released or {}, languages).lay_out()


def version_folders(paths: Sequence[str]) -> set[str]:
    """Folders in which a ``versions.json`` may lie: those above a folder with versions."""
    folders: set[str] = set()
    for path in paths:
        parts = path.split("/")
        for place, part in enumerate(parts[:-1]):
            if version_of(part) is not None:
                folders.update(
                    "/".join(parts[:depth]) for depth in (place - 1, place) if depth >= 0
                )
                break
    return folders


@dataclass(slots=True)
class _Versions:
    paths: Sequence[str]
    stated: Mapping[str, Stated]
    text_of: TextOf
    released: Released
    languages: Translations
    editions: dict[str, Edition] = field(default_factory=dict)
    ranks: dict[str, Rank] = field(default_factory=dict)
    gone: set[str] = field(default_factory=set)
    """Documents that are not in the current version."""
    current: set[str] = field(default_factory=set)
    """Folders that hold a current version."""

    def lay_out(self) -> LayOut:
        placed: dict[Parts, list[str]] = defaultdict(list)
        for path in self.paths:
            original = self.languages.originals.get(path, tuple(path.split("/")))
            placed[original].append(path)
            self._set(path, original, None, (0, 0, (), ""))
        for documents in placed.values():  # originals first: they are compared with each other
            documents.sort(key=lambda path: (path in self.languages.tags, path))
        known = Paths.of(placed)
        groups = [
            self._group(prefix, trees, placed, known) for prefix, trees in self._trees(placed)
        ]
        marked = {page for group in groups for page in group.marked()}
        for group in groups:
            group.leans = group.is_beside(marked)
        # A folder beside another group's folder takes its pages from there: archive/1.2 and latest.
        for group in sorted(groups, key=lambda group: (group.leans, group.prefix)):
            self._connect(group, placed)
        self._state()
        self._rename()
        self._order()
        return LayOut(self.editions, self.languages.original)

    def _set(self, path: str, page: Parts, version: str | None, rank: Rank) -> None:
        language = self.languages.tags.get(path)
        self.editions[path] = Edition("/".join(page), version, language)
        self.ranks[path] = rank

    def _trees(self, placed: Mapping[Parts, list[str]]) -> list[tuple[Parts, list[_Tree]]]:
        """Folders that can hold a version, by the folder that they are in."""
        trees: dict[Parts, dict[str, _Tree]] = defaultdict(dict)
        for parts, documents in placed.items():
            for place, part in enumerate(parts[:-1]):
                version = version_of(part)
                if version is None and part.lower() not in (*CURRENT, *COMING, *OLD):
                    continue
                if version is None and any(map(version_of, parts[place + 1 : -1])):
                    continue  # archive/1.2: the number is the version
                number, is_certain = version or (None, False)
                within = trees[parts[:place]]
                tree = within.setdefault(part, _Tree(parts[: place + 1], part, number, is_certain))
                tree.pages[parts[place + 1 :]].extend(documents)
                break
        return [
            (prefix, sorted(by_folder.values(), key=_by_version))
            for prefix, by_folder in sorted(trees.items())
        ]

    def _group(
        self,
        prefix: Parts,
        trees: Sequence[_Tree],
        placed: Mapping[Parts, list[str]],
        known: Paths,
    ) -> _Group:
        """Find the folder with the same pages, and drop what only looks like a version."""
        group = _Group(prefix, [*trees])
        own = {tree.folder for tree in trees}
        by_size = sorted(trees, key=lambda tree: (-len(tree.pages), tree.name))
        bases = (known.counterpart(tree.folder, sorted(tree.pages), own) for tree in by_size)
        base = next((folder for folder in bases if folder is not None), None)
        if base is not None and self._same_pages(by_size[0], base, placed):
            group.base = base
        group.trees = [
            tree
            for place, tree in enumerate(trees)
            if tree.is_certain or self._is_held(place, trees, group.base, placed)
        ]
        if not any(tree.version or tree.name.lower() not in COMING for tree in group.trees):
            group.trees = []  # dev and main beside prod are places where something runs
        return group

    def _connect(self, group: _Group, placed: Mapping[Parts, list[str]]) -> None:
        """Make the documents of these folders, and of the one without a version, editions."""
        base, released = group.base, self._released(group.prefix)
        coming = base is not None and bool(base) and base[-1].lower() in COMING
        is_next = bool(released) or (coming and any(tree.version for tree in group.trees))
        ranks = [_ranked(tree, released) for tree in group.trees]
        has_current = base is not None and (group.leans or not is_next)
        current = min((rank for _version, rank in ranks), default=None)
        for tree, (version, rank) in zip(group.trees, ranks, strict=True):
            for page, documents in tree.pages.items():
                key = self._key(group, page, placed)
                for path in documents:
                    self._set(path, key, version, rank)
                if has_current or rank != current:
                    self.gone.update(documents)
            if not has_current and rank == current:
                self.current.add("/".join((*tree.folder, "")))
        if base is None or group.leans:
            return
        if has_current:
            self.current.add("/".join((*base, "")) if base else "")
        rank = (2, 0, (), "") if is_next else (0, 1, (), "")
        for page in {page for tree in group.trees for page in tree.pages}:
            for path in placed.get((*base, *page), ()):
                self._set(path, (*base, *page), "next" if is_next else None, rank)

    def _key(self, group: _Group, page: Parts, placed: Mapping[Parts, list[str]]) -> Parts:
        """Path of the page that a path below a folder with a version stands for."""
        base = group.base
        key = (*(group.prefix if base is None else base), *page)
        if base is None and key in placed:
            key = (*group.prefix, "*", *page)  # another text has that path
        if group.leans and key in placed:
            key = tuple(self.editions[placed[key][0]].page.split("/"))
        return key

    def _is_held(
        self,
        place: int,
        trees: Sequence[_Tree],
        base: Parts | None,
        placed: Mapping[Parts, list[str]],
    ) -> bool:
        """Return True if other folders hold the same pages, which a name alone does not show."""
        tree = trees[place]
        before, behind = trees[max(0, place - NEIGHBOURS) : place], trees[place + 1 :]
        nearest = [*before, *behind[:NEIGHBOURS], *behind[NEIGHBOURS:][-NEIGHBOURS:]]
        for other in nearest:
            small, large = sorted((tree, other), key=lambda each: len(each.pages))
            pages = sampled(sorted(small.pages))
            same = [page for page in pages if page in large.pages]
            if len(same) >= ENOUGH * len(pages) and self._alike(
                tree.pages[same[0]][0], other.pages[same[0]][0], LIKELY
            ):
                return True
        return base is not None and self._same_pages(tree, base, placed, LIKELY)

    def _same_pages(
        self,
        tree: _Tree,
        base: Parts,
        placed: Mapping[Parts, list[str]],
        least: float = SAME_PAGE,
    ) -> bool:
        """Return True if pages of the same path have words in common, too."""
        pages = [page for page in sampled(sorted(tree.pages)) if (*base, *page) in placed]
        if not pages:
            return False
        tried = pages[:: -(-len(pages) // 3)]
        alike = [self._alike(tree.pages[p][0], placed[(*base, *p)][0], least) for p in tried]
        return 2 * sum(alike) >= len(alike)

    def _alike(self, one: str, other: str, least: float) -> bool:
        bags = [_bag(self.text_of(path)) for path in (one, other)]
        return common_share(*bags) >= least

    def _released(self, prefix: Parts) -> Sequence[str]:
        for folder in (prefix[:-1], prefix):
            if (listed := self.released.get("/".join(folder))) is not None:
                return [(version_of(name) or (name, True))[0] for name in listed]
        return ()

    def _state(self) -> None:
        """Front matter names a version where the path does not."""
        for path, said in self.stated.items():
            edition = self.editions.get(path)
            if said.version and edition is not None and edition.version is None:
                named = version_of(said.version)
                version = named[0] if named else said.version
                self.editions[path] = replace(edition, version=version)

    def _rename(self) -> None:
        """Find the page of the current version that an older version has under another path."""
        if not self.gone:
            return
        pages: defaultdict[str, list[str]] = defaultdict(list)
        for path, edition in self.editions.items():
            pages[edition.page].append(path)
        newest: dict[str, str] = {}
        new: set[str] = set()
        for page, documents in pages.items():
            originals = [path for path in documents if path not in self.languages.tags]
            if self.gone.issuperset(documents) and originals:
                newest[min(originals, key=lambda path: self.ranks[path])] = page
            elif len(originals) == 1 and originals[0].startswith(tuple(self.current)):
                new.update(originals)
        for old, path in renamed(newest, new, self.text_of).items():
            for document in pages[newest[old]]:
                edition = self.editions[document]
                self.editions[document] = replace(edition, page=self.editions[path].page)

    def _order(self) -> None:
        """Give each edition its standing among those of its page and language."""
        families: dict[tuple[str, str | None], list[str]] = defaultdict(list)
        for path in sorted(self.editions):
            edition = self.editions[path]
            families[edition.page, edition.language].append(path)
        for family in families.values():
            family.sort(key=lambda path: self.ranks[path])
            for standing, path in enumerate(family, family[0] in self.gone):
                if standing:
                    self.editions[path] = replace(self.editions[path], standing=standing)


def _ranked(tree: _Tree, released: Sequence[str]) -> tuple[str | None, Rank]:
    """Return the version that a folder holds, and its place among the others."""
    name = tree.name.lower()
    if tree.version is None:
        tier = 0 if name in CURRENT else 2 if name in COMING else 3
        return (None if tier == 0 else name), (tier, 0, (), name)
    if tree.version in released:
        return tree.version, (0, 1 + released.index(tree.version), (), name)
    tier = 2 if is_unreleased(tree.version) else 1
    newest_first = tuple((-kind, -number) for kind, number in order_of(tree.version))
    return tree.version, (tier, 1, newest_first, name)


def _by_version(tree: _Tree) -> tuple[Order, str]:
    return order_of(tree.version or ""), tree.name


def _bag(text: str) -> Counter[str]:
    return Counter(words(text))
