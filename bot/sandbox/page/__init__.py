"""The workspace -> its page in the browser."""
