"""``python -m tests.chaos.stored_index DATA``: the live index of a data folder -> comparable JSON.

It reads SQLite and Chroma themselves, not by way of the product. Row numbers are left out, and the
commits of documents too: an unchanged document may keep an older one.
"""

import hashlib
import json
import sqlite3
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.chaos.processes import plain_environment
from tests.conftest import ROOT

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
    """Return tables and vectors of the live index, each as key -> digest."""
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
    embeddings = np.round(np.asarray(stored["embeddings"], dtype=np.float64), 4).tolist()
    tables["vectors"] = {
        name: digest(vector, rest.get("hash"))
        for name, vector, rest in zip(
            stored["ids"], embeddings, stored["metadatas"] or [], strict=True
        )
    }
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
    names = [name for name in one.keys() | other.keys() if one.get(name) != other.get(name)]
    return errors or sorted(names)


if __name__ == "__main__":
    json.dump(read(Path(sys.argv[1])), sys.stdout)
