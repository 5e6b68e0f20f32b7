"""Ingest runs: their schedule, their process, and their record."""
