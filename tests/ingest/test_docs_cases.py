"""The shared cases of small docs trees: what is found, under which heading, on which lines."""

import base64
import json
import os
import re
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ingest.chunker import chunk_document, chunk_prefix
from ingest.documents import Chunk
from ingest.loader import UnreadableDocument, load

CASES = Path(os.environ.get("FOOTNOTE_SHARED", Path(__file__).parents[3] / "shared")) / "cases/dev"

Case = dict[str, Any]


def cases() -> list[Any]:
    file = CASES / "docs.jsonl"
    if not file.is_file():
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [pytest.param(json.loads(line), id=json.loads(line)["id"]) for line in lines]


@dataclass
class Outcome:
    """What a tree became."""

    chunks: dict[str, list[Chunk]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)

    def all_chunks(self) -> Iterator[Chunk]:
        for chunks in self.chunks.values():
            yield from chunks

    def holding(self, path: str, text: str) -> list[Chunk]:
        wanted = folded(text)
        return [chunk for chunk in self.chunks.get(path, []) if wanted in everything(chunk)]


@pytest.mark.parametrize("case", cases())
def test_a_docs_tree_becomes_what_its_case_says(case: Case, tmp_path: Path) -> None:
    repo = build(case["input"], tmp_path)
    outcome = read_all(repo / case["input"]["docs_root"])
    assert problems(case["expect"], outcome) == []


def folded(text: str) -> str:
    return " ".join(text.split())


def everything(chunk: Chunk) -> str:
    """All that the index keeps of a chunk, its text in both forms and its heading path."""
    return folded(" \n ".join((*chunk.heading, chunk.text, chunk.search_text)))


def expanded(rule: Any) -> Any:
    """The value that a generator rule stands for."""
    if isinstance(rule, dict) and "$repeat" in rule:
        repeat = rule["$repeat"]
        numbers = range(repeat["from"], repeat["to"] + 1)
        return repeat["join"].join(numbered(repeat["template"], number) for number in numbers)
    if isinstance(rule, dict) and "$concat" in rule:
        return "".join(expanded(part) for part in rule["$concat"])
    return rule


def numbered(template: str, number: int) -> str:
    pattern = re.compile(r"\{i(?::0(\d+)d)?\}")
    return pattern.sub(lambda match: str(number).zfill(int(match[1] or 0)), template)


def build(given: Case, tmp_path: Path) -> Path:
    """The repository of a case, with what its setup adds."""
    repo, outside = tmp_path / "repo", tmp_path / "outside"
    outside.mkdir()
    if "tree" in given:
        shutil.copytree(CASES / given["tree"], repo, symlinks=True)
    repo.mkdir(exist_ok=True)
    for step in given.get("setup", []):
        target = (outside if step["op"] == "write_outside" else repo) / step["path"]
        target.parent.mkdir(parents=True, exist_ok=True)
        match step["op"]:
            case "write" | "write_outside":
                target.write_text(step["text"], encoding="utf-8", newline="")
            case "write_base64":
                target.write_bytes(base64.b64decode(step["base64"]))
            case "generate":
                target.write_text(expanded(step["rule"]), encoding="utf-8", newline="")
            case "symlink":
                target.symlink_to(step["target"].replace("{OUTSIDE}", str(outside)))
            case "gitlink":
                target.mkdir()
    return repo


def read_all(root: Path) -> Outcome:
    """Every regular file below the docs root, read and cut."""
    outcome = Outcome()
    for file in sorted(root.rglob("*")):
        path = file.relative_to(root).as_posix()
        if file.is_symlink():
            outcome.skipped[path] = "symlink"
        elif file.is_dir() and not any(file.iterdir()):
            outcome.skipped[path] = "submodule"
        elif file.is_file():
            try:
                document = load(path, file.read_bytes())
            except UnreadableDocument as unreadable:
                outcome.skipped[path] = unreadable.reason
            else:
                outcome.chunks[path] = chunk_document(document, lambda text: len(text) <= 1200)
    return outcome


def problems(expect: Case, outcome: Outcome) -> list[str]:
    """Every expectation that does not hold."""
    found = [problem for check in CHECKS for problem in check(expect, outcome)]
    choices = expect.get("either", [])
    if choices and all(problems(choice, outcome) for choice in choices):
        found.append(f"none holds of {choices}")
    return found


def check_ids(expect: Case, outcome: Outcome) -> Iterator[str]:
    ids = [chunk.id for chunk in outcome.all_chunks()]
    if len(set(ids)) < len(ids):
        yield "an id occurs twice"
    for path, base in expect.get("ids", {}).items():
        own = [chunk.id for chunk in outcome.chunks.get(path, [])]
        if not own or own != [f"{base}-{n}" for n in range(len(own))] or chunk_prefix(path) != base:
            yield f"ids of {path}: {own}"
    yield from (f"no id {id}" for id in expect.get("exact_ids", []) if id not in ids)


def check_texts(expect: Case, outcome: Outcome) -> Iterator[str]:
    for item in expect.get("find", []):
        if not outcome.holding(item["path"], item["text"]):
            yield f"not found in {item['path']}: {item['text']!r}"
    for text in (*expect.get("absent", []), *expect.get("absent_should", [])):
        for chunk in outcome.all_chunks():
            if text in "\n".join((*chunk.heading, chunk.text, chunk.search_text)):
                yield f"{text!r} is in {chunk.id}"
    for item in (*expect.get("together", []), *expect.get("together_should", [])):
        chunks = outcome.chunks.get(item["path"], [])
        if not any(all(folded(t) in everything(c) for t in item["texts"]) for c in chunks):
            yield f"not together: {item['texts']}"


def check_headings(expect: Case, outcome: Outcome) -> Iterator[str]:
    for item in expect.get("heading_path", []):
        paths = {chunk.heading for chunk in outcome.holding(item["path"], item["text"])}
        if paths != {tuple(item["headings"])}:
            yield f"{item['text']!r} is under {paths}"
    for text in expect.get("no_heading", []):
        for chunk in outcome.all_chunks():
            if any(text in heading for heading in chunk.heading):
                yield f"{text!r} is a heading of {chunk.id}"


def check_places(expect: Case, outcome: Outcome) -> Iterator[str]:
    for item in expect.get("lines", []):
        chunks = outcome.holding(item["path"], item["text"])
        if not any(c.lines[0] <= item["first"] and item["last"] <= c.lines[1] for c in chunks):
            yield f"{item['text']!r} is on lines {[chunk.lines for chunk in chunks]}"
    for item in expect.get("skipped", []):
        if not outcome.skipped.get(item["path"], "").startswith(item["reason"]):
            yield f"{item['path']} is not skipped as {item['reason']}: {outcome.skipped}"
    for chunk in outcome.all_chunks():
        if len(chunk.text) > expect.get("max_chunk_chars", 12_000) or not chunk.text.strip():
            yield f"{chunk.id} has {len(chunk.text)} characters"


CHECKS = (check_ids, check_texts, check_headings, check_places)
