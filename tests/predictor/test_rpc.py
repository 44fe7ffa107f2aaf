"""`predictor_rpc`: exact frames, and nothing that is sent ends it."""

from __future__ import annotations

import hashlib
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.db import connection
from hypothesis import given
from hypothesis import strategies as st

from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from predictor.core import rpc_frames
from predictor.core.rpc_model import RpcModel
from predictor.core.rpc_params import LabelledParams, ScoreParams, SignalsParams, TrainParams
from predictor.core.scorer import Scorer
from predictor.core.types import SIGNALS
from predictor.management.commands.predictor_rpc import DatabaseParams, RpcServer
from predictor.models import CanarySession, Label, ModelVersion, PredictorState, Training
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS
from tests.predictor.judged import build_world

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 8


def vectors(n: int, seed: int = 0) -> list[list[float]]:
    rows = np.random.default_rng(seed).standard_normal((n, WIDTH))
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).tolist()


def session(n: int = 4, seed: int = 0, **others: Any) -> dict[str, Any]:
    """Return what `score` and `train` have in common."""
    rng = np.random.default_rng(seed)
    return {
        "context_embedding": vectors(1, seed + 1000)[0],
        "candidate_embeddings": vectors(n, seed),
        "candidate_features": rng.standard_normal((n, len(SIGNALS))).tolist(),
        "log_effectiveness": rng.standard_normal(n).tolist(),
        "signals": {
            "hour": 13.5,
            "weekday": 2,
            "month": 4.5,
            "session_gap_hours": 7,
            "project": "atlas",
        },
        **others,
    }


def scored(n: int = 4, **others: Any) -> dict[str, Any]:
    return session(n, candidate_ids=[f"m{i}" for i in range(n)]) | others


def trained(n: int = 12) -> dict[str, Any]:
    rng = np.random.default_rng(3)
    sessions = []
    for seed in range(n):
        one = session(6, seed, confidence=0.9, injected=[True] * 3 + [False] * 3)
        cosine = np.array(one["candidate_embeddings"]) @ np.array(one["context_embedding"])
        one["labels"] = np.clip(cosine + rng.normal(0, 0.05, 6), -1, 1).tolist()
        sessions.append(one)
    return {"sessions": sessions, "epochs": 2}


def frame(method: str, params: Any = None, *, request_id: Any = 1) -> bytes:
    told = {"jsonrpc": "2.0", "id": request_id, "method": method}
    return json.dumps(told | ({} if params is None else {"params": params})).encode()


def ask(server: RpcServer, method: str, params: Any = None) -> Any:
    answer = json.loads(server.answer(frame(method, params)))
    assert (answer["jsonrpc"], answer["id"]) == ("2.0", 1)
    assert len(answer) == 3
    return answer.get("result") or answer["error"]


@pytest.fixture
def server() -> RpcServer:
    return RpcServer(RpcModel())


def test_scores_come_in_the_order_of_the_ids(server: RpcServer) -> None:
    told = ask(server, "score", scored())

    assert [one["id"] for one in told["scores"]] == ["m0", "m1", "m2", "m3"]
    assert (told["model_version"], told["model_ready"]) == (0, False)
    turned = scored()
    for name in ("candidate_ids", "candidate_embeddings", "candidate_features"):
        turned[name] = turned[name][::-1]
    turned["log_effectiveness"] = turned["log_effectiveness"][::-1]
    again = ask(server, "score", turned)
    assert [s["score"] for s in again["scores"][::-1]] == pytest.approx(
        [s["score"] for s in told["scores"]], abs=1e-4
    )


def test_an_untrained_model_ranks_by_the_baseline_that_it_is_sent(server: RpcServer) -> None:
    for baseline in ([0.1, 0.7, 0.0, 0.4], [0.9, 0.2, 0.5, 1.0]):
        told = ask(server, "score", scored(baseline=baseline))
        scores = [one["score"] for one in told["scores"]]
        assert np.argsort(scores).tolist() == np.argsort(baseline).tolist()


