"""The shared cases of small docs trees: what is found, under which heading, on which lines."""

import base64
import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ingest.chunker import chunk_prefix
from ingest.documents import Passage
from ingest.index import open_index
from ingest.pipeline import run_ingest
from ingest.settings import IndexSettings
from tests.ingest.hashing import HashingEmbedder

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

    pages: dict[str, tuple[Passage, ...]] = field(default_factory=dict)
    skipped: dict[str, str] = field(default_factory=dict)
    found: dict[str, list[str]] = field(default_factory=dict)
    """Paths of the first results of each query."""

    def all(self) -> Iterator[Passage]:
        for passages in self.pages.values():
            yield from passages

    def holding(self, path: str, text: str) -> list[Passage]:
        wanted = folded(text)
        return [passage for passage in self.pages.get(path, ()) if wanted in everything(passage)]


@pytest.mark.parametrize("case", cases())
def test_a_docs_tree_becomes_what_its_case_says(case: Case, tmp_path: Path) -> None:
    repo = build(case["input"], tmp_path)
    outcome = ingested(repo, case, tmp_path / "data")
    assert problems(case["expect"], outcome) == []


def folded(text: str) -> str:
    return " ".join(text.split())


def everything(passage: Passage) -> str:
    return folded(" \n ".join((*passage.heading, passage.text)))


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
    git(repo, "init", "-q")
    git(repo, "add", "-A")
    for step in given.get("setup", []):
        if step["op"] == "gitlink":
            git(
                repo,
                "update-index",
                "--add",
                "--cacheinfo",
                f"160000,{step['commit']},{step['path']}",
            )
    git(repo, "commit", "-q", "-m", "docs")
    return repo


def git(repo: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=docs", "-c", "user.email=docs@example.com")
    subprocess.run(("git", "-C", str(repo), *identity, *arguments), check=True)


def ingested(repo: Path, case: Case, data_dir: Path) -> Outcome:
    settings = IndexSettings(
        docs_repo=str(repo),
        docs_root=case["input"]["docs_root"].removeprefix("."),
        data_dir=data_dir,
    )
    embedder = HashingEmbedder()
    index = open_index(settings, embedder)
    report = run_ingest(settings, index, embedder)
    outcome = Outcome(skipped={skipped.path: skipped.reason for skipped in report.skipped})
    for info in index.documents():
        page = index.page(info.path)
        outcome.pages[info.path] = page.passages if page else ()
    for item in case["expect"].get("search", []):
        passages = index.search(item["query"], k=3).passages
        outcome.found[item["query"]] = [passage.path for passage in passages]
    index.close()
    return outcome


def problems(expect: Case, outcome: Outcome) -> list[str]:
    """Every expectation that does not hold."""
    found = [problem for check in CHECKS for problem in check(expect, outcome)]
    choices = expect.get("either", [])
    if choices and all(problems(choice, outcome) for choice in choices):
        found.append(f"none holds of {choices}")
    return found


def check_ids(expect: Case, outcome: Outcome) -> Iterator[str]:
    ids = [chunk.id for chunk in outcome.all()]
    if len(set(ids)) < len(ids):
        yield "an id occurs twice"
    for path, base in expect.get("ids", {}).items():
        own = [chunk.id for chunk in outcome.pages.get(path, ())]
        if not own or own != [f"{base}-{n}" for n in range(len(own))] or chunk_prefix(path) != base:
            yield f"ids of {path}: {own}"
    yield from (f"no id {id}" for id in expect.get("exact_ids", []) if id not in ids)


def check_texts(expect: Case, outcome: Outcome) -> Iterator[str]:
    for item in expect.get("find", []):
        if not outcome.holding(item["path"], item["text"]):
            yield f"not found in {item['path']}: {item['text']!r}"
    for text in (*expect.get("absent", []), *expect.get("absent_should", [])):
        for chunk in outcome.all():
            if text in "\n".join((*chunk.heading, chunk.text)):
                yield f"{text!r} is in {chunk.id}"
    for item in (*expect.get("together", []), *expect.get("together_should", [])):
        chunks = outcome.pages.get(item["path"], ())
        if not any(all(folded(t) in everything(c) for t in item["texts"]) for c in chunks):
            yield f"not together: {item['texts']}"


def check_headings(expect: Case, outcome: Outcome) -> Iterator[str]:
    for item in expect.get("heading_path", []):
        paths = {chunk.heading for chunk in outcome.holding(item["path"], item["text"])}
        if paths != {tuple(item["headings"])}:
            yield f"{item['text']!r} is under {paths}"
    for text in expect.get("no_heading", []):
        for chunk in outcome.all():
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
    for item in expect.get("search", []):
        if item["path"] not in outcome.found[item["query"]]:
            yield f"{item['query']!r} finds {outcome.found[item['query']]}"
    for chunk in outcome.all():
        if len(chunk.text) > expect.get("max_chunk_chars", 12_000) or not chunk.text.strip():
            yield f"{chunk.id} has {len(chunk.text)} characters"


CHECKS = (check_ids, check_texts, check_headings, check_places)
