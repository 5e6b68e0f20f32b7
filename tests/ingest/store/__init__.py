"""Tests of ingest/store/."""