def test_what_was_learned_is_added_to_the_baseline_that_is_sent(server: RpcServer) -> None:
    sessions = trained()
    for one in sessions["sessions"]:
        one["baseline"] = [(label + 1) / 2 for label in one["labels"]]
    assert ask(server, "train", sessions)["samples_used"] == 12
    low, high = (
        ask(server, "score", scored(baseline=[0.5, 0.5, value, 0.5]))["scores"]
        for value in (0.0, 1.0)
    )
    raised = [b["score"] - a["score"] for a, b in zip(low, high, strict=True)]
    assert raised[2] > 0.5
    assert raised[:2] + raised[3:] == pytest.approx([0, 0, 0], abs=1e-5)


def test_no_candidates_have_no_scores(server: RpcServer) -> None:
    empty = scored(0, candidate_features=[], log_effectiveness=[])
    assert ask(server, "score", empty)["scores"] == []


def test_training_makes_the_model_ready_and_changes_scores(server: RpcServer) -> None:
    before = ask(server, "score", scored())
    told = ask(server, "train", trained())
    after = ask(server, "score", scored())

    assert set(told) == {"loss", "step", "samples_used", "samples_skipped", "duration_ms"}
    assert (told["samples_used"], told["samples_skipped"], told["step"]) == (12, 0, 2)
    assert (after["model_ready"], after["model_version"]) == (True, 1)
    assert after["scores"] != before["scores"]
    status = ask(server, "status")
    assert status.pop("last_trained").endswith("+00:00")
    assert status == {
        "trained": True,
        "training_sessions": 12,
        "model_version": 1,
        "parameters": server.model.scorer.parameter_count,
    }


def test_status_before_anything(server: RpcServer) -> None:
    assert ask(server, "status", {}) == {
        "trained": False,
        "training_sessions": 0,
        "model_version": 0,
        "last_trained": None,
        "parameters": 1_088_925,
    }


def test_flat_sessions_are_skipped_and_teach_nothing(server: RpcServer) -> None:
    flat = session(4, labels=[0.5] * 4, confidence=1)
    told = ask(server, "train", {"sessions": [flat]})

    assert (told["samples_used"], told["samples_skipped"]) == (0, 1)
    assert not ask(server, "status")["trained"]


def test_the_same_frames_make_the_same_bytes(tmp_path: Path) -> None:
    made = []
    for name in ("a", "b"):
        server = RpcServer(RpcModel(seed=4))
        ask(server, "train", trained())
        told = ask(server, "save_checkpoint", {"path": str(tmp_path / name)})
        raw = (tmp_path / name).read_bytes()
        assert told == {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}
        made.append(raw)
    assert made[0] == made[1]
    assert Scorer.from_bytes(made[0]).is_trained
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "b"]


def test_sessions_sent_bit_by_bit_teach_what_they_teach_together() -> None:
    sessions = trained(12)["sessions"]
    at_once, bit_by_bit = RpcServer(RpcModel()), RpcServer(RpcModel())
    ask(at_once, "train", {"sessions": sessions})
    for part in (sessions[:5], sessions[:8], sessions[5:]):
        told = ask(bit_by_bit, "train", {"sessions": part})
        assert told["samples_used"] == len(part)
    flat = session(4, labels=[0.5] * 4, confidence=1)
    assert ask(bit_by_bit, "train", {"sessions": [flat]})["samples_skipped"] == 1

    assert bit_by_bit.model.to_bytes() == at_once.model.to_bytes()
    assert ask(bit_by_bit, "status")["training_sessions"] == 12


def test_a_checkpoint_is_written_over_nothing_but_a_checkpoint(
    server: RpcServer, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("mine")
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "elsewhere")
    for path in (precious, link, tmp_path, tmp_path / "no" / "folder", "a\0b", "/dev/null", ""):
        told = ask(server, "save_checkpoint", {"path": str(path)})
        assert told["code"] == -32602, path
        assert told["message"].startswith("path: ")
    assert precious.read_text() == "mine"
    assert not (tmp_path / "elsewhere").exists()
    place = tmp_path / "weights.sgpt"
    for _ in range(2):
        assert ask(server, "save_checkpoint", {"path": str(place)})["bytes"] == len(
            place.read_bytes()
        )


