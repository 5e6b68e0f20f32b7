"""Lines of Markdown and HTML in, the same lines without their wrapping out."""
