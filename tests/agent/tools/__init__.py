"""Tests of agent/tools/."""