WRONG = [
    (-32700, b"nonsense", None),
    (-32700, b"\xff\xfe{}", None),
    (-32700, b'{"jsonrpc": "2.0", "id": 1, "method": "status", "params": {"x": NaN}}', None),
    (-32700, b"[" * 100_000, None),
    (-32700, b'{"id": ' + b"9" * 5000 + b"}", None),
    (-32600, b"[]", None),
    (-32600, b'[{"jsonrpc": "2.0", "id": 1, "method": "status"}]', None),
    (-32600, b'"status"', None),
    (-32600, b"null", None),
    (-32600, b"{}", None),
    (-32600, b'{"jsonrpc": "1.0", "id": 1, "method": "status"}', "jsonrpc"),
    (-32600, b'{"jsonrpc": "2.0", "id": 1}', "method"),
    (-32600, b'{"jsonrpc": "2.0", "id": 1, "method": 7}', "method"),
    (-32600, b'{"jsonrpc": "2.0", "id": [1], "method": "status"}', "id"),
    (-32600, b'{"jsonrpc": "2.0", "id": true, "method": "status"}', "id"),
    (-32600, b'{"jsonrpc": "2.0", "id": 1e400, "method": "status"}', "id"),
    (-32600, b'{"jsonrpc": "2.0", "id": 1, "method": "status", "parms": {}}', "parms"),
    (-32601, b'{"jsonrpc": "2.0", "id": 1, "method": "__init__"}', "method"),
    (-32601, b'{"jsonrpc": "2.0", "id": 1, "method": ""}', "method"),
    (-32602, b'{"jsonrpc": "2.0", "id": 1, "method": "status", "params": []}', "params"),
    (-32602, b'{"jsonrpc": "2.0", "id": 1, "method": "score", "params": null}', "params"),
    (-32602, b'{"jsonrpc": "2.0", "id": 1, "method": "status", "params": {"x": 1}}', "x"),
]


@pytest.mark.parametrize(("code", "line", "field"), WRONG)
def test_a_wrong_frame_is_answered_with_its_code(server: RpcServer, code, line, field) -> None:
    error = json.loads(server.answer(line))["error"]

    assert error["code"] == code
    assert field is None or error["message"].startswith(f"{field}: ")


def spoilt(**others: Any) -> dict[str, Any]:
    return {name: value for name, value in (scored() | others).items() if value is not ...}


