"""Owns the index of the docs: knows git, text formats, Chroma and the keyword index.

Imports nothing, so that reading the index stays light.
"""
