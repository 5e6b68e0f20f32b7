"""More forms of values, names and commands: units apart from their number, rates, severities."""

import pytest

from agent.grounding import CitableText, ground


def marks(docs: str, answer: str, question: str = "") -> list[str]:
    grounded = ground(f"{answer} [c-0].", [CitableText("c-0", docs)], question=question)
    return [each.span for each in grounded.unsupported]


TABLE = "| Setting | Limit (MB) | Timeout (s) |\n|---|---|---|\n| heap | 512 | 30 |\n"


@pytest.mark.parametrize(
    ("docs", "answer"),
    [
        # the unit stands apart from the number
        (TABLE, "The heap may be 512 MB, within 30 seconds"),
        ("| timeout | 30 | seconds |", "It waits 30 s"),
        ("periodSeconds: 10", "Probes run every 10 seconds"),
        ("session_ttl = 3600  # in seconds", "Sessions live 3600 s"),
        ("Requests per minute | 60", "The limit is 60 requests per minute"),
        # rates
        (
            "1,200 requests per second per tenant",
            "The limit is 1200 rps, 1.200 Anfragen pro Sekunde",
        ),
        ("Copy at 200 MB/s.", "Copy at 200 MB per second"),
        ("The budget is 0.1 % a month.", "The budget is 0.1% per month"),
        ("Limit: 300 mails/min.", "It takes 300 mails per minute"),
        # one unit for several numbers
        ("It takes 2 to 5 minutes.", "It takes at least 2 minutes"),
        ("Normal is 94–97 %.", "Normal is 94% to 97%"),
        ("Retries after 200/400/800 ms.", "The first retry is after 200 ms"),
        # numbers and amounts
        ("There are 1,284,311 rows.", "Es sind 1.284.311 Zeilen"),
        ("Images are kept 30 d.", "Images are kept for 30 days"),
        ("It takes 60 minutes.", "Escalate after an hour"),
        ("Version 5.12.0, or later.", "Use v5.12.0"),
        ("Partitions: 48. Replicas: 3.", "There are 48 partitions"),
        # names
        ("SEV-1 is paged.", "A SEV1, a sev 1 and a Severity 1 are paged"),
        ("Sev 2 is not.", "SEV-2 is not"),
        ("PAY-4031 is low balance.", "PAY\u20114031 is low balance"),
        ("The 99th percentile is 3 ms.", "The p99 is 3 ms"),
        ("Host Db-1.Shop.example.com.", "It is `db-1.shop.example.com` or db-1.shop.example.com"),
        # quotations with code in them
        ("Never use `--force`: it hurts.", "It says “Never use `--force`: it hurts.”"),
        # what the asker said
        ("Open a ticket.", "For 37 failed payouts, open a ticket; your 37 payouts wait"),
        ("Restart it.", "The alert says 37 payouts failed: restart it"),
        ("Restart it.", "You asked “is it stuck?”: restart it"),
        ("x", "I could not find anything about `PAY-9999`"),
        # dates and times
        ("The contract ends 31/03/2028.", "It ends on 31 March 2028"),
        ("On 2027-03-04.", "3月4日です"),
        ("Only at weekends.", "Only on Sundays"),
        ("It runs twice.", "It runs 2 times"),
        # what marks a place
        ("Wait.", "In step 3 wait; the 2nd attempt works; see (2)"),
        ("See https://x.example/a_(b).", "(See https://x.example/a_(b))"),
        ("Copy at 10 MBps.", "Copy at 10 MB/s"),
        # commands
        ("`SELECT kill(<pid>);`", "Run `SELECT kill(4711);`"),
        ("Then:\n\nkubectl -n shop get pods -o wide", "Run `kubectl get pods -n shop -o wide`"),
        ("`kubectl logs {{ $labels.pod }}`", "Run `kubectl logs pay-4711`"),
        ('`flag off --why "<text>"`', 'Run `flag off --why "two words"`'),
    ],
)
def test_the_same_in_another_form_stays_unmarked(docs: str, answer: str) -> None:
    question = '37 payouts of pay-4711 failed with PAY-9999, pid 4711, "two words", is it stuck?'
    assert marks(docs, answer, question) == []


