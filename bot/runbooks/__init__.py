"""The text of an alert -> the part of the docs that says what to do about it."""
