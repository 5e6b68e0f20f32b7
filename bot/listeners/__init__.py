"""Listeners: each reads an event or interaction from Slack, and calls its handler."""
