"""Line breaks in the code of an answer: one that cuts a documented command is no blank."""

import pytest

from agent.grounding import CitableText, ground


def marked(docs: str, code: str, question: str = "") -> list[str]:
    """Return the reasons of the marks for a fence with ``code``."""
    answer = f"Run this [c-0]:\n\n```\n{code}\n```"
    grounded = ground(answer, [CitableText("c-0", docs)], question=question)
    return [each.reason for each in grounded.unsupported]


def fence(code: str) -> str:
    return f"Do this:\n\n```\n{code}\n```\n\nThen wait."


@pytest.mark.parametrize(
    ("docs", "code", "word"),
    [
        (fence("kubectl delete pod web-1 --dry-run=client -n a"), None, "--dry-run=client"),
        (fence("rm -rf /srv/cache/old backups"), "rm -rf /srv/cache/old\nbackups", "backups"),
        ("It is `svc drain web after 30`.", "svc drain web\nafter 30", "after"),
        ("Run svc drain web after 30 in plain words.", "svc drain web\nafter 30", "after"),
        (fence("svc wipe <host> only old"), "svc wipe db-7\nonly old", "only"),
        (fence("$ svc wipe all only old"), "$ svc wipe all\n\nonly old", "only"),
        (fence("svc wipe all only old"), "svc wipe all\n# take care\nonly old", "only"),
        (fence("svc wipe all \\\n  only old"), "svc wipe all\n  only old", "only"),
        (fence("svc 'wipe it' all only old"), "svc 'wipe\nit' all\nonly old", "only"),
        ("Don't run `svc wipe all only old`", "svc wipe all\nonly old", "only"),
        (fence("svc wipe –all only"), "svc wipe --all\nonly", "only"),
    ],
)
def test_a_line_break_that_cuts_a_documented_command_is_marked(
    docs: str, code: str | None, word: str
) -> None:
    code = code or "kubectl delete pod web-1\n--dry-run=client -n a"
    assert any(each.endswith(f"go on with {word}") for each in marked(docs, code, "db-7"))


@pytest.mark.parametrize(
    ("docs", "code"),
    [
        # the break is in the docs
        (fence("svc wipe all\nonly old"), "svc wipe all\nonly old"),
        (fence("svc wipe all only old\nsvc wipe all\nonly old"), "svc wipe all\nonly old"),
        ("`make build`, `make test`, `make build make test`", "make build\nmake test"),
        # the code goes on over the break
        (fence("svc wipe all only old"), "svc wipe all \\\n  only old"),
        (fence("svc wipe all \\\n  only old"), "svc wipe all only old"),
        (fence("svc list | svc wipe && svc up"), "svc list |\nsvc wipe &&\nsvc up"),
        (fence("requests | where x | take 5"), "requests\n| where x\n| take 5"),
        (fence("for i in a b; do svc up $i; done"), "for i in a b; do\n  svc up $i;\ndone"),
        (fence('{"a": [1, 2], "b": {"c": 3}}'), '{\n"a": [1, 2],\n"b":\n{"c": 3}\n}'),
        (fence("f(a, b + c)"), "f(\n  a, b\n  + c\n)"),
        (fence('psql -c "select a from b"'), 'psql -c "select a\nfrom b"'),
        (fence("DELETE FROM jobs WHERE id = 7;"), "DELETE FROM jobs\nWHERE id = 7;"),
        ("Use `select a from b where c = 1;`.", "select a\nfrom b\nwhere c = 1;"),
        (fence("svc up a; svc up b"), "svc up a;\nsvc up b"),
    ],
)
def test_a_line_break_that_means_a_blank_stays_unmarked(docs: str, code: str) -> None:
    assert marked(docs, code) == []


def test_a_line_break_in_a_code_span_is_a_blank_as_markdown_has_it() -> None:
    docs = CitableText("c-0", fence("svc wipe all only old"))
    assert ground("Run `svc wipe all\nonly old` [c-0].", [docs]).verdict == "answered"
    assert ground("Run `svc wipe all \\\nonly old` [c-0].", [docs]).verdict == "partly"


def test_a_cut_line_is_named_under_its_block() -> None:
    docs = CitableText("c-0", fence("svc stop web\nsvc wipe all only old"))
    grounded = ground("Run [c-0]:\n```\nsvc stop web\nsvc wipe all\nonly old\n```", [docs])
    assert "(⚠ shortened: line 2 of this block)" in grounded.text
    assert grounded.verdict == "partly"
