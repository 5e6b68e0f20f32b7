"""A Document -> its chunks. Pure."""
