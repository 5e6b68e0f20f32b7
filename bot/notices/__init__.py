"""Messages that Footnote posts by itself: notes on changed documents, and the weekly digest."""
