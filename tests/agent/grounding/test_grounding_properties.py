"""Properties of ``ground`` for any text of a model, a page or a person."""

import re

from hypothesis import example, given, settings
from hypothesis import strategies as st

from agent.grounding import CitableText, ground
from agent.grounding.statements import read_blocks

PIECES = st.sampled_from(
    [
        *("[", "]", "(", ")", "`", "``", "```", "\n", "\n\n", "    ", "- ", "1. ", "> ", "|", "\\"),
        *(
            "[a-0]",
            "[a/b c-1]",
            "[made-up-7]",
            "[made-up.md]",
            "【a-0】",
            "[a-0, made-up-7]",
            "(⚠ ",
        ),
        *(
            "kubectl get pods -n shop",
            "--force",
            "5 minutes",
            "10,000",
            "2026-11-29",
            "/etc/x.conf",
        ),
        *(
            "http://evil.example/x",
            "“quoted”",
            '"',
            "’",
            "—",
            "\u200b",
            "\u00a0",
            "\x00",
            "é",
            "🙂",
        ),
        *(
            " and ",
            ", ",
            ".",
            ":",
            "<pod>",
            "{{ x }}",
            "${X}",
            "PAY-4031",
            "4",
            "%",
            "5m",
            "12:3",
            "May 5",
        ),
    ]
)
TEXTS = st.one_of(st.text(max_size=200), st.lists(PIECES, max_size=40).map("".join))
IDS = st.sampled_from(["a-0", "a/b c-1", "x (old)-2", "[odd]-3", "made_up-0"])
SOURCES = st.lists(
    st.builds(CitableText, IDS, TEXTS), max_size=4, unique_by=lambda source: source.id
)


@settings(max_examples=300, deadline=None)
@given(TEXTS, SOURCES, TEXTS, TEXTS)
@example("[a[made-up-7]-0]", [CitableText("a-0", "x")], "", "")
@example("```\n[a-0]", [CitableText("a-0", "x")], "", "")
@example("[a-0]\n\n```\nx\n", [CitableText("a-0", "y")], "", "")
def test_ground_never_fails_and_cites_only_what_was_given(
    answer: str, sources: list[CitableText], question: str, context: str
) -> None:
    grounded = ground(answer, sources, question=question, context=context)
    assert set(grounded.citations) <= {source.id for source in sources}
    assert not set(grounded.citations) & set(grounded.removed)
    assert (grounded.verdict == "uncited") is (not grounded.citations)
    assert (grounded.verdict == "partly") is bool(grounded.unsupported)


@settings(max_examples=200, deadline=None)
@given(TEXTS, SOURCES)
def test_checking_again_keeps_citations_and_verdict(
    answer: str, sources: list[CitableText]
) -> None:
    once = ground(answer, sources)
    twice = ground(once.text, sources)
    assert twice.removed == ()
    assert twice.citations == once.citations


FORGED = st.from_regex(r"[a-z]{3,8}([/ _.-][a-z]{1,8}){0,3}-[0-9]{1,3}", fullmatch=True)
WORDS = st.lists(
    st.sampled_from(["one", "two", "says", "so", "**bold**", "`code`", "x."]), max_size=6
)


@settings(max_examples=200, deadline=None)
@given(
    WORDS, FORGED, WORDS, st.sampled_from(["[{}]", "【{}】", "[source: {}]", "\\[{}\\]", "[ {} ]"])
)
def test_a_forged_id_is_gone_without_a_trace(
    before: list[str], forged: str, after: list[str], brackets: str
) -> None:
    answer = " ".join([*before, brackets.format(forged), *after]) + "."
    grounded = ground(answer, [CitableText("runbook-0", "one two")])
    assert forged in grounded.removed
    assert forged not in grounded.text
    assert "  " not in grounded.text
    assert " ." not in grounded.text


CODE_LINES = st.lists(
    st.text(st.characters(exclude_characters="\r\n`~\x00", exclude_categories=["Cs"]), max_size=40),
    min_size=1,
    max_size=8,
)


@settings(max_examples=200, deadline=None)
@given(CODE_LINES, SOURCES, st.sampled_from(["Run [a-0]:\n\n", "", "- Run [a-0]\n\n"]))
def test_code_blocks_stay_byte_for_byte(
    lines: list[str], sources: list[CitableText], intro: str
) -> None:
    block = "\n".join(["```sh", *lines, "```"])
    grounded = ground(f"{intro}{block}\n\nThat is it [a-0] [made-up-9].", sources)
    assert block in grounded.text


@settings(max_examples=200, deadline=None)
@given(TEXTS)
def test_blocks_lie_within_the_text_in_order(text: str) -> None:
    text = re.sub("\r\n?", "\n", text)
    at = 0
    for block in read_blocks(text):
        assert at <= block.start <= block.end <= len(text)
        at = block.start
