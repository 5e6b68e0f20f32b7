"""Texts -> unit vectors, by a model that runs on this machine."""
