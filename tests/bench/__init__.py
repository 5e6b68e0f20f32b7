"""What the product costs in time, memory and disk, against the obvious way of doing the same."""
