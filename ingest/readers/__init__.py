"""The bytes of a file -> a Document: shown lines, their blocks, and fields of front matter."""
