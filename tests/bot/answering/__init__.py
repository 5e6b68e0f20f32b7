"""Tests of bot/answering/."""
