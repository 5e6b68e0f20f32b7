"""Tests of bot/report/."""
