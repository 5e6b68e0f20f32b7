"""Events and interactions from Slack: read here, and handed to a room below."""
