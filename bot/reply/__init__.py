"""Messages to Slack: into a thread, in private, as a stream, and as a status."""
