"""Tests of ingest/runs/."""
