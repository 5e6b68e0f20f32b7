"""A small docs tree, its index, and what can be asked of both."""

import shutil
import subprocess
from base64 import b64decode
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ingest.documents import DocumentInfo, IngestReport, Passage, SearchResult
from ingest.embedding.embedder import Embedder
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.cases import Json, carry_out, folded, table


@dataclass
class Tree:
    """The repository that is made from a case, beside a folder outside of it."""

    repo: Path
    outside: Path
    submodules: dict[str, str] = field(default_factory=dict)
    generated: list[str] = field(default_factory=list)
    """Paths of files that were made by a rule."""

    def place(self, path: str) -> Path:
        target = self.repo / path
        target.parent.mkdir(parents=True, exist_ok=True)
        return target


@dataclass
class Indexed:
    """What a tree became."""

    tree: Tree
    docs: Path
    index: Index
    report: IngestReport
    pages: dict[str, tuple[Passage, ...]]
    infos: dict[str, DocumentInfo]

    def all(self) -> Iterator[Passage]:
        for passages in self.pages.values():
            yield from passages

    def holding(self, path: str, text: str) -> list[Passage]:
        wanted = folded(text)
        return [passage for passage in self.pages.get(path, ()) if wanted in everything(passage)]

    def search(self, query: str, k: int | None = None) -> SearchResult:
        return self.index.search(query, k=k)


def everything(passage: Passage) -> str:
    return folded(" \n ".join((*passage.heading, passage.text)))


def build(folder: Path, setup: list[Json], tree: Path | None = None) -> Tree:
    """The repository, with all that its setup adds, committed."""
    built = Tree(folder / "repo", folder / "outside")
    built.outside.mkdir()
    if tree:
        shutil.copytree(tree, built.repo, symlinks=True)
    built.repo.mkdir(exist_ok=True)
    for op in setup:
        carry_out(OPERATIONS, op, built)
    _git(built.repo, "init", "-q")
    _git(built.repo, "add", "-A")
    for path, commit in built.submodules.items():
        _git(built.repo, "update-index", "--add", "--cacheinfo", f"160000,{commit},{path}")
    _git(built.repo, "commit", "-q", "-m", "docs")
    return built


def ingest(tree: Tree, docs_root: str, data_dir: Path, embedder: Embedder) -> Indexed:
    root = docs_root.removeprefix(".")
    settings = IndexSettings(docs_repo=str(tree.repo), docs_root=root, data_dir=data_dir)
    index = open_index(settings, embedder)
    report = run_ingest(settings, index, embedder)
    infos = {info.path: info for info in index.documents()}
    pages = {path: page.own if (page := index.document(path)) else () for path in infos}
    return Indexed(tree, tree.repo / root, index, report, pages, infos)


def write(tree: Tree, path: str, text: str) -> None:
    tree.place(path).write_text(text, encoding="utf-8", newline="")


def write_base64(tree: Tree, path: str, base64: str) -> None:
    tree.place(path).write_bytes(b64decode(base64))


def write_outside(tree: Tree, path: str, text: str) -> None:
    target = tree.outside / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8", newline="")


def generate(tree: Tree, path: str, rule: str) -> None:
    tree.generated.append(path)
    write(tree, path, rule)


def symlink(tree: Tree, path: str, target: str) -> None:
    tree.place(path).symlink_to(target.replace("{OUTSIDE}", str(tree.outside)))


def gitlink(tree: Tree, path: str, commit: str, url: str) -> None:
    """A submodule as it is where nobody fetched it."""
    tree.place(path).mkdir()
    tree.submodules[path] = commit
    with (tree.repo / ".gitmodules").open("a", encoding="utf-8") as file:
        file.write(f'[submodule "{path}"]\n\tpath = {path}\n\turl = {url}\n')


def _git(repo: Path, *arguments: str) -> None:
    identity = ("-c", "user.name=docs", "-c", "user.email=docs@example.com")
    subprocess.run(("git", "-C", str(repo), *identity, *arguments), check=True)


OPERATIONS = table(write, write_base64, write_outside, generate, symlink, gitlink)
