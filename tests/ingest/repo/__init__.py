"""Tests of ingest/repo/."""