@pytest.mark.parametrize(
    ("docs", "answer", "span"),
    [
        # a number that stands there with another unit only
        ("The objective is 250 ms.", "The objective is 250 s", "250 s"),
        ("Escalate after 15 minutes, at 10:00 every hour.", "Escalate after 15 hours", "15 hours"),
        ("It took 1 h 45 min.", "It took 1 h 54 min", "1 h 54 min"),
        (TABLE, "The timeout is 512 s", "512 s"),
        ("`minReplicas: 3`", "It takes 3 minutes", "3 minutes"),
        ("`cpu: 750m`", "The limit is 750 cores", "750 cores"),
        ("From -5 °C to 27 °C.", "Up to 27 °F", "27 °F"),
        # rates
        ("1,200 requests per second", "The limit is 1,200 requests per minute", None),
        ("Copy at 200 MB/s.", "Copy at 200 Mb/s", "200 Mb/s"),
        ("Copy at 200 MB/s.", "Copy at 200 MB/min", "200 MB/min"),
        ("At most €5,000 per month.", "At most €5,000 per year", "€5,000 per year"),
        ("Escalate after 15 minutes.", "Escalate after an hour", "an hour"),
        # names
        ("Open a SEV-2.", "Open a SEV1", "SEV1"),
        ("The p99 is 3 ms.", "The p95 is 3 ms", "p95"),
        ("SQLSTATE 57P03.", "SQLSTATE 57P02", "57P02"),
        ("Region europe-west4.", "Region europe-west3", "europe-west3"),
        ("Revision r1187.", "Revision r1178", "r1178"),
        ("It is apps/v1beta2.", "It is v1beta1", "v1beta1"),
        ("Use r6g.2xlarge.", "Use r5g.2xlarge", "r5g.2xlarge"),
        # a sign, a word that goes on
        ("`--retries 5`, at -10.", "Retry at `10`", "10"),
        ("/etc/pay/config.yaml", "Edit pay/config.yml", "pay/config.yml"),
        # commands
        ("`kubectl get pods`", "Run kubectl delete pods now", "kubectl delete pods now"),
        ("`SELECT 1`", "Then DROP TABLE jobs", "DROP TABLE jobs"),
        ("`make all`", "Run `make \u202eall`", None),
        ("`find x -name '*.tar'`", "Run `find x -name *.tar`", "find x -name *.tar"),
        ('`log --since "1 hour ago"`', "Run `log --since 1 hour ago`", "log --since 1 hour ago"),
        ("`make up ENV=a REGION=b`", "Run `make up ENV=a`", "make up ENV=a"),
        ("`log -u kubelet.service`", "Run `log -u kubelet`", "log -u kubelet"),
        ("Reboot: `etcdctl version` or `run svc my-nginx`.", "`run svc my-nginy`", None),
        ("`get s -t '{{index .data}}'`", "`get s -t '{{indey .data}}'`", None),
        ("A reboot? `etcdctl version`", "Run `etcdctl version; reboot`", "etcdctl version; reboot"),
        ("`get k | del -WhatIf`", "```\nget k | del\n```\n", "get k | del"),
        ("`^code=(\\d{4})$`", "It is `^code=(\\d{3})$`, 3 digits", None),
        ("See http://db:80/admin/.", "See http://db:80/", "http://db:80/"),
        # the asker's number in a claim of the docs
        ("The pool has 400.", "The pool has 37", "37"),
    ],
)
def test_a_changed_one_is_marked(docs: str, answer: str, span: str | None) -> None:
    found = marks(docs, answer, "is it 37?")
    assert found
    assert span is None or found == [span]


@pytest.mark.parametrize(
    "docs", ["timeout_s: 2.2.12", "| a (s) |\n|---|\n| 1.2.3, 4,,5 |", "ms: ,."]
)
def test_a_version_is_not_a_number(docs: str) -> None:
    assert marks(docs, "It takes 7 s") == ["7 s"]


def test_an_id_with_other_punctuation_is_forged() -> None:
    grounded = ground("Fine [pay_runbook_0].", [CitableText("pay-runbook-0", "x")])
    assert (grounded.text, grounded.removed) == ("Fine.", ("pay_runbook_0",))
