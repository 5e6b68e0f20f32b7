"""Tests of agent/grounding/."""
