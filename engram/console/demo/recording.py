"""Recording the demo's story: played once through the services, then written down row by row."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any
from uuid import UUID

from conflicts.models import ConflictMember
from conflicts.services import due
from conflicts.services.detection.detect import detect_due
from engram.console.demo.codec import codec
from engram.console.demo.dates import GENERATED, mark_dates
from engram.console.demo.story import FILES, embed_story, play, read_all_steps
from engram.console.demo.tables import ANY_ID, ID_TAIL, WORKSPACE_ID, recorded_models
from engram.console.rows.codec import UnwritableError
from engram.console.rows.tables import columns
from engram.console.scratch import refresh_statistics, scratch_workspace
from engram.kernel import latency
from engram.kernel.embedding import model_name
from engram.kernel.models import LatencyHour, Workspace
from engram.kernel.tenancy import WorkspaceModel, in_workspace
from memories.services.recall.log import count_recalls
from memories.services.sessions.ranker_hook import STAGE
from predictor.core.checkpoint import VERSION
from predictor.core.types import FEATURE_VERSION
from predictor.models import ModelVersion, PredictorState

END = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)
BEGAN = END - timedelta(days=365)  # the janitor trusts the counts of recalls from then on
SEED = 20
WORKER = "recording"  # whose times are written
STEPS_A_REFRESH = 25  # of the planner's statistics: joins of sessions take minutes without them
# However slow the machine is, the ranker is waited for.
PATIENT: dict[str, Any] = {"predictor_mode": "on", "score_timeout_ms": 10_000}
DATE = re.compile(r"\b20\d\d-\d\d-\d\d")

Advance = Callable[[int], object]


def fingerprint() -> dict[str, Any]:
    """Return what a recording is made of and for; another one means that it must be made anew."""
    story = hashlib.sha256(b"".join(path.read_bytes() for path in FILES))
    return {
        "story": story.hexdigest(),
        "embedding_model": model_name(),
        "features": FEATURE_VERSION,
        "weights": VERSION,
        "tables": {
            model._meta.label: [field.attname for field in columns(model)]
            for model in recorded_models()
        },
    }


def record_story(advance: Advance = lambda steps: None) -> bytes:
    """Play the story in a scratch workspace; return its rows, compressed.

    What no step of the story has the detective read, it reads at the end, as it would read an
    import: read step by step, the cards would have waited for months.
    """
    with seeded_ids(), scratch_workspace(**PATIENT, detection_enabled=False) as workspace:
        workspace.created_at = BEGAN
        workspace.save()
        _play(workspace, advance)
        workspace.settings = PATIENT
        workspace.save()
        awake = Workspace.objects.get(pk=workspace.pk)
        due.queue_memories(awake, None, now=END)
        detect_due(awake, clock=lambda: END)
        with in_workspace(workspace):
            _drop_weights_that_do_not_serve()
            _keep_times_of_scoring()
            text = _serialise(awake)
    return gzip.compress(text.encode("utf-8"), compresslevel=9, mtime=0)


def _play(workspace: Workspace, advance: Advance) -> None:
    steps = read_all_steps()
    taken = 0

    def after_step(count: int) -> None:
        nonlocal taken
        taken += count
        count_recalls(workspace)  # as the sweep would
        latency.write(WORKER)
        if taken % STEPS_A_REFRESH == 0:
            refresh_statistics(recorded_models())
        advance(count)

    embedded = embed_story(workspace, steps)
    play(workspace, steps, embedded, now=END, advance=after_step)


@contextmanager
def seeded_ids() -> Iterator[None]:
    """Draw the ids of new rows from a seed, so that two recordings have the same.

    Models and services draw them by `uuid4`, which reads `os.urandom`. The process that records is
    a command and makes no secrets (`secrets` would go on reading the system's source anyway).
    """
    drawn = os.urandom
    os.urandom = Random(SEED).randbytes
    try:
        yield
    finally:
        os.urandom = drawn


def _drop_weights_that_do_not_serve() -> None:
    """Drop the weights that no model in service uses: megabytes each."""
    served = PredictorState.objects.values("served")
    ModelVersion.objects.exclude(number__in=served).update(checkpoint=None)


def _keep_times_of_scoring() -> None:
    """Keep, of what was measured, how long sessions took to score: others were not in a session.

    They are of the machine that recorded, as the durations of trainings and of runs are.
    """
    LatencyHour.objects.exclude(stage=STAGE).delete()
    latency.drop_old(END)


def _serialise(workspace: Workspace) -> str:
    """Return the recording's lines.

    Raises
    ------
    UnwritableError
        When something in it belongs to this workspace or this moment alone.
    """
    tables = [_table(model) for model in recorded_models()]
    lines = [json.dumps(row, separators=(",", ":")) for row in [fingerprint(), *tables]]
    text = "\n".join(lines)
    if found := DATE.search(text):
        raise UnwritableError(f"a date is left: {text[found.start() - 80 : found.end() + 20]}")
    whole = {found[0] for found in ANY_ID.finditer(text)}
    if len(whole) != len({found[:18] for found in whole}):
        raise UnwritableError("two ids begin alike: record with another seed")
    text = ANY_ID.sub(rf"\1{ID_TAIL}", text)
    return text.replace(f"{str(workspace.pk)[:18]}{ID_TAIL}", WORKSPACE_ID)


def _table(model: type[WorkspaceModel]) -> dict[str, Any]:
    fields = columns(model)
    encoders = [codec(field, END).encode for field in fields]
    names = [field.attname for field in fields]
    rows = model.objects.order_by("pk").values_list(*names)
    found: dict[str, list[Any]] = {name: [] for name in names}
    for row in rows:
        for name, encode, value in zip(names, encoders, row, strict=True):
            found[name].append(encode(value))
    for name in GENERATED.get(model._meta.label, ()):
        found[name] = [
            mark_dates(text, _moments_of(UUID(card)), END)
            for card, text in zip(found["id"], found[name], strict=True)
        ]
    return {"table": model._meta.label, "columns": found}


def _moments_of(card: UUID) -> list[datetime]:
    """Return when the memories of a card were observed."""
    members = ConflictMember.objects.filter(conflict=card)
    return list(members.values_list("memory__observed_at", flat=True))
