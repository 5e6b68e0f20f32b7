"""Tests of bot/reply/."""
