"""Report -> one HTML file: no script, nothing loaded from anywhere. Pure.

Every word of it that comes from people, pages or models goes through ``_words``.
"""

from collections.abc import Iterator, Mapping, Sequence
from html import escape
from importlib.resources import files
from itertools import pairwise

from bot.report import Asked, Complaint, Gap, Report
from bot.report.words import VERDICTS, counted, one_line, told_seconds, told_verdict

_CSS = files(__package__) / "report.css"
_BUCKETS = (2.0, 5.0, 10.0, 20.0, 40.0)
_LABELLED_DAYS = 14
_ASKED_SHOWN = 6
_WIDE_DAYS = 45
"""Up to so many days there is room for a number on each."""

Links = Mapping[str, str]


def report_page(made: Report, links: Links) -> str:
    """``links``: answer id -> address of its question in Slack."""
    period = f"{made.begin:%d %b} to {made.end:%d %b %Y}"
    parts = [
        "<!doctype html>",
        '<html lang="en"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width, initial-scale=1">',
        # Even if something slipped through, a browser would neither run nor fetch it.
        '<meta http-equiv="Content-Security-Policy" '
        "content=\"default-src 'none'; style-src 'unsafe-inline'\">",
        f"<title>Footnote, {period}</title>",
        f"<style>{_CSS.read_text(encoding='utf-8')}</style></head><body><main>",
        f'<h1>What was asked, and what the docs said</h1><p class="soft">{period}, UTC</p>',
        *_body(made, links),
        "</main></body></html>",
    ]
    return "\n".join(parts)


def _body(made: Report, links: Links) -> Iterator[str]:
    if not made.answers:
        yield '<section class="card"><p>Nothing was asked in this time.</p></section>'
        return
    yield from _tiles(made)
    yield '<div class="pair">'
    yield from _days(made)
    yield from _bars("By verdict", [(told_verdict(v), n, v) for v, n in made.verdicts.items()])
    yield "</div>"
    yield from _gaps(made.gaps, links)
    yield from _complaints(made.complaints, links)
    yield from _stale(made)
    yield from _bars("Seconds to an answer", _histogram(made.seconds))


def _tiles(made: Report) -> Iterator[str]:
    answered = made.verdicts.get("answered", 0) / made.answers
    tiles = (
        (str(made.answers), f"answers to {counted(made.askers, 'person', 'people')}"),
        (f"{answered:.0%}", "answered from the docs"),
        (str(sum(len(gap.asked) for gap in made.gaps)), "had no answer in the docs"),
        (f"{made.thumbs_up} / {len(made.complaints)}", "thumbs up / down"),
        (f"{told_seconds(made.p50)}", f"median; p95 {told_seconds(made.p95)}"),
        (f"{made.searches_per_answer:.1f}", "searches an answer"),
        (f"${made.cost_usd:.2f}", "model cost" + _unpriced(made)),
        (str(made.humans_called), "calls for a human"),
    )
    yield '<div class="tiles">'
    for value, label in tiles:
        yield (
            f'<div class="tile"><b>{_words(value)}</b>'
            f'<span class="soft small">{_words(label)}</span></div>'
        )
    yield "</div>"


def _unpriced(made: Report) -> str:
    return f"; {made.unpriced} without a price" if made.unpriced else ""