MIDNIGHT = {"hour": 0, "weekday": 1, "month": 1}
SPOILT = [
    ("candidate_embeddings[0]", {"context_embedding": [1.0]}),
    ("candidate_embeddings[1]", {"context_embedding": None, "candidate_embeddings": [[1], [2, 3]]}),
    ("context_embedding", {"context_embedding": "1" * WIDTH}),
    ("context_embedding", {"context_embedding": ["1"] * WIDTH}),
    ("context_embedding", {"context_embedding": [True] * WIDTH}),
    ("context_embedding", {"context_embedding": [1e39] * WIDTH}),
    ("context_embedding", {"context_embedding": [10**400] * WIDTH}),
    ("context_embedding", {"context_embedding": []}),
    ("candidate_embeddings", {"candidate_embeddings": ...}),
    ("candidate_embeddings", {"candidate_embeddings": {}}),
    ("candidate_embeddings[1]", {"candidate_embeddings": [*vectors(1), [0.5], None, None]}),
    ("candidate_embeddings[1]", {"candidate_embeddings": [*vectors(1), [[1]] * WIDTH, None, None]}),
    ("candidate_ids", {"candidate_ids": ...}),
    ("candidate_ids", {"candidate_ids": ["a", "b"]}),
    ("candidate_ids", {"candidate_ids": ["a", "b", "c", "a"]}),
    ("candidate_ids", {"candidate_ids": ["a", "b", "c", 4]}),
    ("candidate_features", {"candidate_features": [[0] * 12] * 3}),
    ("candidate_features[2]", {"candidate_features": [[0] * 12] * 2 + [[0] * 10] * 2}),
    ("candidate_features[0]", {"candidate_features": [None] * 4}),
    ("log_effectiveness", {"log_effectiveness": [0.0] * 5}),
    ("baseline", {"baseline": [0.1] * 3}),
    ("baseline", {"baseline": [0.1, 0.2, 0.3, 1.1]}),
    ("baseline", {"baseline": [0.1, 0.2, 0.3, -0.1]}),
    ("baseline", {"baseline": [0.1, 0.2, 0.3, None]}),
    ("baseline", {"baseline": 0.1}),
    ("candidate_texts", {"candidate_texts": ["a", "b"]}),
    ("candidate_texts", {"candidate_texts": [1, 2, 3, 4]}),
    ("injected", {"injected": ["yes"] * 4}),
    ("signals", {"signals": ...}),
    ("signals.hour", {"signals": {"weekday": 1, "month": 1}}),
    ("signals.hour", {"signals": {"hour": 25, "weekday": 1, "month": 1}}),
    ("signals.hour", {"signals": {"hour": "3", "weekday": 1, "month": 1}}),
    ("signals.session_gap_hours", {"signals": MIDNIGHT | {"session_gap_hours": -1}}),
    ("signals.project", {"signals": MIDNIGHT | {"project": 32}}),
    ("signals.minute", {"signals": MIDNIGHT | {"minute": 1}}),
    ("contxt_embedding", {"contxt_embedding": [1.0]}),
]  # fmt: skip


@pytest.mark.parametrize(("field", "others"), SPOILT)
def test_a_wrong_value_is_refused_by_its_name(server: RpcServer, field: str, others) -> None:
    error = ask(server, "score", spoilt(**others))

    assert (error["code"], error["message"].split(":")[0]) == (-32602, field)


RANGED = [
    (
        {"context_embedding": [0, 0, 0, "1", 0, 0, 0, 0]},
        'context_embedding: must hold numbers from -1e+06 to 1e+06; [3] is "1"',
    ),
    (
        {"context_embedding": [0] * 7 + [10**400]},
        "context_embedding: must hold numbers from -1e+06 to 1e+06; [7] is an integer beyond that",
    ),
    (
        {"context_embedding": [0] * 7 + [1e38]},
        "context_embedding: must hold numbers from -1e+06 to 1e+06; [7] is 1e+38",
    ),
    (
        {"candidate_embeddings": [[0.5] * 8, [-1e38] * 8, None, None]},
        "candidate_embeddings[1]: must hold numbers from -1e+06 to 1e+06; [0] is -1e+38",
    ),
    (
        {"context_embedding": [], "candidate_embeddings": [None] * 4},
        "context_embedding: must be a list of 1 to 16384 numbers",
    ),
    (
        {"context_embedding": None, "candidate_embeddings": [None, 5, None, None]},
        "candidate_embeddings[1]: must be a list of 1 to 16384 numbers",
    ),
    (
        {"candidate_embeddings": [[0.5], None, None, None]},
        "candidate_embeddings[0]: has 1 numbers, must have 8",
    ),
    ({"candidate_ids": ["a"]}, "candidate_ids: has 1 ids, must have one for each of 4 candidates"),
    (
        {"candidate_ids": ["a", "b", "a", "c"]},
        'candidate_ids: must hold each id once; [2] is "a" again',
    ),
    (
        {"candidate_ids": ["a", "b", ["c"], "d"]},
        "candidate_ids: must hold strings; [2] is a list",
    ),
    (
        {"candidate_features": [[0] * 12]},
        "candidate_features: has 1 rows, must have one for each of 4 candidates",
    ),
    (
        {"candidate_texts": ["a"]},
        "candidate_texts: has 1 texts, must have one for each of the 0 without embedding,"
        " or of all 4 candidates",
    ),
    ({"injected": [2, 0, 0, 0]}, "injected: must be a list of 4 times true or false"),
    # What only trainings read may be sent along, but not wrong.
    (
        {"labels": [0, 0, 2, 0]},
        "labels: must hold numbers from -1 to 1; [2] is 2",
    ),
    ({"labels": "x"}, "labels: must be a list of 4 numbers"),
    ({"confidence": 5}, "confidence: must be a number from 0 to 1"),
]


