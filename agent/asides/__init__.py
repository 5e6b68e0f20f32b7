"""Requests beside the conversation: the web search and the check of retrieved passages."""
