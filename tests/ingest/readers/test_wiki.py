"""Formats of wikis, Org, Textile and POD: headings, code, tables and words."""

import pytest

from ingest.readers.loader import load
from tests.ingest.readers.test_loader import chunks_of, searched

PAGES = {
    "a.org": (
        "#+TITLE: Racks\n* TODO Rack 12 :dc:\n:PROPERTIES:\n:ID: hidden\n:END:\n# hidden\n"
        "It holds [[https://a.example][the *relay*]] in =rack 12=.\n"
        "#+begin_src sh\n* relayd --drain\n#+end_src\n"
        "| Name | Port |\n|------+------|\n| api | 7444 |\n"
    ),
    "a.mediawiki": (
        "== Rack 12 ==\nIt holds [[Relay|the '''relay''']] in rack 12.\n<!-- hidden -->\n"
        '[[Category:hidden]]\n<syntaxhighlight lang="sh">\n* relayd --drain\n</syntaxhighlight>\n'
        '{| class="hidden"\n! Name !! Port\n|-\n| api || 7444\n|}\n'
    ),
    "a.textile": (
        'h2(#hidden). Rack 12\n\nIt holds "the *relay*":https://a.example in @rack 12@.\n\n'
        "<pre>\n* relayd --drain\n</pre>\n\n|_. Name |_. Port |\n| api | 7444 |\n"
    ),
    "a.creole": (
        "== Rack 12 ==\nIt holds [[Relay|the **relay**]] in rack 12.\n\n"
        "{{{\n* relayd --drain\n}}}\n\n|= Name |= Port |\n| api | 7444 |\n"
    ),
    "a.pod": (
        "=encoding hidden\n\n=head1 Rack 12\n\nIt holds L<the B<relay>|http://a.example> in"
        " C<rack 12>.\n\n    * relayd --drain\n\n=over 4\n\n=item api\n\n"
        "Name, Port 7444.\n\n=back\n"
    ),
}


@pytest.mark.parametrize("path", PAGES)
def test_a_page_has_headings_words_code_and_cells(path: str) -> None:
    words = searched(path, PAGES[path])
    assert {chunk.heading for chunk in chunks_of(path, PAGES[path])} == {("Rack 12",)}
    assert "It holds the relay in rack 12." in words
    assert "* relayd --drain" in words
    assert "Name" in words
    assert "7444" in words
    assert "hidden" not in words


def test_the_title_of_an_org_page_is_its_own() -> None:
    assert load("a.org", PAGES["a.org"].encode()).title == "Racks"


def test_lines_are_those_of_the_file() -> None:
    page = "== One ==\nwords\n\n== Two ==\n* item\n* item two\n"
    assert [chunk.lines for chunk in chunks_of("a.wiki", page)] == [(1, 2), (4, 6)]


def test_a_table_of_a_wiki_is_cut_between_rows_and_repeats_its_head() -> None:
    rows = "\n".join(f"|-\n| --flag-{n}\n| What flag {n} does to the relay" for n in range(60))
    chunks = chunks_of("a.mediawiki", f"{{|\n|-\n! Flag\n! Effect\n{rows}\n|}}\n")
    assert len(chunks) > 2
    for chunk in chunks:
        assert "! Flag\n! Effect" in chunk.text
        assert chunk.text.count("| --flag-") == chunk.text.count("| What flag")
