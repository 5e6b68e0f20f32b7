"""Every kind of span: the same in another form stays unmarked, a changed one is marked."""

from datetime import UTC, datetime

import pytest

from agent.grounding import CitableText, ground


def marks(docs: str, answer: str, question: str = "", context: str = "") -> list[tuple[str, str]]:
    grounded = ground(answer, [CitableText("c-0", docs)], question=question, context=context)
    return [(each.span, each.reason) for each in grounded.unsupported]


@pytest.mark.parametrize(
    ("docs", "answer"),
    [
        # other ways to write a value
        ("It takes 100 µs.", "It takes 100 μs"),
        ("It starts at 18:30 UTC.", "It starts at 6:30 PM UTC"),
        ("It starts at 06:00.", "It starts at 6 AM"),
        ("It starts at 06:00.", "Es beginnt um 6 Uhr"),
        ("Hold for twenty-four hours.", "Hold for 24 hours"),
        ("It takes half an hour.", "It takes 30 minutes"),
        ("It takes 90 minutes.", "It takes 1h30m, so 1 hour and 30 minutes"),
        ("Wait 5 minutes.", "Warte 5 Minuten"),
        ("Wait 5 minutes.", "Attendez 5 minutes"),
        ("Valid for 24 hours.", "24時間有効です"),
        ("Wait 15 minutes.", "Подождите 15 минут"),
        ("The limit is €10,000.", "Das Limit ist 10.000 €"),
        ("It costs $1,250.50.", "Es kostet 1.250,50 $, en français 1 250,50 $"),
        ("The rate is 2.5 percent.", "Die Rate ist 2,5 Prozent"),
        ("Ports 80,443 are open.", "Ports 80 and 443 are open"),
        ("On 2027-03-04.", "Am 4. März 2027, el 4 de marzo de 2027"),
        ("On 2027-03-04.", "On Thursday, 4 March 2027"),
        ("We deploy Mon-Fri.", "Deploys happen on Tuesdays"),
        ("`WAIT_MS=2500`", "It waits 2.5 s"),
        ("The p99 is 3 ms.", "The 99th percentile is 3 ms"),
        ("The third retry fails.", "The 3rd retry fails"),
        ("Send `kill -9 <pid>`.", "Send signal 9"),
        # numbers that count what the answer lists
        ("Three replicas, one primary.", "There are two ways: restart or wait"),
        # other ways to write a command
        ("```\nmake a\nmake b\n```", "Run `make a && make b`"),
        ("```\nmake a\nmake b\n```", "Run:\n\n```\nmake a && make b\n```\n"),
        ("`helm upgrade x --timeout=5m`", "Set `--timeout 5m`"),
        ("`kubectl -n shop rollout undo deploy/cart`", "Use `kubectl rollout undo`"),
        ("`kubectl -n shop rollout undo deploy/cart`", "Use `kubectl -n shop rollout undo …`"),
        ('`grep "refund failed" app.log`', "Run `grep 'refund failed' app.log`"),
        ("`pool.max_size: 400`", "```yaml\npool:\n  max_size: 400\n```\n"),
        ('`{"a": 1, "b": 2}`', 'Send `{"a":1,"b":2}`'),
        (
            "```sql\nUPDATE j SET s = 1 WHERE i = 7;\n```",
            "```\nUPDATE j\nSET s = 1\nWHERE i = 7;\n```\n",
        ),
        ("See git.", "After that look at the git repository and the helm chart"),
        # names
        ("Pin `9f8e7d6c5b4a39281706`.", "Pin commit 9f8e7d6 or `9f8e7d6`"),
        ("Ask the payments-oncall channel.", "Ask in #payments-oncall"),
        ("A 503 pages us.", "Any 5xx pages us"),
        ("Mail ops@acme.example.", "Mail [ops@acme.example](mailto:ops@acme.example)"),
        ("Keys rotate every 90 days at 06:00 UTC.", 'It says "Keys rotate … 06:00 UTC"'),
        ("The pods' limit is 5.", "It's the pods' limit, don't raise the nodes' limit of 5"),
        # what is no claim of the docs
        ("x", "Press `Ctrl-C` or `Ctrl+Shift+R`"),
        ("x", "No `sudo` is needed"),
    ],
)
def test_the_same_in_another_form_stays_unmarked(docs: str, answer: str) -> None:
    assert marks(docs, f"{answer} [c-0].") == []


def test_the_date_of_today_stays_unmarked() -> None:
    assert marks("x", f"Today is {datetime.now(UTC):%d %B %Y} [c-0].") == []


