"""Tests of agent/evals/."""
