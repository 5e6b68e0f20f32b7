"""Tests of ingest/pipeline/."""
