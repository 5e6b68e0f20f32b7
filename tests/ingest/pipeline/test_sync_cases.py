"""The shared cases of scripted git histories: what the index holds after each ingest."""

import shutil
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.cases import Json, Unknown, call, carry_out, family, opened, require
from tests.ingest.pipeline.sync import Play
from tests.ingest.pipeline.sync_expectations import Seen, unmet
from tests.ingest.sync_operations import OPERATIONS, label_of


@pytest.mark.parametrize("line", family("sync"))
def test_a_history_is_followed_as_its_case_says(
    line: Json, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    case = opened(line)
    if any(op["op"] == "remote_auth_refuses" for op in case.input["ops"]):
        if not shutil.which("openssl"):
            pytest.skip("openssl makes the server's certificate")
        monkeypatch.setenv("GIT_SSL_CAINFO", str(tmp_path / "server.pem"))
    require(call(played, case.input, case.expect, tmp_path))


def played(
    expect: Json, folder: Path, docs_root: str, ops: list[Json], config: Json | None = None
) -> list[str]:
    """What does not hold, each with the label after which it should."""
    if unknown := expect.keys() - set(map(label_of, ops)):
        raise Unknown(f"no operation has the labels {sorted(unknown)}")
    first = ops[0]
    branch = first["default_branch"] if first["op"] == "init" else "main"
    found = []
    with ExitStack() as stack:
        play = Play(folder, stack, {"docs_root": docs_root, **(config or {})}, branch)
        for op in ops:
            carry_out(OPERATIONS, op, play)
            if label := label_of(op):
                wrong = unmet(Seen(play, play.outcomes[label]), expect.get(label, {}))
                found += [f"{label}: {fault}" for fault in wrong]
    return found
