"""Tests of ingest/chunks/."""
