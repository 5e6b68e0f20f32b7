"""Tests of bot/journal/."""