@pytest.mark.parametrize(("others", "message"), RANGED)
def test_a_refusal_says_what_would_be_taken(server: RpcServer, others: Any, message: str) -> None:
    assert ask(server, "score", spoilt(**others)) == {"code": -32602, "message": message}


def test_a_small_frame_cannot_ask_for_more_memory_than_there_is(server: RpcServer) -> None:
    wide = {"context_embedding": [0.5] * 16_384, "candidate_embeddings": [None] * 10_000}
    told = ask(server, "score", spoilt(**wide))
    assert told["message"] == "candidate_embeddings: 10000 of width 16384 are too many"
    half = session(0) | wide | {"candidate_embeddings": [None] * 5_000}
    half |= {"candidate_features": [[0] * 12] * 5_000, "log_effectiveness": None}
    half |= {"labels": [0.0] * 5_000, "confidence": 1}
    told = ask(server, "train", {"sessions": [half, half]})
    assert told["message"] == "sessions[1]: all embeddings exceed 134217728 numbers"
    assert "scores" in ask(server, "score", scored())


def test_methods_and_digits_that_there_are_not_are_told(server: RpcServer) -> None:
    assert ask(server, "scores")["message"] == (
        "method: there is no 'scores', but score, train, train_from_db, status, save_checkpoint"
    )
    long = json.loads(server.answer(b'{"jsonrpc": "2.0", "id": ' + b"9" * 5000 + b"}"))
    assert long["error"]["message"] == "a number has more than 4300 digits"
    nan = json.loads(server.answer(b'{"id": NaN}'))
    assert nan["error"]["message"] == "the frame is no JSON: NaN is no number"


@pytest.mark.parametrize("path", ["a\0b", "folder/\ud800", 5, None])
def test_a_path_that_no_system_has_is_refused(server: RpcServer, path: Any) -> None:
    assert ask(server, "save_checkpoint", {"path": path})["message"] == (
        "path: must be a string, not empty, of printable characters"
    )


@pytest.mark.parametrize(
    ("field", "others"),
    [
        ("sessions[0].candidate_ids", {"candidate_ids": ["a", "b", "c", "c"]}),
        ("sessions[0].labels", {"labels": [0.1] * 3}),
        ("sessions[0].labels", {"labels": [0.1, 0.2, 0.3, 1.5]}),
        ("sessions[0].labels", {"labels": None}),
        ("sessions[0].confidence", {"confidence": 1.1}),
        ("sessions[0].confidence", {"confidence": None}),
        ("sessions[0].candidate_features[3]", {"candidate_features": [[0] * 12] * 3 + [[0]]}),
    ],
)
def test_a_wrong_session_is_refused_by_its_place(server: RpcServer, field: str, others) -> None:
    one = session(4, labels=[0.1, 0.2, 0.3, 0.9], confidence=0.9) | others
    error = ask(server, "train", {"sessions": [one]})

    assert (error["code"], error["message"].split(":")[0]) == (-32602, field)
    assert not ask(server, "status")["trained"]


def test_trainings_refuse_what_is_no_list_and_odd_epochs(server: RpcServer) -> None:
    for params, field in (
        ({}, "sessions"),
        ({"sessions": []}, "sessions"),
        ({"sessions": [7]}, "sessions[0]"),
        (trained(1) | {"epochs": 0}, "epochs"),
        (trained(1) | {"epochs": 2.5}, "epochs"),
        (trained(1) | {"epochs": 10**9}, "epochs"),
    ):
        error = ask(server, "train", params)
        assert (error["code"], error["message"].split(":")[0]) == (-32602, field)


