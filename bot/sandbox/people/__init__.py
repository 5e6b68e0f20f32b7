"""Actions of people and tests -> changes of the workspace and payloads for the bot."""
