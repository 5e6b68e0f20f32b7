"""One small reader a format: decoded text of a file -> Reading (shown lines and their blocks)."""
