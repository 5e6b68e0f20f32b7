"""The connection to the Slack workspace: Web API clients, events, people, links to messages."""
