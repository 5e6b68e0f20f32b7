"""The stand-in for the Messages API, checked through the real SDK."""
