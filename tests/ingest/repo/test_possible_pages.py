"""Files whose content decides whether they are pages: few are fetched, and only pages are files."""

from pathlib import Path

import pytest

from tests.ingest.repo.checkouts import docs_settings, open_docs, paths, reasons
from tests.ingest.repo.remotes import DocsRemote

SPEC = "openapi: 3.0.0\ninfo: {title: Relay}\n"


@pytest.fixture
def mixed(remote: DocsRemote) -> DocsRemote:
    remote.write("docs/api/relay.yaml", SPEC)
    remote.write("docs/values.yaml", "replicas: 3\n")
    remote.write("docs/RUNBOOK", "Run promote-standby on the second node.\n")
    remote.write("docs/OWNERS", "approvers:\n- kim\n")
    remote.write("docs/Makefile", "all:\n\techo This is what people read here.\n")
    remote.commit()
    return remote


@pytest.mark.parametrize("kind", ["url", "work"])
def test_content_makes_a_page_or_not(mixed: DocsRemote, tmp_path: Path, kind: str) -> None:
    with open_docs(docs_settings(tmp_path, str(getattr(mixed, kind)))) as checkout:
        assert paths(checkout) == ["RUNBOOK", "api/relay.yaml", "oncall/README.md", "pay.md"]
        assert not checkout.revision.dirty
        assert reasons(checkout) == {
            "Makefile": "unsupported",
            "OWNERS": "no page",
            "values.yaml": "no page",
        }


def test_of_many_those_with_a_telling_name_are_opened(
    mixed: DocsRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.repo.checkout.MOST", 1)
    mixed.write("docs/a.yaml", SPEC)
    mixed.write("docs/about", "Run promote-standby on the second node.\n")
    mixed.commit()
    with open_docs(docs_settings(tmp_path, mixed.url)) as checkout:
        assert "api/relay.yaml" in paths(checkout)
        left_out = reasons(checkout)
        assert (left_out["a.yaml"], left_out["about"]) == ("unsupported", "unsupported")


def test_what_may_be_a_page_costs_at_most_one_small_fetch(
    mixed: DocsRemote, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ingest.repo.clone.SMALL_PACK", 100)
    mixed.write("docs/api/large.json", '{"openapi": "3.0.0"}' + " " * 1000)
    mixed.commit()
    with open_docs(docs_settings(tmp_path, mixed.url)) as checkout:
        assert paths(checkout) == ["oncall/README.md", "pay.md"]
        assert reasons(checkout)["api/large.json"] == "huge"
