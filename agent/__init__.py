"""Answers a conversation from the index: knows Claude, and nothing of Slack or git."""
