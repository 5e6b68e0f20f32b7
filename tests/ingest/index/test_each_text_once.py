"""Each text is found once: copies, versions and translations are one result with its places."""

import json
from pathlib import Path

import pytest

from ingest.config_file import DocsCollection
from ingest.documents import Passage
from ingest.index import folders as index_folders
from ingest.index import open_index
from ingest.index.snapshot import EDITIONS
from ingest.pipeline.folding import MOST_RELEASED
from ingest.store.document_tables import DocumentTables
from tests.ingest.pipeline.docs import Docs

RESTART = "# Restart the broker\n\nStop the consumers first, then `brokerctl restart --ordered`.\n"
LIMIT = (
    "# Heartbeats\n\nThe gateway closes a socket that stays silent for {} seconds. A client that"
    " polls has to send a heartbeat, a frame without a payload.\n"
)
CHINESE = "# 心跳\n\n网关会关闭静默超过九十秒的套接字。客户端必须发送心跳帧，例如 `launchUrl`。\n"


@pytest.fixture
def docs(tmp_path: Path) -> Docs:
    return Docs(tmp_path)


def paths(passages: tuple[Passage, ...]) -> list[str]:
    return [passage.path for passage in passages]


def versions(docs: Docs) -> None:
    docs.write("docs/heartbeats.md", LIMIT.format(90))
    docs.write("docs/limits.md", "# Limits\n\nWhoever opens more of them sees code 4429.\n")
    for name in ("ledger", "courier", "payout", "depot", "mail", "oncall"):
        docs.write(f"docs/{name}.md", f"# {name}\n\nThe {name} is restarted by its own team.\n")
    for minor in range(4):
        docs.write(f"versioned_docs/version-2.{minor}/heartbeats.md", LIMIT.format(55))


def test_copies_are_one_passage_that_names_the_others(docs: Docs) -> None:
    for team in "abc":
        docs.write(f"teams/{team}/restart.md", RESTART)
    docs.ingest()
    [passage] = docs.search("restart the broker").passages
    assert passage.path == "teams/a/restart.md"
    assert [(p.path, p.id, p.differs) for p in passage.places] == [
        ("teams/b/restart.md", "teams/b/restart-0", False),
        ("teams/c/restart.md", "teams/c/restart-0", False),
    ]


def test_of_copies_the_one_on_the_page_that_is_asked_for_is_found(docs: Docs) -> None:
    same = "## Mitigation\n\nCall the platform team, and read its runbook.\n"
    for name in ("BrokerDown", "DiskFull", "QueueStuck"):
        docs.write(f"{name}.md", f"# {name}\n\nThe alert {name} fires.\n\n{same}")
    docs.ingest()
    found = docs.search("mitigation of QueueStuck").passages
    [first] = [passage for passage in found if "platform team" in passage.text]
    assert first.path == "QueueStuck.md"
    assert {place.path for place in first.places} == {"BrokerDown.md", "DiskFull.md"}


def test_the_current_version_stands_for_older_ones_that_differ_in_a_number(docs: Docs) -> None:
    versions(docs)
    docs.ingest()
    first, *others = docs.search(
        "after which time does the gateway close a socket that stays silent?"
    ).passages
    assert first.path == "docs/heartbeats.md"
    assert first.version is None
    assert [(p.version, p.differs) for p in first.places] == [
        ("2.3", True),
        ("2.2", True),
        ("2.1", True),
        ("2.0", True),
    ]
    # What differs follows once, where there is room.
    assert [p.path for p in others if p.version] == ["versioned_docs/version-2.3/heartbeats.md"]
    assert others[-1].version == "2.3"


def test_a_question_that_names_a_version_gets_it(docs: Docs) -> None:
    versions(docs)
    docs.ingest()
    for words in ("in version 2.1", "on v2.1.4", "2.1"):
        first = docs.search(
            f"when does the gateway close a socket that stays silent {words}?"
        ).passages[0]
        assert first.path == "versioned_docs/version-2.1/heartbeats.md"
        assert first.version == "2.1"


def test_a_number_that_looks_like_a_version_does_not_hide_the_current_text(docs: Docs) -> None:
    versions(docs)
    docs.ingest()
    found = docs.search("gateway with code 2.1: when does it close a silent socket?").passages
    assert paths(found)[:2] == ["versioned_docs/version-2.1/heartbeats.md", "docs/heartbeats.md"]


