"""The index of the docs: built from git with Chroma and a keyword index, and searched.

This file imports nothing, so that importing one part does not load the others.
"""