def _days(made: Report) -> Iterator[str]:
    most = max(sum(day.verdicts.values()) for day in made.days) or 1
    yield '<section class="card"><h2>Answers a day</h2>'
    wide = len(made.days) <= _WIDE_DAYS
    yield f'<div class="days{"" if wide else " narrow"}">'
    for day in made.days:
        total = sum(day.verdicts.values())
        told = ", ".join(
            f"{count} {told_verdict(verdict)}" for verdict, count in day.verdicts.items()
        )
        label = _words(f"{day.day}: {told or 'none'}")
        yield f'<div class="day" title="{label}" role="img" aria-label="{label}">'
        if total and wide:
            yield f'<div class="soft small" style="text-align:center">{total}</div>'
        for verdict in reversed(list(day.verdicts)):
            height = 85 * day.verdicts[verdict] / most
            yield f'<span style="height:{height:.2f}%;background:{_colour(verdict)}"></span>'
        yield "</div>"
    yield f'</div><div class="names soft small{"" if wide else " narrow"}">'
    step = max(1, len(made.days) // (_LABELLED_DAYS if wide else _LABELLED_DAYS // 2))
    for number, day in enumerate(made.days):
        label = day.day[8:] if wide else day.day[5:]
        yield f"<span>{label if number % step == 0 else ''}</span>"
    yield "</div></section>"


def _bars(title: str, rows: Sequence[tuple[str, int, str]]) -> Iterator[str]:
    most = max((count for _, count, _ in rows), default=0) or 1
    yield f'<section class="card"><h2>{_words(title)}</h2>'
    for label, count, verdict in rows:
        width = 100 * count / most
        yield (
            f'<div class="row"><span class="small">{_words(label)}</span>'
            f'<i style="width:{width:.1f}%;background:{_colour(verdict)}"></i><b>{count}</b></div>'
        )
    yield "</section>"


def _histogram(seconds: Sequence[float]) -> list[tuple[str, int, str]]:
    edges = (0.0, *_BUCKETS, float("inf"))
    rows = []
    for low, high in pairwise(edges):
        label = f"over {low:g} s" if high == float("inf") else f"{low:g} to {high:g} s"
        rows.append((label, sum(low <= value < high for value in seconds), ""))
    return rows


def _gaps(gaps: Sequence[Gap], links: Links) -> Iterator[str]:
    yield '<section class="card"><h2>The docs had no answer to</h2>'
    if not gaps:
        yield '<p class="soft">Nothing: every question found an answer.</p>'
    for gap in gaps:
        yield f'<div class="entry"><div class="count">{len(gap.asked)} ×</div><div class="what">'
        yield f"<p>{_words(gap.topic)}</p>"
        if gap.variants:
            also = " · ".join(_words(words) for words in gap.variants[:_ASKED_SHOWN])
            yield f'<p class="small">also: {also}</p>'
        places = [_place(asked, links) for asked in gap.asked[:_ASKED_SHOWN]]
        if more := len(gap.asked) - len(places):
            places.append(f"and {more} more")
        yield f'<p class="soft small">{" · ".join(places)}</p>'
        if nearest := gap.asked[0].nearest:
            yield f'<p class="soft small">nearest: <code>[{_words(nearest)}]</code></p>'
        yield "</div></div>"
    yield "</section>"


def _complaints(complaints: Sequence[Complaint], links: Links) -> Iterator[str]:
    if not complaints:
        return
    yield '<section class="card"><h2>Thumbs down</h2>'
    for complaint in complaints:
        asked = complaint.asked
        yield '<div class="entry"><div class="count">↓</div><div class="what">'
        reason = _words(complaint.reason) or '<span class="soft">no reason given</span>'
        yield f"<p>{reason}</p>"
        pages = ", ".join(f"<code>{_words(page)}</code>" for page in complaint.pages)
        about = f"{_place(asked, links)} · {_words(told_verdict(asked.verdict))}"
        yield f'<p class="soft small">{about}{f" · cited {pages}" if pages else ""}</p>'
        yield "</div></div>"
    yield "</section>"


def _stale(made: Report) -> Iterator[str]:
    if not made.stale:
        return
    yield '<section class="card"><h2>Old pages that answers rest on</h2><table>'
    yield '<tr><th>Page</th><th>Owner</th><th class="number">Answers</th>'
    yield '<th class="number">Unchanged for</th></tr>'
    for page in made.stale:
        yield (
            f"<tr><td>{_words(page.info.title)}<br>"
            f'<code class="soft">{_words(page.info.path)}</code></td>'
            f"<td>{_words(page.info.owner or '–')}</td>"
            f'<td class="number">{page.answers}</td><td class="number">{page.days} days</td></tr>'
        )
    yield "</table></section>"


def _place(asked: Asked, links: Links) -> str:
    when = f"{asked.at:%d %b %H:%M}"
    if link := links.get(asked.answer_id):
        return f'<a href="{_words(link)}" rel="noreferrer">{when}</a>'
    return f"{when} <code>{_words(f'{asked.channel} {asked.ts}'.strip())}</code>"


def _colour(verdict: str) -> str:
    return f"var(--{verdict})" if verdict in VERDICTS else "var(--bar)"


def _words(text: str) -> str:
    return escape(one_line(text), quote=True)
