"""Tests of bot/listeners/."""
