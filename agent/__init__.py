"""Answers a conversation from the index. Knows Claude, but not Slack or git."""
