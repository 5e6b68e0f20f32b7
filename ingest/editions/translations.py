"""Paths -> the language of each translation, and the path of its original.

A folder such as ``zh`` or ``i18n/zh``, or a name such as ``install.zh.md``, names a language only
if the text is written in it: ``it/README.md`` of a department is no translation.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from ingest.editions.edition import Stated, TextOf
from ingest.editions.languages import identified, is_written_in, language_of, shown_tag
from ingest.editions.trees import Parts, Paths

READ = 5
"""Number of documents of a folder whose text is read for its language."""
_SEPARATORS = ".-_"


@dataclass(frozen=True, slots=True)
class Tagged:
    """A path with a part that can name a language."""

    tag: str
    language: str
    group: tuple[Parts, str, str]
    """Documents that are translations together, or not at all: where the tag is, tag and form."""
    untagged: Parts


@dataclass(slots=True)
class Translations:
    """Language and original path of each translation, by path; the original language."""

    tags: dict[str, str] = field(default_factory=dict)
    originals: dict[str, Parts] = field(default_factory=dict)
    original: str | None = None


def translations(
    paths: Sequence[str], stated: Mapping[str, Stated], text_of: TextOf
) -> Translations:
    """Find the translations among these documents."""
    known = set(paths)
    groups: defaultdict[tuple[Parts, str, str], dict[str, Tagged]] = defaultdict(dict)
    for path in paths:
        if (tagged := _tagged(path, known)) is not None:
            groups[tagged.group][path] = tagged
    result = Translations()
    in_their_language = [group for group in groups.values() if _is_written(group, text_of)]
    taken = {path: tagged for group in in_their_language for path, tagged in group.items()}
    for path, said in stated.items():
        if said.language and path in known and path not in taken:
            result.tags[path] = shown_tag(said.language)
            result.originals[path] = _parts(path)
    if not taken:
        if result.tags:
            _settle_original(result, paths, text_of)
        return result
    untagged = Paths.of(_parts(path) for path in paths if path not in taken)
    for group in in_their_language:
        _place(group, untagged, result)
    _settle_original(result, paths, text_of)
    for path, tagged in taken.items():
        if path in result.tags and tagged.language == result.original:
            # A folder such as ai/ in English docs; it names a country where people speak English.
            del result.tags[path], result.originals[path]
    return result


def _tagged(path: str, known: set[str]) -> Tagged | None:
    parts = _parts(path)
    for place, part in enumerate(parts[:-1]):
        if (language := language_of(part)) is not None:
            group = (parts[:place], part, "folder")
            return Tagged(part, language, group, (*parts[:place], *parts[place + 1 :]))
    stem, dot, suffix = parts[-1].rpartition(".")
    for separator in _SEPARATORS:
        name, mark, tag = stem.rpartition(separator)
        if mark and name and (language := language_of(tag)) is not None:
            untagged = (*parts[:-1], f"{name}{dot}{suffix}")
            if separator == "." or "/".join(untagged) in known:
                return Tagged(tag, language, ((), tag, "name"), untagged)
    return None


def _is_written(group: Mapping[str, Tagged], text_of: TextOf) -> bool:
    """Return True if most of the documents are in the language that their paths name."""
    step = -(-len(group) // READ)
    read = sorted(group)[::step]
    votes = sum(is_written_in(text_of(path), group[path].language) for path in read)
    return votes * 2 > len(read)


def _place(group: Mapping[str, Tagged], untagged: Paths, result: Translations) -> None:
    """Find the original's path for each document of a group."""
    first = next(iter(group.values()))
    (prefix, tag, form) = first.group
    for path, tagged in group.items():
        result.tags[path] = shown_tag(tagged.tag)
        result.originals[path] = tagged.untagged
    if form == "name":
        return
    tree = (*prefix, tag)
    by_tree: defaultdict[Parts, list[Parts]] = defaultdict(list)
    for path in sorted(group):
        parts = _parts(path)
        for depth in range(len(tree), min(len(parts), len(tree) + 3)):
            by_tree[parts[:depth]].append(parts[depth:])
    bases = {
        each: base
        for each, suffixes in by_tree.items()
        if (base := untagged.counterpart(each, suffixes)) is not None
    }
    for path in group:
        parts = _parts(path)
        splits = [d for d in range(len(tree), len(parts)) if parts[:d] in bases]
        moved = [(*bases[parts[:d]], *parts[d:]) for d in splits]
        if moved:
            result.originals[path] = next((m for m in moved if m in untagged.paths), moved[0])


def _settle_original(result: Translations, paths: Iterable[str], text_of: TextOf) -> None:
    """Choose the language of the originals.

    It is that of the documents without a language; if all have one, the one with most documents.
    """
    without = [path for path in paths if path not in result.tags]
    pages = set(result.originals.values())
    beside = [path for path in without if _parts(path) in pages] or without
    if beside and len(beside) * 4 >= len(pages):
        read = sorted(beside)[:: -(-len(beside) // READ)]
        votes = Counter(identified(text_of(path))[0] for path in read)
        result.original = votes.most_common(1)[0][0]
        return
    counts = Counter(result.tags.values())
    tag = min(counts, key=lambda each: (-counts[each], each != "en", each))
    result.original = language_of(tag) or tag.partition("-")[0]
    for path in [path for path, own in result.tags.items() if own == tag]:
        del result.tags[path]


def _parts(path: str) -> Parts:
    return tuple(path.split("/"))
