"""The three packages, tested from the outside."""
