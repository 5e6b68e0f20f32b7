"""Text of an HTML page that a click shows is text, under the name of its tab."""

import pytest

from tests.ingest.readers.test_loader import shown


def test_a_hidden_panel_of_tabs_is_read_under_its_name() -> None:
    page = (
        '<ul role="tablist"><li role="tab">Debian</li><li role="tab">Fedora</li></ul>\n'
        '<div role="tabpanel">apt install relay</div>\n'
        '<div role="tabpanel" hidden>dnf install relay</div>'
    )
    assert shown("a.html", page).split("\n\n")[-3:] == [
        "apt install relay",
        "Fedora:",
        "dnf install relay",
    ]


@pytest.mark.parametrize(
    ("tab", "panel"),
    [
        ('role="tab" aria-controls="p2"', 'role="tabpanel" id="p2"'),
        ('role="tab" id="t2"', 'role="tabpanel" aria-labelledby="t2"'),
        ('role="tab" href="#p2"', 'role="tabpanel" id="p2"'),
    ],
)
def test_a_tab_is_found_by_id_wherever_its_panel_stands(tab: str, panel: str) -> None:
    page = (
        f'<p><a role="tab" id="t1" aria-controls="p1">Debian</a> <a {tab}>Fedora</a></p>'
        f'<div {panel} style="display:none"><pre>dnf install relay</pre></div>'
        '<div role="tabpanel" id="p1" aria-labelledby="t1"><pre>apt install relay</pre></div>'
    )
    assert "Fedora:\n\ndnf install relay\n\nDebian:\n\napt install" in shown("a.html", page)


@pytest.mark.parametrize(
    "page",
    [
        '<button aria-controls="more">More</button><p id="more" hidden>unfolded</p>',
        '<a data-toggle="fold" href="#m">More</a><p id="m" style="display: none">unfolded</p>',
        '<div class="pane on">first</div><div class="pane" style="display:none">unfolded</div>',
        '<p hidden="until-found">unfolded</p>',
        "<details><summary>More</summary>unfolded</details>",
    ],
)
def test_what_a_click_shows_is_text(page: str) -> None:
    assert "unfolded" in shown("a.html", f"<p>seen</p>{page}")


@pytest.mark.parametrize(
    "page",
    [
        "<p hidden>unseen</p>",
        '<p class="print-only" hidden>unseen</p>',
        '<button data-target="#m">Ask</button><div id="m" role="dialog" hidden>unseen</div>',
        '<button aria-controls="m">Ask</button><dialog id="m" hidden>unseen</dialog>',
        '<button aria-controls="m">Ask</button><ul id="m" role="menu" hidden><li>unseen</ul>',
        '<div role="navigation"><a href="/">unseen</a></div>',
        '<div class="pane" hidden>unseen</div><div class="pane" hidden>unseen</div>',
    ],
)
def test_what_stays_hidden_is_no_text(page: str) -> None:
    assert shown("a.html", f"<p>seen</p>{page}") == "seen"
