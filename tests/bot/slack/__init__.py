"""Tests of bot/slack/."""
