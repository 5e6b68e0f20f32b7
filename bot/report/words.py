"""How a report says verdicts, numbers and other people's words, wherever it is shown."""

VERDICTS = {
    "answered": "answered",
    "partly": "partly",
    "uncited": "no source",
    "not_in_docs": "not in the docs",
    "retrieval_only": "passages only",
    "no_search": "small talk",
    "failed": "failed",
}
"""In the order in which they are told, with the words for people."""


def one_line(text: str) -> str:
    """Words of people and models without line ends, escape codes and other invisible things."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def told_verdict(verdict: str) -> str:
    return VERDICTS.get(verdict, verdict)


def told_seconds(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def told_cost(dollars: float, unpriced: int) -> str:
    more = f" and {counted(unpriced, 'answer')} without a known price" if unpriced else ""
    return f"≈ ${dollars:.2f}{more}"
