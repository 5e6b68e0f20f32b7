"""What people and tests do -> changes of the workspace and payloads for the bot."""
