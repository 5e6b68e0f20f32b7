"""Texts become unit vectors that depend on the text alone, offline, from files that are checked."""

import json
import shutil
from pathlib import Path

import numpy as np
import onnx
import pytest
from onnx import TensorProto, helper

from ingest.embedding import embedder as module
from ingest.embedding.embedder import MAX_TOKENS, TOKENIZER, Embedder, open_embedder
from ingest.errors import EmbedderError
from ingest.settings import IndexSettings

TEXTS = [
    "Restart the payout worker first.",
    "x",
    "Page the secondary on-call engineer after 15 minutes without an answer. " * 12,
    "`kubectl rollout undo deployment/payouts`",
    "The ledger is append only.",
] * 3


@pytest.fixture(scope="module")
def data_dir(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("data")


@pytest.fixture(scope="module")
def plain(data_dir: Path) -> Embedder:
    return open_embedder(IndexSettings(data_dir=data_dir, embedder_int8=False).embedder_source)


@pytest.fixture(scope="module")
def int8(data_dir: Path) -> Embedder:
    return open_embedder(IndexSettings(data_dir=data_dir).embedder_source)


def test_vectors_are_unit_length_and_near_for_like_texts(int8: Embedder) -> None:
    texts = ["how do I restart the payout worker", TEXTS[0], "our favourite soup recipes"]
    question, near, far = int8.embed(texts)
    assert int8.dimensions == 384
    assert question.dtype == np.float32
    assert np.linalg.norm(question) == pytest.approx(1, abs=1e-5)
    assert question @ near > 0.6 > question @ far


def test_the_int8_graph_agrees_with_the_plain_model(plain: Embedder, int8: Embedder) -> None:
    assert int8.fingerprint != plain.fingerprint
    assert (int8.embed(TEXTS) * plain.embed(TEXTS)).sum(axis=1).min() > 0.97


@pytest.mark.parametrize("kind", ["plain", "int8"])
def test_a_vector_depends_on_its_text_alone(kind: str, plain: Embedder, int8: Embedder) -> None:
    embedder = plain if kind == "plain" else int8
    together = embedder.embed(TEXTS)
    alone = np.stack([embedder.embed([text])[0] for text in TEXTS])
    assert np.abs(together - alone).max() <= (1e-5 if kind == "plain" else 0)


def test_the_int8_graph_is_built_once_and_always_the_same(
    data_dir: Path, int8: Embedder, tmp_path: Path
) -> None:
    kept = next((data_dir / "embedder").glob("*.onnx"))
    before = kept.stat().st_mtime_ns
    assert (
        open_embedder(IndexSettings(data_dir=data_dir).embedder_source).fingerprint
        == int8.fingerprint
    )
    assert kept.stat().st_mtime_ns == before
    again = open_embedder(IndexSettings(data_dir=tmp_path).embedder_source)
    assert again.fingerprint == int8.fingerprint
    assert next((tmp_path / "embedder").iterdir()).read_bytes() == kept.read_bytes()


def test_a_damaged_int8_graph_is_built_again(
    data_dir: Path, int8: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept = next((data_dir / "embedder").glob("*.onnx"))
    (tmp_path / "embedder").mkdir()
    (tmp_path / "embedder" / kept.name).write_bytes(kept.read_bytes()[:1000])
    assert (
        open_embedder(IndexSettings(data_dir=tmp_path).embedder_source).fingerprint
        == int8.fingerprint
    )
    assert "is damaged and is built again" in caplog.text


def test_an_int8_graph_that_computes_wrongly_is_not_used(
    plain: Embedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setattr(module, "CHECK_COSINE", 0.9999)
    used = open_embedder(IndexSettings(data_dir=tmp_path).embedder_source)
    assert used.fingerprint == plain.fingerprint
    assert list((tmp_path / "embedder").iterdir()) == []
    assert "computes wrong vectors on this processor" in caplog.text


def test_where_no_int8_graph_can_be_kept_the_plain_model_serves(
    plain: Embedder, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "data").write_text("a file where a folder should be")
    used = open_embedder(IndexSettings(data_dir=tmp_path / "data").embedder_source)
    assert used.fingerprint == plain.fingerprint
    assert "the plain one is used" in caplog.text


def test_a_build_that_fails_is_told_in_a_line(
    plain: Embedder,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
) -> None:
    monkeypatch.setenv("PYTHONHOME", str(tmp_path / "nowhere"))  # no Python starts there
    assert (
        open_embedder(IndexSettings(data_dir=tmp_path).embedder_source).fingerprint
        == plain.fingerprint
    )
    [record] = caplog.records
    assert "\n" not in record.getMessage()
    assert "ingest.embedding.quantize" not in record.getMessage()


def test_empty_input_and_broken_text_are_embedded(int8: Embedder) -> None:
    assert int8.embed([]).shape == (0, 384)
    vectors = int8.embed(["", " ", "\ud800 half a character", "a\0b", "語" * 5000])
    assert np.isfinite(vectors).all()
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(5), abs=1e-5)


def test_progress_counts_texts(int8: Embedder, plain: Embedder) -> None:
    for embedder in (int8, plain):
        heard: list[int] = []
        embedder.embed(TEXTS, heard.append)
        assert heard == sorted(heard)
        assert heard[-1] == len(TEXTS)


def test_a_text_fits_as_long_as_the_model_sees_all_of_it(int8: Embedder) -> None:
    words = MAX_TOKENS - 2  # a start and an end mark are added
    assert int8.fits("word " * words)
    assert not int8.fits("word " * (words + 1))
    longer = int8.embed(["word " * words + "payout ledger", "word " * words])
    assert np.abs(longer[0] - longer[1]).max() == 0


def test_a_tampered_file_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    changed = tmp_path / "tokenizer.json"
    changed.write_bytes(TOKENIZER.read_bytes() + b" ")
    monkeypatch.setattr(module, "TOKENIZER", changed)
    with pytest.raises(EmbedderError, match="SHA-256"):
        open_embedder(IndexSettings(data_dir=tmp_path).embedder_source)


def make_model(folder: Path, dimensions: int, inputs: tuple[str, ...]) -> None:
    """A model that looks every token up in a table."""
    folder.mkdir(parents=True)
    table = np.random.default_rng(7).standard_normal((40_000, dimensions)).astype(np.float32)
    shape = ["batch", "length"]
    graph = helper.make_graph(
        [helper.make_node("Gather", ["table", "input_ids"], ["last_hidden_state"])],
        "lookup",
        [helper.make_tensor_value_info(name, TensorProto.INT64, shape) for name in inputs],
        [helper.make_tensor_value_info("last_hidden_state", TensorProto.FLOAT, None)],
        [onnx.numpy_helper.from_array(table, "table")],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    onnx.save(model, folder / "model.onnx")
    shutil.copy(TOKENIZER, folder / "tokenizer.json")


def test_a_folder_with_another_model_is_used_as_its_files_say(tmp_path: Path) -> None:
    make_model(tmp_path / "lookup", 48, ("input_ids", "attention_mask"))
    (tmp_path / "lookup" / "sentence_bert_config.json").write_text('{"max_seq_length": 16}')
    settings = IndexSettings(data_dir=tmp_path, embedder=str(tmp_path / "lookup"))
    mean = open_embedder(settings.embedder_source)
    assert (mean.name, mean.dimensions) == ("lookup", 48)
    assert not mean.fits("word " * 15)
    (tmp_path / "lookup" / "1_Pooling").mkdir()
    pooling = {"pooling_mode_cls_token": True, "pooling_mode_mean_tokens": False}
    (tmp_path / "lookup" / "1_Pooling" / "config.json").write_text(json.dumps(pooling))
    first = open_embedder(settings.embedder_source)
    assert first.fingerprint != mean.fingerprint
    same_start = first.embed(["payout", "ledger"])
    assert np.abs(same_start[0] - same_start[1]).max() < 1e-6
    assert mean.embed(["payout"])[0] @ mean.embed(["ledger"])[0] < 0.99


def test_a_folder_without_a_model_is_named(tmp_path: Path) -> None:
    with pytest.raises(EmbedderError, match=r"FOOTNOTE_EMBEDDER: .*model\.onnx"):
        open_embedder(IndexSettings(data_dir=tmp_path, embedder=str(tmp_path)).embedder_source)
    (tmp_path / "model.onnx").write_bytes(b"no model")
    shutil.copy(TOKENIZER, tmp_path)
    with pytest.raises(EmbedderError, match="cannot be loaded"):
        open_embedder(IndexSettings(data_dir=tmp_path, embedder=str(tmp_path)).embedder_source)
