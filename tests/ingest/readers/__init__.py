"""Tests of ingest/readers/."""
