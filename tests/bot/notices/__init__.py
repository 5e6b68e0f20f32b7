"""Tests of bot/notices/."""
