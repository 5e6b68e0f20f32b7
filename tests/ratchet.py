"""Shared cases that fail today, each with what the product lacks.

A case in the list has to fail: one that passes asks to be taken out, and then goes on passing.
"""

FAILS_TODAY: dict[str, str] = {}
