"""JSON-RPC 2.0 on standard input and output: score, train, status, save_checkpoint."""

from __future__ import annotations

import hashlib
import os
import sys
from argparse import ArgumentParser
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from statistics import fmean
from typing import Annotated, Any, BinaryIO
from uuid import UUID

import dj_database_url
from django.core.management.base import BaseCommand
from django.db import DatabaseError, connection
from django.db.models import Q
from django.utils import timezone
from pydantic import field_validator

from engram import embedded
from engram.kernel.models import Workspace
from engram.kernel.refusals import RefusalError
from predictor.core import rpc_frames
from predictor.core.gates import Canary
from predictor.core.labels import MIN_CONFIDENCE
from predictor.core.rpc_frames import INTERNAL_ERROR, METHOD_NOT_FOUND, PARSE_ERROR, RpcFrameError
from predictor.core.rpc_model import NOTHING, RpcModel, report_fields
from predictor.core.rpc_values import Params, WrongValueError, number, whole, wrong
from predictor.core.scorer import Scorer
from predictor.services.models import checkpoint_file
from predictor.services.training.dataset import SESSIONS_MAX
from predictor.services.training.learn import TrainingResult
from predictor.services.training.train import trial

READ_ONLY = "-c default_transaction_read_only=on"
TOO_LONG = RpcFrameError(
    PARSE_ERROR, f"a frame must not be longer than {rpc_frames.MAX_LINE_BYTES} bytes"
)


class CheckpointParams(Params):
    """What `save_checkpoint` reads."""

    path: str = ""

    @field_validator("path", mode="plain")
    @classmethod
    def _is_printable(cls, value: Any) -> str:
        if not isinstance(value, str) or not value or not value.isprintable():
            raise WrongValueError("must be a string, not empty, of printable characters")
        return value


class DatabaseParams(Params):
    """What `train_from_db` reads."""

    workspace: str | None = None
    limit: Annotated[int | None, whole(1, SESSIONS_MAX)] = None
    min_confidence: Annotated[float | None, number(0, 1, is_optional=True)] = None

    @field_validator("workspace", mode="plain")
    @classmethod
    def _is_name(cls, value: Any) -> str:
        if not isinstance(value, str):
            raise WrongValueError("must be a string: a slug or an id")
        return value


class Command(BaseCommand):
    """`manage.py predictor_rpc [--checkpoint PATH] [--base-weights PATH] [--seed N]`."""

    help = "Answer JSON-RPC 2.0 frames, one object a line, until the input ends."
    requires_system_checks = ()

    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare the arguments."""
        parser.add_argument("--checkpoint", type=Path, help="weights to go on with")
        parser.add_argument("--base-weights", type=Path, help="weights learned elsewhere")
        parser.add_argument("--seed", type=int, default=0, help="of whatever is random")

    def handle(self, *args: Any, **options: Any) -> None:
        """Answer until the input ends."""
        model = RpcModel(
            self._load_first(options["checkpoint"], options["base_weights"]), seed=options["seed"]
        )
        with _frames_only() as answers:
            RpcServer(model).serve(sys.stdin.buffer, answers)

    def _load_first(self, checkpoint: Path | None, base: Path | None) -> Scorer | None:
        """Return the first model that can be read; none is a cold start."""
        for path, is_base in ((checkpoint, False), (base, True)):
            if path is None:
                continue
            try:
                scorer = checkpoint_file.read(path)
            except RefusalError as error:
                self.stderr.write(f"{path}: {error.detail}; starting cold")
            else:
                return scorer.as_base() if is_base else scorer
        return None


class RpcServer:
    """Answer frames one after the other; no frame ends the server."""

    def __init__(self, model: RpcModel):
        self.model = model
        self._methods: dict[str, Callable[[Mapping[str, Any]], dict[str, Any]]] = {
            "score": model.score,
            "train": lambda params: model.train(params, clock=timezone.now),
            "train_from_db": self._train_from_db,
            "status": model.status,
            "save_checkpoint": self._save_checkpoint,
        }

    def serve(self, frames: BinaryIO, answers: BinaryIO) -> None:
        """Answer every frame of a stream, in order."""
        for line in _lines(frames):
            answer = rpc_frames.refusal(TOO_LONG) if line is None else self.answer(line)
            if answer:
                answers.write(answer)
                answers.flush()

    def answer(self, line: bytes) -> bytes:
        """Return the answer to one frame; nothing to a notification or an empty line."""
        if not line.strip():
            return b""
        try:
            request = rpc_frames.parse(line)
        except RpcFrameError as error:
            return rpc_frames.refusal(error)
        try:
            method = self._methods.get(request.method)
            if method is None:
                known = ", ".join(self._methods)
                raise RpcFrameError(
                    METHOD_NOT_FOUND, f"method: there is no {request.method[:60]!r}, but {known}"
                )
            answer = rpc_frames.answer(request.request_id, method(request.params))
        except RpcFrameError as error:
            answer = rpc_frames.refusal(_of(request.request_id, error.code, error.message))
        except RefusalError as error:
            answer = rpc_frames.refusal(
                _of(request.request_id, rpc_frames.INVALID_PARAMS, error.detail)
            )
        except Exception as error:  # noqa: BLE001  a bad frame never ends the process
            sys.stderr.write(f"{request.method[:60]}: {type(error).__name__}\n")
            answer = rpc_frames.refusal(
                _of(request.request_id, INTERNAL_ERROR, f"failed: {type(error).__name__}")
            )
        return b"" if request.is_notification else answer

    def _save_checkpoint(self, params: Mapping[str, Any]) -> dict[str, Any]:
        path = CheckpointParams.read(params).path
        raw = self.model.to_bytes()
        checkpoint_file.write(Path(path), raw)
        return {"bytes": len(raw), "sha256": hashlib.sha256(raw).hexdigest()}

    def _train_from_db(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """Train on a workspace's rows as its next training would; nothing is written there."""
        frame = DatabaseParams.read(params)
        named, least = frame.workspace or "", frame.min_confidence
        now = timezone.now()
        try:
            _open_database()
            workspace = _workspace(named)
            if workspace is None:
                raise wrong("workspace", f"there is no workspace {named[:60]!r}")
            material, result = trial(
                workspace,
                reason="manual",
                seed=self.model.seed,
                now=now,
                limit=frame.limit or SESSIONS_MAX,
                min_confidence=MIN_CONFIDENCE if least is None else least,
            )
        except DatabaseError as error:  # its message could quote a row
            connection.close_if_unusable_or_obsolete()
            message = f"workspace: the database cannot be read ({type(error).__name__})"
            raise RpcFrameError(INTERNAL_ERROR, message) from None
        except embedded.EmbeddedServicesError as error:
            raise RpcFrameError(INTERNAL_ERROR, f"workspace: no database: {error}") from None
        if result.may_serve and result.scorer is not None and result.report is not None:
            self.model.adopt(result.scorer, result.report.samples_used, now)
        return _trial_fields(result, material.skipped)


