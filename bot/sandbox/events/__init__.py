"""Changes of the workspace -> payloads, delivered to the bot until it acknowledges them."""