def test_another_width_than_the_models_is_refused(server: RpcServer) -> None:
    ask(server, "train", trained())
    other = scored()
    other["context_embedding"] = other["context_embedding"][:-1]
    other["candidate_embeddings"] = [row[:-1] for row in other["candidate_embeddings"]]

    assert ask(server, "score", other)["message"].startswith("context_embedding: has 7 numbers")


def test_texts_are_sent_for_all_or_for_those_without_vector(server: RpcServer) -> None:
    ask(server, "train", trained())
    rows = [*vectors(2), None, None]
    whole = ask(
        server, "score", scored(candidate_embeddings=rows, candidate_texts=["", "", "a b", "c"])
    )
    part = ask(server, "score", scored(candidate_embeddings=rows, candidate_texts=["a b", "c"]))

    assert whole == part
    assert ask(server, "score", scored(candidate_embeddings=rows))["model_ready"]


def test_a_notification_gets_no_answer_but_has_its_effect(
    server: RpcServer, tmp_path: Path
) -> None:
    def notify(method: str, params: Any) -> bytes:
        return json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode()

    for params in ({}, [], 7, {"path": ""}):
        assert server.answer(notify("save_checkpoint", params)) == b""
    assert server.answer(notify("nothing", {})) == b""
    assert server.answer(notify("save_checkpoint", {"path": str(tmp_path / "w")})) == b""
    assert (tmp_path / "w").exists()
    assert server.answer(b"\n") == b""


def test_a_line_too_long_is_read_past(server: RpcServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rpc_frames, "MAX_LINE_BYTES", 200)
    sent = io.BytesIO(b"x" * 5000 + b"\n" + frame("status") + b"\n" + b"y" * 201)
    answers = io.BytesIO()
    server.serve(sent, answers)
    first, second, third = [json.loads(line) for line in answers.getvalue().splitlines()]

    assert [first["error"]["code"], third["error"]["code"]] == [-32700, -32700]
    assert second["id"] == 1
    assert "result" in second


json_values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
FIELDS = [*scored(), "injected", "candidate_texts", "sessions", "labels", "confidence"]
METHODS = ["score", "train", "status", "save_checkpoint", "train_from_db", "else"]


@given(st.binary(max_size=200))
def test_any_bytes_get_one_error(line: bytes) -> None:
    answer = RpcServer(RpcModel()).answer(line)
    assert not answer or json.loads(answer)["error"]["code"] in {-32700, -32600}


@given(
    st.sampled_from(["score", "train", "status", "else"]),
    st.dictionaries(st.sampled_from(FIELDS) | st.text(max_size=5), json_values, max_size=4),
)
def test_a_spoilt_frame_is_answered_and_names_a_field(method: str, changes) -> None:
    params = scored() if method == "score" else trained(2) if method == "train" else {}
    if method == "train" and "sessions" not in changes:
        params["sessions"][1] |= {k: v for k, v in changes.items() if k in params["sessions"][1]}
        changes = {k: v for k, v in changes.items() if k not in params["sessions"][1]}
    line = frame(method, params | changes)
    answer = json.loads(RpcServer(RpcModel()).answer(line))

    if "error" in answer:
        assert answer["error"]["code"] in {-32601, -32602}
        assert ": " in answer["error"]["message"]
    else:
        assert set(answer) == {"jsonrpc", "id", "result"}


def run(lines: list[bytes], home: Path, *arguments: str, **variables: str) -> tuple[list[Any], str]:
    """Run the real command without a database and return what it answers and complains about."""
    environment = {
        **{k: v for k, v in os.environ.items() if k not in {"DATABASE_URL", "BROKER_URL"}},
        "ENGRAM_HOME": str(home),
        **variables,
    }
    done = subprocess.run(
        [sys.executable, "manage.py", "predictor_rpc", *arguments],
        input=b"\n".join(lines),
        capture_output=True,
        cwd=ROOT,
        env=environment,
        timeout=PATIENCE_SECONDS,
        check=True,
    )
    return [json.loads(line) for line in done.stdout.splitlines()], done.stderr.decode()


