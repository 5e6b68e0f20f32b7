"""Real processes of Footnote, broken from outside, and a count of what people asked and got."""
