"""Texts in several documents in, the one to show and the places of the others out."""
