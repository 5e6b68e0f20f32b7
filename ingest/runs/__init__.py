"""Ingest runs: when they start, which process carries them out, and how they ended."""
