"""What may be expected after an ingest of a scripted git history."""

from collections.abc import Iterator
from dataclasses import dataclass

from ingest.documents import Skipped
from tests.cases import Json, Unknown, each, faults, folded, named, one_of, remark, table
from tests.ingest.pipeline.sync import Outcome, Play

RESULTS = ("ok", "partial", "error", "refused", "skipped", "killed")
ERRORS = (
    *("fetch_failed", "auth_failed", "timeout", "ref_missing", "root_missing"),
    *("local_clone_corrupt", "large_deletion"),
)


@dataclass(frozen=True)
class Seen:
    """An outcome, within its play."""

    play: Play
    outcome: Outcome

    def holding(self, text: str) -> set[str]:
        return {id for id, chunk in self.outcome.chunks.items() if text in chunk}

    def found(self, text: str) -> list[str]:
        """Ids of chunks with the text that a search for it finds."""
        chunks = self.outcome.chunks
        return [id for id in self.play.search(text) if text in chunks.get(id, text)]

    def numbers(self, base: str) -> list[int]:
        bases = (id.rpartition("-") for id in self.outcome.passages)
        return sorted(int(number) for stem, _, number in bases if stem == base)

    @property
    def bases(self) -> set[str]:
        return {id.rpartition("-")[0] for id in self.outcome.passages}

    @property
    def embedded(self) -> set[str]:
        """Paths of the pages that hold the texts that were embedded."""
        ends = [text.splitlines()[-1] for text in self.outcome.embedded]
        held = [p for p in self.outcome.passages.values() if any(end in p.text for end in ends)]
        return {self.in_repo(passage.path) for passage in held}

    def in_repo(self, path: str) -> str:
        return f"{self.play.config.docs_root}/{path}".removeprefix("/")

    def reported(self, entries: tuple[Skipped, ...]) -> dict[str, str]:
        return {self.in_repo(entry.path): entry.reason for entry in entries}


def unmet(seen: Seen, expect: Json) -> list[str]:
    """What does not hold of a label's expectations."""
    expect, failed = dict(expect), seen.outcome.result == "error"
    on_error = expect.pop("on_error", {})
    for name in on_error:
        named(EXPECTATIONS, name, "expectation")
    if expect.get("result") == "ok_or_error":
        expect |= on_error if failed else {}
        expect["result"] = "error" if failed else "ok"
        if not failed:
            expect.pop("error_class", None)
    elif on_error:
        raise Unknown("on_error without a result that is ok_or_error")
    return faults(expect, EXPECTATIONS, seen)


def result(seen: Seen, wanted: str) -> Iterator[str]:
    if seen.outcome.result != one_of(wanted, *RESULTS):
        yield f"{seen.outcome.result} {seen.outcome.said}"


def results(seen: Seen, wanted: list[str]) -> Iterator[str]:
    if seen.outcome.result != " ".join(sorted(one_of(each, *RESULTS) for each in wanted)):
        yield seen.outcome.result


def order(_seen: Seen, how: str) -> Iterator[str]:
    one_of(how, "any")
    return iter(())


def present(seen: Seen, bases: list[str]) -> Iterator[str]:
    yield from (base for base in bases if f"{base}-0" not in seen.outcome.passages)


def absent(seen: Seen, bases: list[str]) -> Iterator[str]:
    yield from sorted(seen.bases & set(bases))


def texts_present(seen: Seen, texts: list[str]) -> Iterator[str]:
    yield from (text for text in texts if not seen.holding(text) & set(seen.found(text)))


def texts_absent(seen: Seen, texts: list[str]) -> Iterator[str]:
    yield from (text for text in texts if seen.holding(text) or seen.found(text))


def text_count(seen: Seen, counts: dict[str, int]) -> Iterator[str]:
    for text, count in counts.items():
        if len(seen.holding(text)) != count:
            yield f"{text!r} is in {seen.holding(text)}"


def text_at(seen: Seen, places: dict[str, str]) -> Iterator[str]:
    for base, text in places.items():
        if not any(id.rpartition("-")[0] == base for id in seen.holding(text)):
            yield f"{text!r} is in {seen.holding(text)}"


def keyword_hits(seen: Seen, counts: dict[str, int]) -> Iterator[str]:
    for text, count in counts.items():
        if len(seen.found(text)) != count:
            yield f"{text!r} finds {seen.found(text)}"


def embedded_paths(seen: Seen, paths: list[str]) -> Iterator[str]:
    if seen.embedded != set(paths):
        yield f"embedded were {seen.embedded}"


def embedded_paths_max(seen: Seen, paths: list[str]) -> Iterator[str]:
    yield from sorted(seen.embedded - set(paths))


def embedded_chunks_max(seen: Seen, most: int) -> Iterator[str]:
    if len(seen.outcome.embedded) > most:
        yield f"{len(seen.outcome.embedded)} texts were embedded"


def writes(seen: Seen, count: int) -> Iterator[str]:
    report = seen.outcome.report
    made = report.added + report.updated + report.deleted if report else 0
    if made != count:
        yield f"{made} chunks were written or deleted"


