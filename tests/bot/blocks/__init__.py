"""Tests of bot/blocks/."""
