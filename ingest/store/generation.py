"""The generation of an index: a number in its metadata that grows with every write."""

import sqlite3


def grow(db: sqlite3.Connection) -> None:
    """Count one more write, in the transaction of that write."""
    db.execute(
        "INSERT INTO meta VALUES ('generation', '1')"
        " ON CONFLICT (key) DO UPDATE SET value = value + 1"
    )


def read(db: sqlite3.Connection) -> int:
    row = db.execute("SELECT value FROM meta WHERE key = 'generation'").fetchone()
    return int(row[0]) if row else 0
