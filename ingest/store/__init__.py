"""Storage of the index: vectors in Chroma; documents, keywords and tokens in SQLite."""
