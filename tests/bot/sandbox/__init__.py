"""Tests of the sandbox workspace."""
