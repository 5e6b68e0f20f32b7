"""What Footnote says unasked: changed pages in their threads, and the weekly digest."""
