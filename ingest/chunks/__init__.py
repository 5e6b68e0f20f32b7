"""A Document -> its chunks, by pure functions."""
