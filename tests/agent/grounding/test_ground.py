"""Citations that ``ground`` keeps or removes, and spans that it marks."""

import pytest
from inline_snapshot import snapshot

from agent.errors import AgentError
from agent.grounding import CitableText, Grounded, ground, ground_json
from tests.waiting import cpu_seconds

RUNBOOK = CitableText(
    "runbooks/checkout-1",
    """## Restart

`CHK-2207` is answered with HTTP status 503. Retries: five attempts, first after 200 ms.

| Setting | Limit (MB) |
|---|---|
| heap | 512 |

```bash
$ kubectl rollout restart deploy/checkout \\
    -n shop --timeout=5m
$ kubectl logs deploy/<name> -n <namespace> --tail=100
```

The restart takes two to three minutes. See "Cold start". Maintained since March 4, 2025.
""",
)
CONFIG = CitableText(
    "config (old)/db settings-0",
    "port: 6432\npool_size: 40\nhost: db-1.shop.example.com\nDashboard: https://graf.example.com/d/a?x=1.",
)
SOURCES = [RUNBOOK, CONFIG]
C1, C2 = "[runbooks/checkout-1]", "[config (old)/db settings-0]"


def check(answer: str, question: str = "", context: str = "") -> Grounded:
    return ground(answer, SOURCES, question=question, context=context)


def marked(answer: str, question: str = "", context: str = "") -> list[str]:
    return [each.span for each in check(answer, question, context).unsupported]


@pytest.mark.parametrize(
    "claim",
    [
        "`kubectl rollout restart deploy/checkout -n shop --timeout=5m`",
        "`$ kubectl rollout restart deploy/checkout -n shop --timeout=5m`",
        "`kubectl -n shop rollout restart deploy/checkout --timeout 5m`",
        "`kubectl logs deploy/<deployment> -n <namespace> --tail=100`",
        "the `kubectl rollout restart` command",
        "5 attempts, the first after 0.2 s",
        "200ms, HTTP 503",
        "the heap limit is 512 MB",
        "chk-2207 is a 503",
        "it takes 2-3 minutes",
        "it takes **2 to 3 min**",
        "maintained since 2025-03-04",
        "maintained since 4th of March 2025, so since March 2025",
        "see “Cold start”",
        "the `checkout` deployment; `--timeout`",
        "see `runbooks/checkout-1` and `runbooks/checkout.md`",
    ],
)
def test_what_the_cited_chunk_says_stays_unmarked(claim: str) -> None:
    grounded = check(f"It is {claim} {C1}.")
    assert grounded.unsupported == ()
    assert grounded.verdict == "answered"


@pytest.mark.parametrize(
    ("claim", "span"),
    [
        ("`kubectl delete deploy/checkout -n shop`", "kubectl delete deploy/checkout -n shop"),
        ("`kubectl rollout restart deploy/checkout -n shop`", None),
        ("`kubectl logs deploy/cart -n shop --tail=100`", None),
        ("6 attempts", None),
        ("200 s", None),
        ("HTTP 504", "504"),
        ("512 MiB", None),
        ("513 MB", None),
        ("CHK-2270", None),
        ("CHK-220", None),
        ("March 5, 2025", None),
        ("March 4, 2024", None),
        ('"Warm start"', "Warm start"),
        ("--force", None),
        ("/etc/checkout.conf", None),
        ("db-2.shop.example.com", None),
        ("10.0.0.7", None),
        ("pool_sizes", None),
        ("https://graf.example.com/d/b", None),
        ("[here](https://evil.example.com/x)", "https://evil.example.com/x"),
        ("+1 555 0199", None),
        ("10:45", None),
        ("v2.1", None),
        ("`pool_size`", "pool_size"),
    ],
)
def test_what_the_cited_chunk_does_not_say_is_marked(claim: str, span: str | None) -> None:
    grounded = check(f"It is {claim} {C1}.")
    assert [each.span for each in grounded.unsupported] == [span or claim.strip("`")]
    assert grounded.text.count("(⚠ ") == 1
    assert grounded.verdict == "partly"


