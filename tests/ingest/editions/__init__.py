"""Tests of ingest/editions/."""