def test_the_command_needs_no_database_and_says_nothing_but_frames(tmp_path: Path) -> None:
    saved = tmp_path / "weights.sgpt"
    home = tmp_path / "home"
    answers, _ = run(
        [
            b"nonsense",
            frame("train", trained()),
            frame("score", scored()),
            frame("save_checkpoint", {"path": str(saved)}),
        ],
        home,
    )
    assert [sorted(answer)[0] for answer in answers] == ["error", "id", "id", "id"]
    assert saved.read_bytes()[:4] == b"SGPT"
    assert not (home / "postgres").exists()
    again, _ = run([frame("score", scored()), frame("status")], home, "--checkpoint", str(saved))
    assert again[0]["result"]["scores"] == answers[2]["result"]["scores"]
    assert again[1]["result"]["trained"]


def test_weights_that_cannot_be_read_are_a_cold_start(tmp_path: Path) -> None:  # pitfall 38
    bad = tmp_path / "bad"
    bad.write_bytes(b"SGPT" + b"\0" * 100)
    answers, errors = run(
        [frame("status")], tmp_path, "--checkpoint", str(bad), "--base-weights", "/nowhere"
    )

    assert not answers[0]["result"]["trained"]
    assert errors.count("starting cold") == 2


@pytest.mark.django_db
def test_training_from_rows_only_reads(server: RpcServer, monkeypatch: pytest.MonkeyPatch) -> None:
    tenant = build_tenant("acme")
    for params, field in (
        ({}, "workspace"),
        ({"workspace": "elsewhere"}, "workspace"),
        ({"workspace": "a\0\ud800"}, "workspace"),
        ({"workspace": "acme", "limit": 0}, "limit"),
        ({"workspace": "acme", "min_confidence": 2}, "min_confidence"),
    ):
        error = ask(server, "train_from_db", params)
        assert (error["code"], error["message"].split(":")[0]) == (-32602, field)
    for named in ("acme", str(tenant.workspace.pk)):
        told = ask(server, "train_from_db", {"workspace": named})
        assert (told["samples_used"], told["gates_passed"]) == (0, False)
        assert (told["canary_ndcg"], told["gates"]) == (None, [])
    assert not server.model.is_ready


def test_training_from_rows_is_done_by_a_process_that_cannot_write(
    transactional_db: None, tmp_path: Path
) -> None:
    tenant, neighbour = build_tenant("acme"), build_tenant("zenith")
    build_world(tenant.workspace, 12)
    build_world(neighbour.workspace, 3)
    before = rows_of(tenant)
    server = os.environ["DATABASE_URL"].rpartition("/")[0]
    answers, _ = run(
        [
            frame("train_from_db", {"workspace": "acme", "limit": 10}),
            frame("status"),
        ],
        tmp_path,
        DATABASE_URL=f"{server}/{connection.settings_dict['NAME']}",
    )
    result = answers[0]["result"]
    assert result["samples_used"] + result["canary_sessions"] == 10
    assert {gate["name"] for gate in result["gates"]} >= {"finite", "variance"}
    assert answers[1]["result"]["trained"] == result["gates_passed"]
    assert rows_of(tenant) == before


def rows_of(tenant: Tenant) -> list[Any]:
    with in_workspace(tenant.workspace):
        return [
            list(model.objects.order_by("pk").values())
            for model in (PredictorState, Training, ModelVersion, CanarySession, Label, Event)
        ]


def test_frames_carry_the_fields_of_their_description() -> None:
    described = {
        "context_embedding", "candidate_ids", "candidate_embeddings", "candidate_texts",
        "candidate_features", "log_effectiveness", "baseline", "injected", "signals", "labels",
        "confidence",
    }  # fmt: skip
    assert set(ScoreParams.model_fields) == set(LabelledParams.model_fields) == described
    signals = {"hour", "weekday", "month", "session_gap_hours", "project"}
    assert set(SignalsParams.model_fields) == signals
    assert set(TrainParams.model_fields) == {"sessions", "epochs"}
    assert set(DatabaseParams.model_fields) == {"workspace", "limit", "min_confidence"}
