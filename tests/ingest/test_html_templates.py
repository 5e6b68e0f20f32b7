"""Templates: every value is escaped, and a value that is missing is an error."""

import pytest
from jinja2 import UndefinedError

from ingest.html_templates import open_templates


@pytest.mark.parametrize("package", ["agent.evals", "bot.report", "bot.sandbox.page"])
def test_every_value_is_escaped_and_a_missing_one_is_an_error(package: str) -> None:
    template = open_templates(package).from_string('<a title="{{ text }}">{{ text }}</a>')
    assert template.render(text="'\"<b>") == (
        '<a title="&#39;&#34;&lt;b&gt;">&#39;&#34;&lt;b&gt;</a>'
    )
    with pytest.raises(UndefinedError, match="text"):
        template.render()
