"""A checkout -> the index: planned, written, tested; only the difference is written."""
