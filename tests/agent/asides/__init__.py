"""Tests of agent/asides/."""
