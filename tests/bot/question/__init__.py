"""Tests of bot/question/."""
