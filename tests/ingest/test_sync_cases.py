"""The shared cases of scripted git histories: what the index holds after each ingest."""

import json
import os
import shutil
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.ingest.sync import Outcome, Play

CASES = Path(os.environ.get("FOOTNOTE_SHARED", Path(__file__).parents[3] / "shared")) / "cases/dev"

Expectation = dict[str, Any]


def cases() -> list[Any]:
    file = CASES / "sync.jsonl"
    if not file.is_file():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [pytest.param(json.loads(line), id=json.loads(line)["id"]) for line in lines]


@pytest.mark.parametrize("case", cases())
def test_a_history_is_followed_as_its_case_says(
    case: dict[str, Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    operations = case["input"]["ops"]
    if any(op["op"] == "remote_auth_refuses" for op in operations):
        if not shutil.which("openssl"):
            pytest.skip("openssl makes the server's certificate")
        monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "server.pem"))
    faults: list[str] = []
    with ExitStack() as stack:
        play = Play(tmp_path, case["input"], stack)
        for op in operations:
            play.do(op)
            label = op.get("label") or "_".join(op.get("labels", ()))
            if label:
                check = Check(play, play.outcomes[label], case["expect"].get(label, {}))
                faults += [f"{label}: {fault}" for fault in check.faults()]
    assert faults == []


class Check:
    """One entry of a case's ``expect`` against what came of the ingest."""

    def __init__(self, play: Play, outcome: Outcome, expected: Expectation) -> None:
        self.play = play
        self.outcome = outcome
        self.expected = dict(expected)
        failed = outcome.result == "error"
        if expected.get("result") == "ok_or_error":
            self.expected |= expected.get("on_error", {}) if failed else {}
            self.expected["result"] = outcome.result
            if not failed:
                self.expected.pop("error_class", None)

    def faults(self) -> list[str]:
        found = []
        for name, value in self.expected.items():
            holds = getattr(self, f"_{name}", None)
            if name == "on_error":
                continue
            if holds is None:
                found.append(f"nobody checks {name}")
            elif not holds(value):
                found.append(f"{name} should be {value}; {self.outcome}")
        return found

    def _result(self, value: str) -> bool:
        return self.outcome.result == value

    def _results(self, value: list[str]) -> bool:
        return self.outcome.result == " ".join(sorted(value))

    def _order(self, _value: str) -> bool:
        return True

    def _present(self, bases: list[str]) -> bool:
        return all(f"{base}-0" in self.outcome.chunks for base in bases)

    def _absent(self, bases: list[str]) -> bool:
        have = {id_.rpartition("-")[0] for id_ in self.outcome.chunks}
        return not have & set(bases)

    def _texts_present(self, texts: list[str]) -> bool:
        return all(self._holding(text) & set(self.play.search(text)) for text in texts)

    def _texts_absent(self, texts: list[str]) -> bool:
        return not any(
            self._holding(text) or self._shown(text, self.play.search(text)) for text in texts
        )

    def _text_count(self, counts: dict[str, int]) -> bool:
        return all(len(self._holding(text)) == count for text, count in counts.items())

    def _text_at(self, places: dict[str, str]) -> bool:
        return all(text in self.outcome.chunks[f"{base}-0"] for base, text in places.items())

    def _keyword_hits(self, counts: dict[str, int]) -> bool:
        return all(
            len(self._shown(text, self.play.search(text))) == n for text, n in counts.items()
        )

    def _embedded_paths(self, paths: list[str]) -> bool:
        return self._embedded() == set(paths)

    def _embedded_paths_max(self, paths: list[str]) -> bool:
        return self._embedded() <= set(paths)

    def _index_unchanged_since(self, label: str) -> bool:
        return self.outcome.chunks == self.play.outcomes[label].chunks

    def _revision(self, value: str) -> bool:
        return value == "HEAD" and self.outcome.revision == self.outcome.head

    def _skipped(self, entries: list[dict[str, str]]) -> bool:
        assert self.outcome.report
        have = {f"docs/{s.path}": s.reason for s in self.outcome.report.skipped}
        return all(have[entry["path"]].startswith(entry["reason"]) for entry in entries)

    def _failed_paths(self, paths: list[str]) -> bool:
        assert self.outcome.report
        return {f"docs/{failed.path}" for failed in self.outcome.report.failed} == set(paths)

    def _error_class(self, kind: str) -> bool:
        return self.outcome.error_class == kind

    def _error_text_contains(self, words: list[str]) -> bool:
        return all(word in self.outcome.error for word in words)

    def _error_text_not_contains(self, words: list[str]) -> bool:
        kept = b"".join(file.read_bytes() for file in self.play.data.rglob("*") if file.is_file())
        return not any(word in self.outcome.error or word.encode() in kept for word in words)

    def _skipped_text_contains(self, words: list[str]) -> bool:
        return self._error_text_contains(words)

    def _warning_or_error_text_contains(self, words: list[str]) -> bool:
        warnings = self.outcome.report.warnings if self.outcome.report else ()
        said = " ".join([self.outcome.error, *warnings])
        return all(word in said for word in words)

    def _last_changed(self, days: dict[str, str]) -> bool:
        return all(
            self.outcome.pages[path.removeprefix("docs/")] == day for path, day in days.items()
        )

    def _hits_contain(self, ids: list[str]) -> bool:
        return self.outcome.chunks.keys() >= set(ids)

    def _age_hours_min(self, hours: float) -> bool:
        return float(self.outcome.state["age_hours"]) >= hours

    def _marked_stale(self, value: bool) -> bool:
        return self.outcome.state["stale"] is value

    def _embedded(self) -> set[str]:
        """Paths of the pages that hold the texts that were embedded."""
        ends = [text.splitlines()[-1] for text in self.outcome.embedded]
        ids = {id_ for id_, text in self.outcome.chunks.items() for end in ends if end in text}
        return {f"docs/{id_.rpartition('-')[0]}.md" for id_ in ids}

    def _holding(self, text: str) -> set[str]:
        return {id_ for id_, chunk in self.outcome.chunks.items() if text in chunk}

    def _shown(self, text: str, ids: list[str]) -> list[str]:
        return [id_ for id_ in ids if text in self.outcome.chunks.get(id_, text)]
