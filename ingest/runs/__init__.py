"""When the docs are ingested, by whom, and how it ended."""
