"""A checkout -> the index: the difference is planned, written and tested."""
