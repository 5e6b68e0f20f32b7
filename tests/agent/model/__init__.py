"""Tests of agent/model/."""
