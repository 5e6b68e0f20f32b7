"""Paths of documents -> pages, versions and languages."""

import pytest

from ingest.editions.edition import Edition, Stated
from ingest.editions.lay_outs import lay_out

ENGLISH = (
    "The gateway closes a socket that stays silent for ninety seconds. Restart the broker and look"
    " at the queue of the page {}."
)
CHINESE = "登录供应商的数据收集平台。选择属性，然后打开环境选项卡。复制脚本地址，即可。"
GERMAN = (
    "Der Dienst schließt eine Verbindung, die neunzig Sekunden lang still ist. Danach muss der"
    " Vermittler neu gestartet werden."
)
PLUGIN = "docusaurus-plugin-content-docs"


def text_of(path: str) -> str:
    if any(tag in path for tag in ("zh", "cn")):
        return CHINESE
    if "de/" in path or ".de." in path:
        return GERMAN
    return ENGLISH.format(path.rpartition("/")[2])


def editions(*paths: str, **released: list[str]) -> dict[str, Edition]:
    found = lay_out(paths, {}, text_of, {"": released["released"]} if released else None)
    return dict(found.editions)


@pytest.mark.parametrize(
    ("current", "older"),
    [
        ("docs/x.md", ["versioned_docs/version-2.10/x.md", "versioned_docs/version-2.9/x.md"]),
        ("latest/x.md", ["v1.15/x.md", "v1.2/x.md", "archive/1.1/x.md"]),
        ("x.md", ["v1.14/x.md", "archive/1.2/x.md"]),
        ("docs/guide/x.md", ["docs/archive/1.2/guide/x.md"]),
        ("v1.15/docs/x.md", ["v1.14/docs/x.md", "v1.2/docs/x.md"]),
        ("2.8/x.md", ["2.7.1/x.md", "2.7/x.md"]),
        ("release-2.9/x.md", ["release-2.9-rc1/x.md"]),
        ("v1.0/x.md", ["main/x.md"]),
        ("stable/x.md", ["v3/x.md", "v2/x.md", "nightly/x.md"]),
        ("3/x.md", ["2/x.md", "1/x.md"]),
        ("api/v2/users.md", ["api/v1/users.md"]),
    ],
)
def test_the_current_edition_leads_and_the_newest_follows(current: str, older: list[str]) -> None:
    found = editions(*sorted([current, *older, "about.md"]))
    order = sorted([current, *older], key=lambda path: found[path].standing)
    assert order == [current, *older]
    assert len({found[path].page for path in order}) == 1
    assert found["about.md"].page == "about.md"


def test_a_list_of_versions_says_which_is_released() -> None:
    paths = ["docs/x.md", *(f"versioned_docs/version-2.{n}/x.md" for n in (9, 10))]
    found = editions(*paths, released=["2.10", "2.9"])
    assert [found[path].standing for path in paths] == [2, 1, 0]
    assert found["docs/x.md"].version == "next"


@pytest.mark.parametrize(
    "paths",
    [
        ("it/README.md", "hr/README.md", "README.md"),
        ("2023/05/post.md", "2024/05/post.md"),
        ("2024.05.01/report.md", "2024.05.02/report.md"),
        ("dev/tools.md", "ops/tools-of-ops.md", "latest/news.md"),
        ("1/minutes.md", "2/agenda.md"),
        ("docs/overview.md", "docs/ai/overview.md", "docs/x.md"),
        ("x.md", "en/x.md", "y.md"),
        ("clusters/prod/x.md", "clusters/dev/x.md", "clusters/main/x.md"),
    ],
)
def test_other_folders_are_no_editions(paths: tuple[str, ...]) -> None:
    assert editions(*paths) == {path: Edition(path) for path in paths}


