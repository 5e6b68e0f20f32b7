"""What Slack sends, and who handles it: thin, each listener hands over to a room below."""
