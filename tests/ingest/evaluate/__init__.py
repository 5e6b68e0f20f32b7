"""Tests of ingest/evaluate/."""