@pytest.mark.parametrize(
    ("docs", "answer", "span"),
    [
        ("It takes 100 µs.", "It takes 200 μs", "200 μs"),
        ("It starts at 06:30.", "It starts at 6:30 PM", "6:30 PM"),
        ("Set it to `-10`.", "Set it to `10`", "10"),
        ("The offset is -30 seconds.", "The offset is 30 seconds", "30 seconds"),
        ("The value is 5.", "The value is -5", "-5"),
        ("Wait ten minutes.", "Wait twenty minutes", "twenty minutes"),
        ("Valid for 48 hours.", "Valid for three days", "three days"),
        ("Keep three replicas.", "Keep two replicas", "two"),
        ("Wait 5 minutes.", "Warte 5 Stunden", "5 Stunden"),
        ("Valid for 24 hours.", "48時間有効です", "48時間"),
        ("Starts at 06:00 UTC.", "Starts at 06:00 CET", "CET"),
        ("Runs on Sundays.", "Runs on Mondays", "Mondays"),
        ("Rotates in March.", "Rotates in May", "May"),
        ("The 3rd retry.", "The 5th retry", "5th"),
        ("The quote is „abc def“.", "The quote is „abc xyz“", "abc xyz"),
        ("「接続拒否」", "「接続切断」", "接続切断"),
        ("It is 'draining'.", "It is 'drained'", "drained"),
        ("Pin `9f8e7d6c5b4a`.", "Pin 9f8e7d6c5b4b", "9f8e7d6c5b4b"),
        ("sha256:aaaabbbb1111", "sha256:aaaabbbb1112", "sha256:aaaabbbb1112"),
        ("00:1a:2b:3c:4d:5e", "00:1a:2b:3c:4d:5f", "00:1a:2b:3c:4d:5f"),
        ("Ask in #payments.", "Ask in #billing", "#billing"),
        ("Ask @lena.fischer.", "Ask @lena.fisher", "@lena.fisher"),
        ("It is ECONNREFUSED.", "It is ECONNRESET", "ECONNRESET"),
        ("Send SIGTERM.", "Send SIGKILL", "SIGKILL"),
        ("S1 is paged.", "S2 is paged", "S2"),
        ("5xx is paged.", "4xx is paged", "4xx"),
        ("Send X-Request-Id.", "Send X-Trace-Id", "X-Trace-Id"),
        ("Topic pay.settled.v2.", "Topic pay.settled.v3", "pay.settled.v3"),
        # names in capitals are names
        ("`ERR_POOL_EXHAUSTED`", "It is `ERR_POOL_TIMEOUT`", "ERR_POOL_TIMEOUT"),
        ("It is DEADLINE_EXCEEDED.", "It is RESOURCE_EXHAUSTED", "RESOURCE_EXHAUSTED"),
        ("`export A_READONLY=1`", "`export A_WRITE=1`", "export A_WRITE=1"),
        ("`MAX_RETRIES=5`", "`RETRY_LIMIT=5`", "RETRY_LIMIT=5"),
        ("`DROP TABLE TMP_JOBS`", "`DROP TABLE ENTRIES_ALL`", "DROP TABLE ENTRIES_ALL"),
        (
            "`kubectl delete pod NAME`",
            "`kubectl delete pod ALL_PODS`",
            "kubectl delete pod ALL_PODS",
        ),
        # a command without what held it back, or pieced together
        ("`DELETE FROM j WHERE s = 1`", "`DELETE FROM j`", "DELETE FROM j"),
        ("`terraform apply -target=m`", "`terraform apply`", "terraform apply"),
        ("`DRY_RUN=1 ./cleanup.sh --all`", "`./cleanup.sh --all`", "./cleanup.sh --all"),
        ("`rm -rf /tmp/cache`", "`rm -rf /`", "rm -rf /"),
        ("`sudo -u postgres psql`", "`sudo psql`", "sudo psql"),
        ("```\nmake a\nmake b\n```", "`make b && make a`", "make b && make a"),
        ("```\ncat ids\nxargs rm\n```", "`cat ids | xargs rm`", "cat ids | xargs rm"),
        ("`make a`", "Then <code>make clean</code>", "make clean"),
        ("`make a`", "Run **kubectl delete ns shop**", "kubectl delete ns shop"),
        ("`make a`", "```\nmake a  # and then rm -rf /data\n```\n", "rm -rf /data"),
        ("`make a`", "```\nmake a  # and make clean\n```\n", "make clean"),
    ],
)
def test_a_changed_one_is_marked_once(docs: str, answer: str, span: str) -> None:
    found = [span_ for span_, _ in marks(docs, f"{answer} [c-0].")]
    assert found == [span]


@pytest.mark.parametrize(
    ("question", "context", "answer", "span"),
    [
        ("should I run rm -rf /data?", "", "Yes: `rm -rf /data`", "rm -rf /data"),
        ("can I add --force?", "", "Yes, add `--force`", "--force"),
        ("what is PAY-4032?", "", "`PAY-4032` is a key mismatch", "PAY-4032"),
        ("how?", "kim: /var/lib/ledger is full", "Delete `/var/lib/ledger`", "/var/lib/ledger"),
        ("does the pool have 500?", "", "The pool has 500", "500"),
    ],
)
def test_words_of_the_thread_are_not_a_proof(
    question: str, context: str, answer: str, span: str
) -> None:
    found = marks("PAY-4031 is a key mismatch.", f"{answer} [c-0].", question, context)
    assert found == [(span, "from the thread, not in c-0")]


@pytest.mark.parametrize(
    ("question", "answer"),
    [
        ("does the pool have 500 connections?", "No: it has 400, not 500"),
        ("what is PAY-4032?", "The docs do not mention PAY-4032"),
        ("can I use --force?", "`--force` is not documented"),
        ("can I use --force?", "The docs say nothing about `--force`"),
        ("is refund_v2 on?", "`refund_v2` is a feature flag"),
    ],
)
def test_what_the_asker_said_may_be_denied_and_named(question: str, answer: str) -> None:
    assert marks("The pool has 400 connections.", f"{answer} [c-0].", question) == []


def test_a_quotation_takes_the_citation_of_the_remark_below_it() -> None:
    assert marks("Below 300 ms.", "> Below 300 ms.\n\nFrom the runbook [c-0].") == []


@pytest.mark.parametrize("text", ["5 µſ", "5 Kelvin", "5 mİn", "9" * 5_000, "1." + "9" * 5_000])
def test_odd_letters_and_endless_numbers_are_read(text: str) -> None:
    assert marks(f"It is {text}.", f"It is {text} [c-0].") == []
    marks("x", f"It is {text} [c-0].", text, text)
