"""Time, memory and disk that the product uses, compared with the obvious way of doing the same."""