def test_an_older_text_with_the_number_that_is_asked_for_follows_the_current_one(
    docs: Docs,
) -> None:
    versions(docs)
    docs.write("versioned_docs/version-2.2/heartbeats.md", LIMIT.format(4711))
    for number in range(70):
        docs.write(f"docs/gateway-{number}.md", f"# Gateway {number}\n\nA socket of {number}.\n")
    docs.ingest()
    found = docs.search("does the gateway close a silent socket after 4711 seconds?").passages
    assert paths(found)[:2] == ["docs/heartbeats.md", "versioned_docs/version-2.2/heartbeats.md"]


def test_what_only_an_older_version_says_is_ranked_with_its_page(docs: Docs) -> None:
    push = "# Push\n\nThe depot takes an image from a push.\n"
    docs.write("latest/push.md", push)
    docs.write("v1.14/push.md", f"{push}\n## Turbo\n\nThe turbo flag doubles its speed.\n")
    for number in range(30):
        docs.write(f"latest/image-{number}.md", f"# Image {number}\n\nThe speed of {number}.\n")
    docs.ingest()
    found = docs.search("turbo flag of speed").passages
    assert paths(found)[:2] == ["latest/push.md", "v1.14/push.md"]


def test_a_page_that_the_current_version_has_under_another_path_is_one_page(docs: Docs) -> None:
    docs.write("latest/gateway/silence.md", LIMIT.format(90))
    docs.write("latest/limits.md", "# Limits\n\nWhoever opens more of them sees code 4429.\n")
    docs.write("v1.14/limits.md", "# Limits\n\nWhoever opens more of them sees code 4429.\n")
    docs.write("v1.14/heartbeats.md", LIMIT.format(55))
    docs.ingest()
    first = docs.search("when does the gateway close a silent socket?").passages[0]
    assert first.path == "latest/gateway/silence.md"
    assert [(p.path, p.differs) for p in first.places] == [("v1.14/heartbeats.md", True)]


def test_a_filter_finds_the_version_that_passes_it(docs: Docs) -> None:
    versions(docs)
    docs.ingest()
    found = docs.index.search("silent socket", path="versioned_docs/version-2.0").passages
    assert paths(found) == ["versioned_docs/version-2.0/heartbeats.md"]
    page = docs.index.document("versioned_docs/version-2.0/heartbeats.md")
    assert page is not None
    assert page.info.version == "2.0"
    assert page.editions[0] == ("docs/heartbeats.md", None)


def test_what_only_an_older_version_says_comes_behind_the_current_page(docs: Docs) -> None:
    docs.write("latest/push.md", "# Push\n\nSends an image to the depot.\n")
    turbo = "## Turbo\n\nThe turbo flag `--turbo` doubles it.\n"
    docs.write("v1.14/push.md", f"# Push\n\nSends an image to the depot.\n\n{turbo}")
    docs.ingest()
    assert paths(docs.search("turbo flag of push").passages) == ["latest/push.md", "v1.14/push.md"]


def test_a_new_version_takes_the_lead_and_a_deleted_one_gives_it_back(docs: Docs) -> None:
    docs.write("v1.1/heartbeats.md", LIMIT.format(50))
    docs.write("v1.2/heartbeats.md", LIMIT.format(60))
    docs.ingest()
    assert docs.search("silent socket").passages[0].path == "v1.2/heartbeats.md"
    docs.write("v1.3/heartbeats.md", LIMIT.format(70))
    docs.ingest()
    assert docs.search("silent socket").passages[0].path == "v1.3/heartbeats.md"
    docs.delete("v1.3/heartbeats.md")
    docs.ingest()
    assert docs.search("silent socket").passages[0].path == "v1.2/heartbeats.md"


def test_a_folder_without_its_other_versions_is_no_version_any_more(docs: Docs) -> None:
    docs.write("stable/heartbeats.md", LIMIT.format(90))
    docs.write("next/heartbeats.md", LIMIT.format(60))
    docs.write("next/push.md", RESTART)
    docs.ingest()
    page = docs.index.document("next/push.md")
    assert page is not None
    assert page.info.version == "next"
    docs.delete("stable/heartbeats.md")
    docs.ingest()
    page = docs.index.document("next/push.md")
    assert page is not None
    assert page.info.version is None


