"""The bytes of a file -> a Document: shown lines, their blocks, and what front matter says."""
