"""Names and contents: which files are pages, before a reader takes them."""

import pytest

from ingest.readers.kinds.recognition import READ, UNREAD, form_of
from ingest.readers.loader import UnreadableDocument, load, why_no_page
from tests.ingest.readers.test_loader import chunks_of, shown

LICENCE = (
    "Permission is granted, free of charge, to any person who gets a copy of this software.\n"
    "The software is provided as is, without warranty of any kind.\n"
    "In no event shall the authors be liable for any claim or damages.\n"
)


def test_no_format_is_both_read_and_unread() -> None:
    assert not READ & UNREAD


@pytest.mark.parametrize(
    ("path", "form"),
    [
        ("a.QMD", "page"),
        ("a.mkdn", "page"),
        ("a.Rmd", "page"),
        ("shared/note.rst.inc", "page"),
        ("a.inc", "other"),
        ("a.docx", "other"),
        ("main.py", "other"),
        ("Makefile", "other"),
        ("api/relay.yaml", "interface"),
        ("RUNBOOK", "unnamed"),
    ],
)
def test_a_name_tells_what_a_file_can_be(path: str, form: str) -> None:
    assert form_of(path) == form


@pytest.mark.parametrize(
    ("text", "is_page"),
    [
        ("Failover: run promote-standby on the second node.\n", True),
        ("1. Stop the relay:\n\n    relayd --drain\n\n2. Wait until the queue is empty.\n", True),
        ("中継サーバーは七四四四番のポートで待ち受けます。\n", True),
        ("#!/bin/sh\n# Stops the relay and waits for it.\nrelayd --drain\n", False),
        ("approvers:\n- kim\n- sam\n", False),
        ("build: deps\n\tgo build ./...\ndeps:\n\tgo get ./...\n", False),
        ("export HOST=relay-1\nexport PORT=7444\n", False),
        ('{"name": "the relay", "about": "It takes mail and passes it on."}', False),
        (LICENCE, False),
    ],
)
def test_a_file_without_a_suffix_is_a_page_if_it_is_prose(text: str, is_page: bool) -> None:
    assert (why_no_page("ops/RUNBOOK", text.encode()) is None) is is_page
    if is_page:
        assert shown("ops/RUNBOOK", text).split() == text.split()
    else:
        with pytest.raises(UnreadableDocument, match=r"^no page: "):
            load("ops/RUNBOOK", text.encode())


def test_a_binary_file_without_a_suffix_has_no_reader() -> None:
    reason = "unsupported: no reader for files without a suffix"
    assert why_no_page("relayd", b"\x7fELF\x00\x01") == reason


@pytest.mark.parametrize(
    ("text", "outline"),
    [
        ("Ports\n=====\n\n.. note:: It listens on 7444.\n", [("Ports",)]),
        ("Ports\n=====\n\nSee :ref:`the list <ports>`.\n", [("Ports",)]),
        ("= Ports\n\n[NOTE]\nIt listens on 7444.\n", [("Ports",)]),
        ("Ports\n=====\n\nIt listens on 7444.\n", [()]),
        ("It listens on 7444. See :ref:`ports`.\n", [()]),
    ],
)
def test_a_text_file_with_titles_and_directives_is_read_as_what_it_is(
    text: str, outline: list[tuple[str, ...]]
) -> None:
    assert list(dict.fromkeys(c.heading for c in chunks_of("a.txt", text))) == outline
