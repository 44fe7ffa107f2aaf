"""How long does it take to start a session in one workspace, and to send it a prompt?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/session_start.py

One client, in this process: the service, and the whole HTTP stack. Every context is new, so that
its embedding is part of the time; a row of its own says how much of it. A fiftieth of the memories
are constraints or pins of a project, importance is spread, and each call starts a session of its
own, so that its records are written as well. No learned ranker takes part unless ENGRAM_RANKER
names one. Prompts go to the last session, each is a new question. Beside them in the same run the
floor, embedding and plain SQL (`benchmarks/ground/floor.py`; a prompt is not embedded), and a
profile of each path, statement by statement.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from functools import partial
from itertools import count

from django.conf import settings
from django.db import connection
from django.test import Client
from django.utils import timezone

from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.floor import measure_search
from benchmarks.ground.profile import profile_rows
from benchmarks.ground.timing import measure, report
from benchmarks.ground.tokens import issue_token
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.api import sessions as views
from memories.models import Session, SessionCandidate
from memories.services.sessions.start import SessionRequest, session_rng, start_session

SIZES = [4_000, 100_000] if IS_FULL else [200]
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",")]
CALLS, WARM_UP = (100, 100) if IS_FULL else (10, 0)
PROJECTS = 20

# Importance in quarters of a tenth, twenty projects, a hundredth constraints, a hundredth pins.
_SPREAD = """
    UPDATE memories_memory SET
        importance = (abs(hashtext(id::text)) %% 41) / 40.0,
        project = 'project-' || abs(hashtext(id::text || 'p')) %% %(projects)s,
        kind = CASE WHEN abs(hashtext(id::text || 'k')) %% 100 = 0 THEN 'constraint' ELSE kind END,
        is_pinned = abs(hashtext(id::text || 'x')) %% 100 = 0
    WHERE workspace_id = %(workspace)s
"""


def measure_one(size: int, started: Iterator[int]) -> dict[str, dict[str, float]]:
    """Measure starts and prompts in a workspace of a size."""
    rows: dict[str, dict[str, float]] = {}
    corpus = Corpus(0, topics=max(20, size // 200))
    workspace = Workspace.objects.create(slug=f"bench-{size}", name="Benchmark")
    load(corpus, [workspace], size)
    with in_workspace(workspace), connection.cursor() as cursor:
        cursor.execute(_SPREAD, {"workspace": workspace.pk, "projects": PROJECTS})
    with connection.cursor() as cursor:
        cursor.execute("VACUUM ANALYZE memories_memory")
    token = issue_token(workspace)
    client = Client(headers={"Authorization": f"Bearer {token}"})

    def start(text: str) -> None:
        number = next(started)
        wanted = SessionRequest(
            session_key=f"s{number}", context=text, project=f"project-{number % PROJECTS}"
        )
        rng = session_rng(workspace, wanted.session_key)
        start_session(workspace, wanted, actor=SYSTEM, now=timezone.now(), rng=rng)

    def send(text: str) -> None:
        number = next(started)
        body = {"session_key": f"s{number}", "context": text, "project": "project-3"}
        answer = client.post("/api/v1/sessions", body, content_type="application/json")
        if answer.status_code != 201:
            raise SystemExit(answer.content.decode())

    rows |= measure_search(
        "start",
        start,
        send,
        workspace=workspace,
        corpus=corpus,
        size=size,
        calls=CALLS,
        warm_up=WARM_UP,
    )
    questions = [corpus.question() for _ in range(CALLS)]
    rows |= profile_rows(
        f"{size:,}: start",
        [partial(send, text) for text in questions],
        service=(views, "start_session"),
    )
    path = f"/api/v1/sessions/s{next(started) - 1}/prompts"
    rows |= measure_prompts(client, path, corpus, size)
    with in_workspace(workspace):
        pool = SessionCandidate.objects.count() / Session.objects.count()
    rows[f"{size:,}: candidates"] = {"mean": round(pool, 1)}
    return rows


def measure_prompts(
    client: Client, path: str, corpus: Corpus, size: int
) -> dict[str, dict[str, float]]:
    """Measure the prompts of a session."""

    def say(text: str) -> None:
        body = {"prompt": text}
        answer = client.post(path, body, content_type="application/json")
        if answer.status_code != 200:
            raise SystemExit(answer.content.decode())

    prompts = [corpus.question() for _ in range(2 * CALLS)]
    rows = {f"{size:,}: prompt, HTTP": measure([partial(say, t) for t in prompts[:CALLS]])}
    return rows | profile_rows(
        f"{size:,}: prompt",
        [partial(say, text) for text in prompts[CALLS:]],
        service=(views, "prompt"),
    )


def main() -> None:
    """Measure each size."""
    settings.ENGRAM_SESSION_RANKER = os.environ.get("ENGRAM_RANKER", "")
    rows: dict[str, dict[str, float]] = {}
    started = count()
    with own_database():
        for size in SIZES:
            rows |= measure_one(size, started)
    report("session_start", rows)


if __name__ == "__main__":
    main()
