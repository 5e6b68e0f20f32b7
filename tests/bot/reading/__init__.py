"""Tests of bot/reading/."""