def index_unchanged_since(seen: Seen, label: str) -> Iterator[str]:
    before = seen.play.outcomes[label]
    if seen.outcome.chunks != before.chunks or seen.outcome.vectors != before.vectors:
        yield f"it was {sorted(before.chunks)}, and is {sorted(seen.outcome.chunks)}"


def revision(seen: Seen, what: str) -> Iterator[str]:
    one_of(what, "HEAD")
    if seen.outcome.revision != seen.outcome.head:
        yield f"{seen.outcome.revision} is shown, the newest is {seen.outcome.head}"


def ids_contiguous(seen: Seen, which: bool | list[str]) -> Iterator[str]:
    for base in seen.bases if which is True else which or ():
        numbers = seen.numbers(base)
        if not numbers or numbers != list(range(len(numbers))):
            yield f"{base} has {numbers}"


def fewer_chunks_than(seen: Seen, label: str) -> Iterator[str]:
    before = seen.play.outcomes[label]
    if len(seen.outcome.passages) >= len(before.passages):
        yield f"{len(seen.outcome.passages)} chunks, then {len(before.passages)}"


def lines_follow_file(seen: Seen, which: bool | list[str]) -> Iterator[str]:
    for passage in seen.outcome.passages.values():
        names = {seen.in_repo(passage.path), passage.id.rpartition("-")[0]}
        if isinstance(which, list) and names.isdisjoint(which):
            continue
        first, last = passage.lines
        file = seen.outcome.files.get(passage.path, "").split("\n")
        covered = folded("\n".join(file[first - 1 : last]))
        if not 1 <= first <= last <= len(file) or folded(passage.text) not in covered:
            yield f"{passage.id} is not on lines {passage.lines}"


def skipped(seen: Seen, path: str, reason: str) -> Iterator[str]:
    report = seen.outcome.report
    have = seen.reported(report.skipped) if report else {}
    if not have.get(path, "").startswith(reason):
        yield f"{path} is not skipped as {reason}: {have}"


def failed_paths(seen: Seen, paths: list[str]) -> Iterator[str]:
    report = seen.outcome.report
    have = seen.reported(report.failed) if report else {}
    if have.keys() != set(paths):
        yield f"failed are {have}"


def error_class(seen: Seen, kind: str) -> Iterator[str]:
    if seen.outcome.error_class != one_of(kind, *ERRORS):
        yield f"{seen.outcome.error_class}: {seen.outcome.error}"


def error_text_contains(seen: Seen, words: list[str]) -> Iterator[str]:
    yield from (f"{w!r} in {seen.outcome.error!r}" for w in words if w not in seen.outcome.error)


def error_text_contains_if_error(seen: Seen, words: list[str]) -> Iterator[str]:
    if seen.outcome.result == "error":
        yield from error_text_contains(seen, words)


def error_text_not_contains(seen: Seen, words: list[str]) -> Iterator[str]:
    """Nor is it in any file that is kept."""
    kept = b"".join(file.read_bytes() for file in seen.play.data.rglob("*") if file.is_file())
    yield from (word for word in words if word in seen.outcome.said or word.encode() in kept)


def skipped_text_contains(seen: Seen, words: list[str]) -> Iterator[str]:
    return error_text_contains(seen, words)


def warning_or_error_text_contains(seen: Seen, words: list[str]) -> Iterator[str]:
    yield from (f"{w!r} in {seen.outcome.said!r}" for w in words if w not in seen.outcome.said)


def last_changed(seen: Seen, days: dict[str, str]) -> Iterator[str]:
    have = {seen.in_repo(path): day for path, day in seen.outcome.pages.items()}
    yield from (
        f"{path} on {have.get(path)}" for path, day in days.items() if have.get(path) != day
    )


def hits_contain(seen: Seen, ids: list[str]) -> Iterator[str]:
    if not set(ids) <= set(seen.outcome.hits):
        yield f"found are {seen.outcome.hits}"


def age_hours_min(seen: Seen, hours: float) -> Iterator[str]:
    if seen.outcome.state["age_hours"] < hours:
        yield f"it is {seen.outcome.state['age_hours']} hours old"


def marked_stale(seen: Seen, wanted: bool) -> Iterator[str]:
    if seen.outcome.state["stale"] is not wanted:
        yield "it is not"


EXPECTATIONS = table(
    *(result, results, order, present, absent, texts_present, texts_absent, text_count, text_at),
    *(keyword_hits, embedded_paths, embedded_paths_max, embedded_chunks_max, writes),
    *(index_unchanged_since, revision, ids_contiguous, fewer_chunks_than, lines_follow_file),
    *(each(skipped), failed_paths, error_class, error_text_contains, error_text_not_contains),
    *(error_text_contains_if_error, skipped_text_contains, warning_or_error_text_contains),
    *(last_changed, hits_contain, age_hours_min, marked_stale),
) | {"note": remark}
