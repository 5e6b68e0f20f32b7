"""Lines of a page in, what it shows of other files out."""
