"""The Slack edge: events in, replies out. Knows nothing of Claude or Chroma."""
