"""``python -m tests.chaos.stored_index DATA``: the live index of a data folder -> comparable JSON.

It reads SQLite and Chroma themselves, not by way of the product. Row numbers are left out, and the
commits of documents too: an unchanged document may keep an older one.
"""

import hashlib
import json
import math
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.chaos.processes import plain_environment
from tests.conftest import ROOT

VECTOR_TOLERANCE = 1e-5
QUERIES = {
    "documents": "SELECT path, prefix, signature, title, owner, tags, updated_at FROM documents",
    "chunks": (
        "SELECT chunks.id, path, position, chunks.title, heading, first_line, last_line, text, hash"
        " FROM chunks JOIN documents ON number = document"
    ),
    "words": (
        "SELECT chunks.id, keywords.title, keywords.headings, keywords.path, keywords.body,"
        " keywords.parts FROM keywords JOIN chunks ON chunks.row = keywords.rowid"
    ),
    "page words": (
        "SELECT documents.path, name, body, parts FROM page_keywords"
        " JOIN documents ON number = page_keywords.rowid"
    ),
    "tokens": "SELECT hash, signs FROM tokens",
}


def digest(*parts: object) -> str:
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:16]


def read(data: Path) -> dict[str, Any]:
    """Return tables and vectors of the live index, each as key -> digest or vector."""
    import chromadb  # which takes two seconds, in this process only
    import numpy as np
    from chromadb.config import Settings

    live = data / (data / "current").read_text().strip()
    with closing(sqlite3.connect(live / "pages.sqlite")) as pages:
        meta = dict(pages.execute("SELECT key, value FROM meta"))
        tables: dict[str, Any] = {
            name: {row[0]: digest(*row[1:]) for row in pages.execute(query)}
            for name, query in QUERIES.items()
        }
        for table in ("keywords", "page_keywords"):
            count = pages.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
            tables[f"rows of {table}"] = count
        pages.execute("INSERT INTO keywords (keywords) VALUES ('integrity-check')")
    client = chromadb.PersistentClient(
        str(live / "chroma"), settings=Settings(anonymized_telemetry=False)
    )
    collection = client.get_collection(meta["collection"], embedding_function=None)
    stored = collection.get(include=["embeddings", "metadatas"])
    hashes = [str(rest.get("hash")) for rest in stored["metadatas"] or []]
    embeddings = np.asarray(stored["embeddings"], dtype=np.float64).tolist()
    tables["hashes of vectors"] = dict(zip(stored["ids"], hashes, strict=True))
    tables["vectors"] = dict(zip(stored["ids"], embeddings, strict=True))
    return tables


def stored_index(data: Path) -> dict[str, Any]:
    """Return what ``read`` gives, from a process of its own; what failed is under ``error``."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.chaos.stored_index", str(data)],
        capture_output=True,
        text=True,
        env=plain_environment(),
        cwd=ROOT,
        timeout=120,
        check=False,
    )
    if done.returncode:
        return {"error": done.stderr[-400:]}
    tables: dict[str, Any] = json.loads(done.stdout)
    return tables


def differences(one: dict[str, Any], other: dict[str, Any]) -> list[str]:
    """Return the names of tables that differ, or the reason why one cannot be read."""
    errors = [each["error"] for each in (one, other) if "error" in each]
    names = [
        name for name in one.keys() | other.keys() if not _equal(one.get(name), other.get(name))
    ]
    return errors or sorted(names)


def _equal(one: Any, other: Any) -> bool:
    """Compare two tables; a number may depend a little on the other texts of its batch."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, abs_tol=VECTOR_TOLERANCE)
    if isinstance(one, list) and isinstance(other, list):
        return len(one) == len(other) and all(map(_equal, one, other))
    if isinstance(one, dict) and isinstance(other, dict):
        return one.keys() == other.keys() and all(_equal(one[key], other[key]) for key in one)
    return bool(one == other)


if __name__ == "__main__":
    json.dump(read(Path(sys.argv[1])), sys.stdout)
