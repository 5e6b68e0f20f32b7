"""What happened in the workspace -> payloads, delivered to the bot until it acknowledges."""
