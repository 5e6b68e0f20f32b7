"""Verdicts, numbers and other people's words -> the words of a report, wherever it is shown."""

VERDICTS = {
    "answered": "answered",
    "partly": "partly",
    "uncited": "no source",
    "not_in_docs": "not in the docs",
    "retrieval_only": "passages only",
    "no_search": "small talk",
    "failed": "failed",
}
"""Words for each verdict, in the order of the report."""


def one_line(text: str) -> str:
    """Words of people and models in one line, without escape codes and invisible characters."""
    return " ".join("".join(c if c.isprintable() else " " for c in text).split())


def counted(number: int, one: str, many: str | None = None) -> str:
    return f"{number} {one if number == 1 else many or f'{one}s'}"


def verdict_words(verdict: str) -> str:
    return VERDICTS.get(verdict, verdict)


def seconds_words(value: float | None) -> str:
    return "–" if value is None else f"{value:.1f} s"


def cost_words(dollars: float, unpriced: int) -> str:
    more = f" and {counted(unpriced, 'answer')} without a known price" if unpriced else ""
    return f"≈ ${dollars:.2f}{more}"