@pytest.mark.parametrize(
    ("original", "translation", "language"),
    [
        ("docs/adobe.md", "i18n/zh/adobe.md", "zh"),
        ("docs/x.md", f"i18n/zh/{PLUGIN}/current/x.md", "zh"),
        ("docs/en/x.md", "docs/de/x.md", "de"),
        ("content/en/docs/x.md", "content/zh-cn/docs/x.md", "zh-cn"),
        ("x.md", "x.zh.md", "zh"),
        ("README.md", "README_cn.md", "zh"),
        ("guide/x.md", "cn/guide/x.md", "zh"),
        ("x.md", "de/x.md", "de"),
    ],
)
def test_a_translation_is_known_by_its_path_and_its_text(
    original: str, translation: str, language: str
) -> None:
    found = editions(original, translation, f"{original.removesuffix('x.md')}other.md")
    assert found[translation].language == language
    assert found[original].language is None
    assert found[translation].page == found[original].page


def test_a_version_of_a_translation_is_an_edition_of_the_translated_page() -> None:
    paths = (
        "docs/x.md",
        "versioned_docs/version-2.3/x.md",
        f"i18n/zh/{PLUGIN}/current/x.md",
        f"i18n/zh/{PLUGIN}/version-2.3/x.md",
    )
    found = editions(*paths)
    assert {edition.page for edition in found.values()} == {"docs/x.md"}
    assert [found[path].version for path in paths] == [None, "2.3", None, "2.3"]
    assert [found[path].language for path in paths] == [None, None, "zh", "zh"]


def test_another_text_beside_a_folder_with_versions_is_no_edition_of_it() -> None:
    texts = {
        "README.md": "Everything about mail: relays, keys, and whom to call at night.",
        "v1/README.md": "GET /users lists tenants; POST creates one; DELETE wants a token.",
        "v2/README.md": "GET /users lists tenants; POST creates two; DELETE wants a token.",
    }
    found = lay_out([*texts], {}, texts.__getitem__).editions
    assert found["v1/README.md"].page == found["v2/README.md"].page != found["README.md"].page
    assert [found[path].standing for path in texts] == [0, 1, 0]


def test_a_first_version_with_few_pages_is_a_version_all_the_same() -> None:
    found = editions("v1.0/x.md", *(f"latest/{name}.md" for name in "abcdefgx"))
    assert (found["latest/x.md"].standing, found["v1.0/x.md"].standing) == (0, 1)


def test_a_page_that_the_current_version_lacks_has_no_current_edition() -> None:
    found = editions("latest/x.md", "v1.2/x.md", "v1.2/gone.md", "v1.1/gone.md", "latest/y.md")
    assert found["latest/x.md"].standing == found["latest/y.md"].standing == 0
    assert [found[f"v1.{minor}/gone.md"].standing for minor in (2, 1)] == [1, 2]


def test_a_page_with_another_path_is_an_edition_of_the_page_with_its_text() -> None:
    texts = {
        "latest/setup/new.md": f"{ENGLISH.format('setup')} Then call the one on duty.",
        "latest/x.md": "Everything about mail: relays, keys, and whom to call at night.",
        "v1.1/gone.md": "Sockets of the old broker are opened by hand, with a key from the safe.",
        "v1.1/old.md": ENGLISH.format("setup"),
        "v1.1/x.md": "Everything about mail: relays, keys, and whom to call at night.",
    }
    found = lay_out([*texts], {}, texts.__getitem__).editions
    assert found["v1.1/old.md"].page == found["latest/setup/new.md"].page
    assert (found["latest/setup/new.md"].standing, found["v1.1/old.md"].standing) == (0, 1)
    assert found["v1.1/gone.md"].page not in {found[p].page for p in texts if p != "v1.1/gone.md"}


def test_reports_by_number_are_no_versions_although_they_follow_one_form() -> None:
    texts = {
        "incidents/1/report.md": "Impact: the broker was full. Cause: a queue that nobody read.",
        "incidents/2/report.md": "Impact: mails came late. Cause: an expired key of a relay.",
    }
    found = lay_out([*texts], {}, texts.__getitem__)
    assert dict(found.editions) == {path: Edition(path) for path in texts}


def test_front_matter_names_a_version_where_the_path_does_not() -> None:
    found = lay_out(["a.md"], {"a.md": Stated(version="v1.14")}, text_of)
    assert found.editions["a.md"].version == "1.14"
