"""Names and contents of files in, what they can be out: pages, possible pages, or neither."""
