"""Slack's emoji names -> characters."""

from emoji import emojize

_OTHER_NAMES = {"octagonal_sign": "stop_sign"} | {
    f"large_{color}_circle": f"{color}_circle" for color in ("orange", "yellow", "green")
}
"""Names in Slack that the library lists under another name."""


def emoji(name: str) -> str:
    """Return the character without a skin tone, or ``:name:`` for an unknown name."""
    stem = name.partition("::")[0]
    for candidate in (_OTHER_NAMES.get(stem, stem), stem.replace("-", "_")):
        code = f":{candidate}:"
        character = emojize(code, language="alias")
        if character != code:
            return character
    return f":{name}:"
