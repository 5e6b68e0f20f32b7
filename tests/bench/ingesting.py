"""Ingest against the obvious pipeline: windows, Chroma's embedding class, ``collection.add``."""

import shutil
from collections.abc import Callable
from contextlib import closing
from functools import partial
from importlib import metadata
from pathlib import Path
from typing import Any

import chromadb
from chromadb.config import Settings as ChromaSettings
from chromadb.utils.embedding_functions.onnx_mini_lm_l6_v2 import ONNXMiniLM_L6_V2

from ingest.embedding.embedder import (
    TOKENIZER,
    WEIGHTS_FILE,
    WEIGHTS_PACKAGE,
    Embedder,
    open_embedder,
)
from ingest.index import Index, open_index
from ingest.pipeline.run import run_ingest
from ingest.settings import IndexSettings
from tests.bench.docs import lay_out
from tests.bench.measure import Sheet, disk_mb, resident_mb, seconds
from tests.ingest.embedding.hashing import HashingEmbedder

WINDOW, OVERLAP = 1_200, 200
ADDED_AT_ONCE = 256
TIMES = 20


class SameWeights(ONNXMiniLM_L6_V2):
    """Chroma's embedding class with our weights, so that it downloads nothing."""

    def __init__(self, folder: Path) -> None:
        self.DOWNLOAD_PATH = folder
        super().__init__(preferred_providers=["CPUExecutionProvider"])
        files = folder / self.EXTRACTED_FOLDER_NAME
        files.mkdir(parents=True)
        weights = metadata.distribution(WEIGHTS_PACKAGE).locate_file(WEIGHTS_FILE)
        shutil.copy(str(weights), files / "model.onnx")
        shutil.copy(TOKENIZER, files / "tokenizer.json")

    def _download_model_if_not_exists(self) -> None:
        pass


def measure_ingest(sheet: Sheet, work: Path, characters: int) -> None:
    docs = work / "docs"
    name, laid = lay_out(docs, characters)
    sheet.head(f"Ingest of {laid:,} characters of {name}")
    settings = IndexSettings(docs_repo=str(docs), data_dir=work / "data")
    embedder = open_embedder(
        settings.embedder_source
    )  # the int8 graph is made once a machine, not at each ingest
    with closing(open_index(settings, embedder)) as index:
        run = partial(run_ingest, settings, index, embedder)
        cold = seconds(run)
        obvious = seconds(partial(_obvious, docs, work / "obvious"))
        ratio = obvious / cold
        sheet.line("cold", f"{cold:.1f} s, {laid / cold:,.0f} characters/s")
        sheet.line("obvious pipeline", f"{obvious:.1f} s, {laid / obvious:,.0f} characters/s")
        sheet.line(
            "cold, as fast as the obvious one", f"{ratio:.2f}x", aim=">= 2x", reached=ratio >= 2
        )
        nothing = min(seconds(run) for _ in range(3))
        sheet.line(
            "nothing changed",
            f"{nothing:.3f} s, {nothing / cold:.2%} of cold",
            aim="<= 1 %",
            reached=nothing <= cold / 100,
        )
        page = sorted(docs.rglob("*.md"))[0]
        page.write_text(page.read_text(encoding="utf-8") + "\n\nOne more sentence.\n")
        changed = seconds(run)
        sheet.line("one page changed", f"{changed:.3f} s, {changed / cold:.2%} of cold")
        sheet.line("memory of this process", f"{resident_mb():.0f} MB")


def _obvious(docs: Path, folder: Path) -> None:
    client = chromadb.PersistentClient(
        folder / "chroma", settings=ChromaSettings(anonymized_telemetry=False)
    )
    embedding: Any = SameWeights(folder / "model")  # Chroma types its own class too narrowly
    collection = client.create_collection("docs", embedding_function=embedding)
    ids: list[str] = []
    texts: list[str] = []
    for page in sorted(docs.rglob("*.md")):
        text = page.read_text(encoding="utf-8")
        for first in range(0, max(1, len(text) - OVERLAP), WINDOW - OVERLAP):
            ids.append(f"{page.relative_to(docs)}-{first}")
            texts.append(text[first : first + WINDOW])
    for first in range(0, len(ids), ADDED_AT_ONCE):
        part = slice(first, first + ADDED_AT_ONCE)
        collection.add(ids=ids[part], documents=texts[part])
    client.close()  # type: ignore[attr-defined]  # on the class, not the interface


def measure_growth(sheet: Sheet, work: Path) -> None:
    """Repeat the same work, to see memory that is not released."""
    sheet.head(f"{TIMES} times the same (vectors by hashing: this is about memory and disk)")
    docs = work / "docs"
    lay_out(docs, 300_000)
    settings = IndexSettings(docs_repo=str(docs), data_dir=work / "data")
    pages = sorted(docs.rglob("*.md"))

    def again(index: Index, embedder: Embedder, number: int) -> None:
        page = pages[number % len(pages)]
        page.write_text(page.read_text(encoding="utf-8") + f"\n\nChange {number}.\n")
        run_ingest(settings, index, embedder)
        index.search("the last change")

    held = _repeat(settings, again, rebuild=False)
    sheet.line(
        f"memory over {TIMES} re-ingests",
        f"{held[4]:.0f} -> {held[-1]:.0f} MB ({held[-1] - held[4]:+.1f} since the fifth)",
        aim="flat (< 5 %)",
        reached=held[-1] < held[4] * 1.05,
    )
    once = disk_mb(settings.data_dir)
    held = _repeat(settings, again, rebuild=True)
    after = disk_mb(settings.data_dir)
    sheet.line(
        f"disk after {TIMES} rebuilds",
        f"{once:.1f} -> {after:.1f} MB ({after / once:.2f}x)",
        aim="<= 3x",
        reached=after <= 3 * once,
    )
    sheet.line(f"memory over {TIMES} rebuilds", f"{held[4]:.0f} -> {held[-1]:.0f} MB")


def _repeat(
    settings: IndexSettings, again: Callable[[Index, Embedder, int], None], *, rebuild: bool
) -> list[float]:
    """Memory in use after each round. With ``rebuild``, each round has another embedder."""
    held = []
    with closing(open_index(settings, HashingEmbedder())) as index:
        again(index, HashingEmbedder(), TIMES)
        for number in range(TIMES):
            again(index, HashingEmbedder(str(number + 2) if rebuild else "1"), number)
            held.append(resident_mb())
    return held