def test_ids_with_slashes_blanks_and_parentheses_are_citations() -> None:
    grounded = check(f"The port is 6432 {C2}.")
    assert grounded.citations == ("config (old)/db settings-0",)
    assert grounded.text == f"The port is 6432 {C2}."


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ("Fine [made-up-0].", "Fine."),
        ("Fine [made-up-0] and good.", "Fine and good."),
        ("Fine [made-up-0][other/made up-12] , good.", "Fine , good."),
        ("Fine (see [made-up-0]).", "Fine."),
        ("[made-up-0] Fine.", "Fine."),
        ("Fine [checkout], [docs/checkout.md] and [runbooks/checkout-7].", "Fine."),
        ("Fine [Source: made-up-0].", "Fine."),
        ("Fine 【made-up-0】.", "Fine."),
        ("Fine \\[made-up-0\\].", "Fine."),
        ("Fine [made[made-up-0]-up-1].", "Fine."),
        ("Fine [made-up-0](https://evil.example.com/).", "Fine."),
        ("Fine [made\u200b-up-0].", "Fine."),
    ],
)
def test_forged_ids_leave_no_trace(answer: str, text: str) -> None:
    grounded = check(answer)
    assert grounded.text == text
    assert grounded.removed
    assert grounded.verdict == "uncited"


@pytest.mark.parametrize("nested", ["- " * 10, "- " * 60, "> " * 30, "> " * 200])
def test_what_is_nested_deep_is_checked_like_any_other_text(nested: str) -> None:
    grounded = check(f"A 503 {C1}.\n\n{nested}Run `rm -rf /srv` [made-up-0] {C1}.")
    assert grounded.removed == ("made-up-0",)
    assert [each.span for each in grounded.unsupported] == ["rm -rf /srv"]


@pytest.mark.parametrize(
    "answer",
    [
        "Log lines start with [ERROR] or [x], ranges with [0-9].",
        "- [ ] open\n- [x] done",
        "Use `list[index-0]` here.",
        "```\n[made-up-0]\n```",
        "See [the page](https://graf.example.com/d/a?x=1).",
        "On [2026-11-29] it was quiet.",
    ],
)
def test_other_brackets_are_left_alone(answer: str) -> None:
    grounded = check(answer)
    assert grounded.text == answer
    assert grounded.removed == ()


def test_one_spelling_for_all_ways_to_cite() -> None:
    grounded = check(
        "A [runbooks/checkout-1, made-up-3; config (old)/db settings-0] b "
        "[Runbooks/Checkout-1](https://evil.example.com) c 【runbooks/checkout-1】."
    )
    assert grounded.text == f"A {C1} {C2} b {C1} c {C1}."
    assert grounded.removed == ("made-up-3",)


def test_a_code_that_the_docs_name_is_not_a_citation() -> None:
    grounded = check(f"The alert says [CHK-2207], a 503 {C1}.")
    assert grounded.removed == ()
    assert grounded.verdict == "answered"


def test_the_mark_names_the_chunk_that_has_it() -> None:
    grounded = check(f"The port is 6432 {C1}.")
    assert grounded.text == snapshot(
        "The port is 6432 (⚠ not in runbooks/checkout-1; it is in config old/db settings-0) "
        "[runbooks/checkout-1]."
    )


def test_each_claim_is_held_to_its_own_citation() -> None:
    assert marked(f"Port 6432 {C2}. A 503 {C1}.") == []
    assert marked(f"Port 6432 {C1}. A 503 {C2}.") == ["6432", "503"]


def test_a_citation_covers_its_paragraph_and_no_other() -> None:
    answer = f"It is a 503. It comes back after 200 ms {C1}; 5 attempts.\n\nThe pool is 40."
    assert marked(answer) == ["40"]


def test_lists_and_tables_take_the_citation_of_their_introduction() -> None:
    answer = f"The settings {C2}:\n\n- port 6432\n- pool 40\n- pool 41\n"
    assert marked(answer) == ["41"]
    table = f"From the config {C2}:\n\n| a | b |\n|---|---|\n| port | 6432 |\n| pool | 41 |\n"
    assert marked(table) == ["41"]
    after = f"| a | b |\n|---|---|\n| port | 6432 |\n| pool | 41 |\n\nSource: {C2}"
    assert marked(after) == ["41"]


BLOCK = """Restart it [runbooks/checkout-1]:

```bash
# restart, then look
kubectl rollout restart deploy/checkout \\
  -n shop --timeout=5m
kubectl delete pvc --all
```

It takes 2-3 minutes [runbooks/checkout-1]."""


def test_a_code_block_is_judged_line_by_line_and_stays_byte_for_byte() -> None:
    grounded = check(BLOCK)
    assert [each.span for each in grounded.unsupported] == ["kubectl delete pvc --all"]
    code = BLOCK[BLOCK.index("```") : BLOCK.rindex("```") + 3]
    assert code in grounded.text
    assert grounded.text.replace(code, "CODE") == snapshot(
        """\
Restart it [runbooks/checkout-1]:

CODE

(⚠ not in runbooks/checkout-1: line 4 of this block)

It takes 2-3 minutes [runbooks/checkout-1].\
"""
    )


