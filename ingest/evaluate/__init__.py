"""Case files -> how well the search does on them, and the threshold below which a result is weak.

Imports nothing, so that the help of its commands shows at once.
"""