def test_a_list_of_versions_that_changes_is_noticed(docs: Docs) -> None:
    versions(docs)
    docs.ingest()
    docs.write("versions.json", '["2.2", "2.1", "2.0"]')
    assert docs.ingest().updated == 0
    first = docs.search(
        "after which time does the gateway close a socket that stays silent?"
    ).passages[0]
    assert first.path == "versioned_docs/version-2.2/heartbeats.md"
    assert {"next", "2.3"} <= {place.version for place in first.places}


def test_the_language_of_the_question_chooses_the_translation(docs: Docs) -> None:
    docs.write("docs/heartbeats.md", LIMIT.format(90) + "\nSee `launchUrl`.\n")
    docs.write("i18n/zh/heartbeats.md", CHINESE)
    docs.write("docs/limits.md", "# 限制\n\n网关的套接字太多。\n")
    docs.ingest()
    assert paths(docs.search("launchUrl").passages)[0] == "docs/heartbeats.md"
    assert "i18n/zh/heartbeats.md" not in paths(docs.search("silent socket of a client").passages)
    chinese = docs.search("网关什么时候关闭静默的套接字？").passages
    assert chinese[0].path == "i18n/zh/heartbeats.md"
    assert chinese[0].language == "zh"
    # A page that nobody translated is there for all.
    assert "docs/limits.md" in paths(chinese)


def test_nobody_sees_a_copy_or_its_place_in_a_collection_that_is_private(docs: Docs) -> None:
    docs.write("a-private/restart.md", RESTART)
    docs.write("public/restart.md", RESTART)
    docs.ingest()
    collections = {
        name: DocsCollection(paths=(f"{folder}/**",), description=name)
        for name, folder in (("public", "public"), ("private", "a-private"))
    }
    index = open_index(docs.settings, docs.embedder, collections)
    [passage] = index.within(["public"]).search("restart the broker").passages
    assert passage.path == "public/restart.md"
    assert not passage.places
    [passage] = index.search("restart the broker").passages
    assert {passage.path, passage.places[0].path} == {"public/restart.md", "a-private/restart.md"}
    index.close()


def test_a_text_that_was_seen_does_not_come_again_from_another_place(docs: Docs) -> None:
    docs.write("teams/a/restart.md", RESTART)
    docs.write("teams/b/restart.md", RESTART)
    docs.write("disk.md", "# Disk\n\nRestart the broker afterwards.\n")
    docs.ingest()
    found = docs.index.search("restart the broker", exclude=["teams/b/restart-0"]).passages
    assert paths(found) == ["disk.md"]


def test_many_versions_leave_room_for_other_pages(docs: Docs) -> None:
    for minor in range(60):
        text = "".join(
            f"\n## Part {n}\n\nThe relay {n} has {minor} silent sockets.\n" for n in range(10)
        )
        docs.write(f"v1.{minor}/relay.md", f"# Relay\n{text}")
    docs.write("v1.59/gateway.md", "# Gateway\n\nA silent gateway has no sockets.\n")
    docs.ingest()
    found = docs.search("relay with silent sockets").passages
    assert len({passage.text for passage in found}) == len(found)
    assert "v1.59/gateway.md" in paths(found[:11])


def test_a_change_log_leads_when_the_question_asks_when(docs: Docs) -> None:
    docs.write("push.md", "# Push\n\n`--retry-limit` of `shipctl push` is 9, sent again.\n")
    log = (
        "# Changes\n\n## 4.2.0\n\n- `--retry-limit` of `shipctl push` is 9.\n\n## 4.1.0\n\n- Fix.\n"
    )
    docs.write("CHANGELOG.md", log)
    docs.ingest()
    assert docs.search("--retry-limit of shipctl push").passages[0].path == "push.md"
    asked = docs.search("--retry-limit of shipctl push in release 4.2.0").passages
    assert asked[0].path == "CHANGELOG.md"


def test_a_list_of_versions_that_never_ends_is_read_in_part(docs: Docs) -> None:
    versions(docs)
    many = ["2.1", "2.3", *(f"x{number}" for number in range(MOST_RELEASED)), "2.0"]
    docs.write("versions.json", json.dumps(many))
    docs.ingest()
    folder = index_folders.live(docs.settings.data_dir)
    assert folder is not None
    note = json.loads(DocumentTables(folder.database).meta()[EDITIONS])
    assert [len(listed) for listed in note["released"].values()] == [MOST_RELEASED]
