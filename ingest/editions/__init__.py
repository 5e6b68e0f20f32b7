"""Paths and texts of all documents in, their pages, versions and languages out, and near-copies."""
