"""The journal: the questions that Footnote has seen, its answers, and votes on them."""
