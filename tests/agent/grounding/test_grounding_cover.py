"""The text that a citation covers in every position: all of it is checked against ``c-0``."""

import pytest

from agent.grounding import CitableText, ground

DOCS = """The failover takes 40 seconds.

```
pg_ctl promote
psql -c "RELOAD"
```

The lag must be below 5 seconds.
"""
PLACES = {
    "behind the last item of a list": "1. `pg_ctl promote`\n2. Wait {n} seconds\n3. Lag: 5 s {id}",
    "in a line of its own": "Run `pg_ctl promote`.\n\nIt takes {n} seconds.\n\n{id}",
    "in a line that names the source": "Wait {n} seconds.\n\nThen promote.\n\nBoth are from {id}.",
    "in a line of another language": "Das dauert {n} Sekunden.\n\nQuelle: {id}",
    "below several blocks of code": (
        "Promote:\n\n```\npg_ctl promote\n```\n\nthen, after {n} seconds:\n\n"
        '```\npsql -c "RELOAD"\n```\n\n{id}'
    ),
    "in the text below a list": "- `pg_ctl promote`\n- wait {n} seconds\n\nLag is below 5 s {id}.",
    "in the heading": "## Failover {id}\n\nIt takes {n} seconds.\n\nRun `pg_ctl promote`.",
    "in the line before a list": "Do this {id}:\n\n- `pg_ctl promote`\n- wait {n} seconds",
}


@pytest.mark.parametrize("place", PLACES)
def test_a_citation_covers_what_it_is_meant_for(place: str) -> None:
    def marked(seconds: int) -> list[str]:
        answer = PLACES[place].format(n=seconds, id="[c-0]")
        found = ground(answer, [CitableText("c-0", DOCS)]).unsupported
        assert all(each.reason.startswith("not in c-0") for each in found)
        return [each.span for each in found]

    assert marked(40) == []
    assert len(marked(41)) == 1


@pytest.mark.parametrize(
    "answer",
    [
        "Promote it [c-0].\n\nIt takes 40 seconds.",
        "It takes 40 seconds.\n\nPromote it, then reload [c-0].",
        "- promote it [c-0]\n- it takes 40 seconds",
        "## Failover [c-0]\n\nPromote it.\n\n## Restore\n\nIt takes 40 seconds.",
    ],
)
def test_a_citation_covers_no_other_paragraph_item_or_section(answer: str) -> None:
    found = ground(answer, [CitableText("c-0", DOCS)]).unsupported
    assert [each.reason for each in found] == ["no source cited; it is in c-0"]
