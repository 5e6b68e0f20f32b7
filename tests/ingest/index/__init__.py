"""Tests of ingest/index/."""
