"""Tests of ingest/readers/markup/."""
