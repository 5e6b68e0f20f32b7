"""Case files -> the quality of the search, and the threshold below which a result is weak.

Imports nothing, so that the help of its commands shows at once.
"""
