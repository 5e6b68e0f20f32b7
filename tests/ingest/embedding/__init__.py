"""Tests of ingest/embedding/."""
