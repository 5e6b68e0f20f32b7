"""A Web API call of the bot -> a change of the workspace and Slack's response."""
