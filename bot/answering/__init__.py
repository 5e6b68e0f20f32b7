"""A Question -> a reply: decided, queued, answered, posted, and recovered after a crash."""
