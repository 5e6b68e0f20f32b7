"""Rows and vectors at rest: Chroma, and SQLite with text, keywords and tokens."""
