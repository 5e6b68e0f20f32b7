"""Case files: how each kind of line is read, and the one line that says what is wrong."""

import json
from pathlib import Path

import pytest

from ingest.errors import SettingsError
from ingest.evaluate.cases import Case, by_folder, read_cases

GOOD = {
    "id": "q1",
    "kind": "how-to",
    "corpus": "handbook",
    "question": "How do I page?",
    "gold_files": ["oncall.md"],
    "gold_quotes": [{"file": "oncall.md", "quote": "Page the secondary"}],
}


def file(tmp_path: Path, *lines: object) -> Path:
    path = tmp_path / "questions.jsonl"
    path.write_text(
        "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    )
    return path


def test_a_follow_up_is_searched_with_what_was_said_before(tmp_path: Path) -> None:
    asked = {**GOOD, "type": "followup", "history": ["Who is on call?"], "question": "And after?"}
    (case,) = read_cases(file(tmp_path, asked), Case)
    assert case.query == "Who is on call? And after?"


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("{", "questions.jsonl:2: not JSON"),
        ("[]", "questions.jsonl:2: not a JSON object. Write one JSON object a line."),
        ({**GOOD, "id": "q2", "question": ""}, "questions.jsonl:2: question: "),
        ({**GOOD, "id": "q2", "type": "maybe"}, "questions.jsonl:2: type: "),
        ({**GOOD, "id": "q2", "gold_files": []}, "name at least one page, or set type"),
        ({**GOOD, "id": "q2", "gold_files": ["other.md"]}, "oncall.md is not one of gold_files"),
        ({**GOOD, "id": "q2", "type": "followup"}, "give the messages before a followup"),
        (GOOD, "the id 'q1' is there twice. Give each its own."),
    ],
)
def test_a_line_that_is_wrong_is_named_with_its_cure(
    tmp_path: Path, line: object, complaint: str
) -> None:
    with pytest.raises(SettingsError) as caught:
        read_cases(file(tmp_path, GOOD, line), Case)
    assert complaint in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [(b"", "holds no question"), (b"\xff\xfe\xff", "is not UTF-8 text"), (None, "cannot be read")],
)
def test_a_file_that_cannot_be_used_is_named(
    tmp_path: Path, content: bytes | None, complaint: str
) -> None:
    path = tmp_path / "questions.jsonl"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(SettingsError, match=complaint):
        read_cases(path, Case)


def test_a_question_about_docs_that_are_not_there_is_named(tmp_path: Path) -> None:
    case = Case.model_validate(GOOD)
    with pytest.raises(SettingsError, match=r"there is no folder .*handbook"):
        by_folder([case], None, tmp_path)
    (tmp_path / "handbook").mkdir()
    with pytest.raises(SettingsError, match=r"case q1: there is no file oncall\.md"):
        by_folder([case], None, tmp_path)
    (tmp_path / "handbook" / "oncall.md").write_text("# On call\n")
    assert by_folder([case], None, tmp_path) == {tmp_path / "handbook": [case]}
    alone = case.model_copy(update={"corpus": None})
    with pytest.raises(SettingsError, match="q1 has no corpus"):
        by_folder([alone], None, tmp_path)
    assert by_folder([alone], tmp_path / "handbook", None) == {tmp_path / "handbook": [alone]}


@pytest.mark.parametrize("path", ["oncall.md", ["oncall.md"]])
def test_the_own_questions_of_a_docs_repo_are_read(tmp_path: Path, path: object) -> None:
    own = {"question": "How do I page?", "path": path}
    (case,) = read_cases(file(tmp_path, own), Case)
    assert (case.id, case.gold_files, case.has_answer) == ("line-1", ("oncall.md",), True)
