"""Tests of bot/runbooks/."""
