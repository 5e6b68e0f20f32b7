"""Questions and answers -> rows: what Footnote has seen, claimed and answered."""
