"""Any Slack message -> plain text, and what its text addresses or links. Pure."""