def _open_database() -> None:
    """Connect to the database, starting the embedded one when no URL is set.

    The connection is read-only: the server refuses writes.
    """
    if connection.connection is not None:
        return
    settings = connection.settings_dict
    if READ_ONLY in str(settings["OPTIONS"].get("options", "")):
        return
    options: dict[str, Any] = {}
    if "postgres" in embedded.missing_services():
        services = embedded.ensure(embedded.home_folder(), frozenset({"postgres"}))
        options = {**dj_database_url.parse(services.database_url)}
    given = {**settings["OPTIONS"], **options.pop("OPTIONS", {})}
    flags = f"{given.get('options', '')} {READ_ONLY}".strip()
    settings.update(options, OPTIONS={**given, "options": flags})


def _workspace(named: str) -> Workspace | None:
    if not named.isprintable():  # the database refuses such text
        return None
    try:
        wanted = Q(slug=named) | Q(pk=UUID(named))
    except ValueError:
        wanted = Q(slug=named)
    return Workspace.objects.filter(wanted).first()


def _trial_fields(result: TrainingResult, skipped: int) -> dict[str, Any]:
    """Return a trial's figures: those of `train`, of the canary and of the gates."""
    report = result.report
    figures = report_fields(report or NOTHING)
    before, after = result.before, result.after
    return {
        **figures,
        "samples_skipped": figures["samples_skipped"] + skipped,
        "canary_sessions": 0 if after is None else len(after.ndcg),
        "canary_ndcg": _mean(after),
        "canary_ndcg_before": _mean(before),
        "canary_score_variance": None if after is None else after.score_variance,
        "gates": [asdict(gate) for gate in result.gates],
        "gates_passed": result.may_serve,
    }


def _mean(canary: Canary | None) -> float | None:
    return fmean(canary.ndcg) if canary is not None and canary.ndcg else None


def _of(request_id: Any, code: int, message: str) -> RpcFrameError:
    return RpcFrameError(code, message, request_id)


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """Yield lines; None for one that is too long, which is skipped without keeping it in memory."""
    limit = rpc_frames.MAX_LINE_BYTES
    while line := stream.readline(limit + 1):
        if len(line) <= limit:
            yield line
            continue
        while not line.endswith(b"\n") and line:
            line = stream.readline(1 << 20)
        yield None


@contextmanager
def _frames_only() -> Iterator[BinaryIO]:
    """Keep standard output for frames: other output goes to standard error meanwhile."""
    sys.stdout.flush()
    with os.fdopen(os.dup(1), "wb") as answers:
        os.dup2(2, 1)
        try:
            yield answers
        finally:
            sys.stdout.flush()
            os.dup2(answers.fileno(), 1)