def test_a_block_without_any_citation_is_marked_once() -> None:
    grounded = check(f"A 503 {C1}.\n\nThe rest.\n\n```\nrm -rf /srv\nreboot now\n```")
    assert len(grounded.unsupported) == 2
    assert grounded.text.endswith("```\n\n(⚠ no source cited: lines 1, 2 of this block)")


def test_an_unclosed_block_is_closed_before_its_mark() -> None:
    grounded = check(f"Run {C1}:\n\n```\nreboot now")
    assert grounded.text.endswith(
        "```\nreboot now\n```\n\n(⚠ not in runbooks/checkout-1: line 1 of this block)"
    )


def test_placeholders_take_their_values_from_the_question_and_the_thread() -> None:
    command = f"Run `kubectl logs deploy/cart -n shop-eu --tail=100` {C1}."
    assert marked(command, question="logs of cart?", context="[FIRING] cart in shop-eu") == []
    assert marked(command, question="logs of cart?") != []


def test_a_command_cut_before_a_documented_flag_says_which() -> None:
    grounded = check(f"Run `kubectl rollout restart deploy/checkout -n shop` {C1}.")
    assert grounded.unsupported[0].reason == "shortened: the docs go on with --timeout=5m"


def test_words_of_the_question_may_be_repeated_in_code_marks() -> None:
    assert marked(f"The docs do not name `cart_v2` {C1}.", question="what is cart_v2?") == []


def test_a_figure_of_the_question_is_not_a_proof() -> None:
    assert marked(f"Yes, the port is 6433 {C2}.", question="is the port 6433?") == ["6433"]


def test_a_pasted_dash_or_another_letter_case_breaks_a_command() -> None:
    assert marked(f"`kubectl rollout restart deploy/checkout -n shop —timeout=5m` {C1}")
    assert marked(f"`kubectl rollout restart deploy/Checkout -n shop --timeout=5m` {C1}")


def test_a_count_of_the_listed_items_is_not_a_claim() -> None:
    steps = "\n".join(f"{n}. Look at it" for n in range(1, 8))
    assert marked(f"{steps}\n\nThat is all 7 steps {C1}.") == []


def test_an_answer_without_citation_is_uncited_and_not_littered_with_marks() -> None:
    grounded = check("Press `:q!`, it takes 3 seconds.")
    assert (grounded.verdict, grounded.unsupported) == ("uncited", ())


def test_grounding_twice_changes_nothing_more() -> None:
    for answer in (BLOCK, f"Port 6432 and `pool_size` {C1}.", f"Run {C1}:\n\n```\nreboot now"):
        once = check(answer)
        assert check(once.text).text == once.text


def test_quoted_words_alone_are_not_worth_a_second_try() -> None:
    grounded = check(f'It is "rather slow", on port 2 {C2}.')
    assert [each.span for each in grounded.unsupported] == ["rather slow", "2"]
    assert [each.span for each in grounded.substantial] == ["2"]


def test_json_in_and_out() -> None:
    assert ground_json(
        {
            "question": "port?",
            "passages": [{"id": "c-0", "text": "port: 6432"}],
            "answer": "Port 6433 [c-0] [d-0].",
        }
    ) == snapshot(
        {
            "verdict": "partly",
            "text": "Port 6433 (⚠ not in c-0) [c-0].",
            "citations": ["c-0"],
            "removed": ["d-0"],
            "unsupported": [{"span": "6433", "reason": "not in c-0"}],
        }
    )


@pytest.mark.parametrize(
    "request_",
    [
        [],
        {},
        {"answer": 1},
        {"answer": "x", "passages": {}},
        {"answer": "x", "passages": ["a"]},
        {"answer": "x", "passages": [{"id": "a-0"}]},
        {"answer": "x", "passages": [{"text": "a"}]},
        {"answer": "x", "question": []},
    ],
)
def test_bad_input_is_one_line(request_: object) -> None:
    with pytest.raises(AgentError) as error:
        ground_json(request_)
    assert "\n" not in str(error.value)


def test_four_times_as_long_an_answer_takes_about_four_times_as_long() -> None:
    paragraph = (
        f"Restart it with `kubectl rollout restart deploy/checkout -n shop` {C1}: 5 attempts. "
    )
    answer = paragraph * 60
    sources = [*SOURCES, *(CitableText(f"page-{n}", RUNBOOK.text + str(n)) for n in range(10))]

    def cost(characters: int) -> float:
        return cpu_seconds(lambda: ground(answer[:characters], sources), runs=5)

    assert cost(4_000) < 9 * cost(1_000)
