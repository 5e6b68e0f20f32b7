"""Docs for measurements: part of a real repository if there is one, else copies of the samples."""

import os
from collections.abc import Iterator
from pathlib import Path

from tests.conftest import ROOT

REAL = Path(os.environ.get("FOOTNOTE_SHARED", ROOT.parent / "shared")) / "bench" / "corpora"
SAMPLES = ROOT / "examples" / "docs"

QUESTIONS = (
    "What does error PAY-4031 mean and how do I retry the payout?",
    "How do I roll back a deployment that crashes at start?",
    "KubePodCrashLooping is firing. What should I look at first?",
    "pods are evicted because of disk pressure",
    "Which port does the kubelet listen on?",
    "How are secrets mounted into a container?",
    "set a memory limit for a namespace",
    "I want to take a node out for maintenance without breaking a service. How?",
    "difference between a readiness probe and a liveness probe",
    "kubectl drain just sits there forever. What blocks it?",
    "rotate certificates of the control plane",
    "How many replicas should a stateful set have?",
    "what is --max-retries",
    "who approves a refund above the limit",
    "horizontal pod autoscaler does not scale down",
    "How do I restrict traffic between two namespaces?",
)


def lay_out(folder: Path, characters: int) -> tuple[str, int]:
    """Fill ``folder`` with pages of about ``characters`` in total; return the name and the number
    of docs."""
    real = REAL / "kubernetes-docs"
    name, sources = (
        ("kubernetes-docs", _every_other(real)) if real.is_dir() else ("samples", _copies(SAMPLES))
    )
    laid = 0
    for path, text in sources:
        if laid >= characters:
            break
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        laid += len(text)
    return name, laid


def _every_other(folder: Path) -> Iterator[tuple[str, str]]:
    """Pages from all over the tree, the same at each run."""
    pages = sorted(p for p in folder.rglob("*.md") if p.name != "SOURCE.md" and p.is_file())
    for first in range(7):
        for page in pages[first::7]:
            yield page.relative_to(folder).as_posix(), page.read_text(encoding="utf-8")


def _copies(folder: Path) -> Iterator[tuple[str, str]]:
    pages = sorted(page for page in folder.rglob("*.md") if page.is_file())
    for copy in range(100_000):
        for page in pages:
            path = page.relative_to(folder).as_posix()
            # Other words in each copy: equal texts would be embedded only once.
            text = page.read_text(encoding="utf-8").replace("the ", f"the {copy} ")
            yield f"copy-{copy}/{path}", text
