"""Are the budgets of the hot paths met by the running product?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/budgets.py [--turns FILE --questions FILE]

Starts everything as `make up` does, in a home of its own. One client over HTTP, each text new, so
that its embedding is part of the time. 1,000 memories are imported by `manage.py import_memories`
(turns of conversations in the format of `evaluate --retrieval`, or synthetic statements); 4,000 and
100,000 synthetic ones are loaded for recall and session start. Paths are measured when detection
has read what was imported. Beside each its floor in the same run: embedding, and plain SQL over the
same vectors (`benchmarks/ground/floor.py`). Exits with 1 if a budget is missed.
"""

from __future__ import annotations

import os

from tests.benchmark_home import make_benchmark_home

os.environ["ENGRAM_HOME"] = make_benchmark_home("budgets")

import argparse
import json
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from http.client import HTTPConnection
from itertools import count, islice
from pathlib import Path
from typing import Any

from benchmarks.commit import sentence
from benchmarks.ground.corpus import Corpus, load
from benchmarks.ground.database import IS_FULL
from benchmarks.ground.floor import compare, plain_sql
from benchmarks.ground.product import SOURCE, Product, manage, running_product
from benchmarks.ground.timing import measure, report
from benchmarks.ground.tokens import issue_token
from conflicts.models import DetectionDue
from engram.kernel.embedding import embed_query, embed_windows
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace

Rows = dict[str, dict[str, float]]

IMPORTED, SIZES, CALLS, WARM_UP = (
    (1_000, [4_000, 100_000], 200, 100) if IS_FULL else (50, [100], 10, 2)
)
STATEMENT_WORDS = 44  # some 60 tokens
PATIENCE_SECONDS = 300
if given := os.environ.get("BENCH_MEMORIES"):
    SIZES = [int(size) for size in given.split(",") if int(size)]
# The p95 in ms of each path at a number of memories, one client; of an import, memories a second.
BUDGETS = {
    "commit": {1_000: 30},
    "recall": {1_000: 25, 100_000: 50},
    "session start": {1_000: 45, 4_000: 45, 100_000: 60},
    "prompt": {1_000: 25},
    "import": {1_000: 100},
}


class Api:
    """A client of one workspace over one connection; every status is checked."""

    def __init__(self, product: Product, workspace: Workspace) -> None:
        token = issue_token(workspace)
        self._connection = HTTPConnection(product.address, timeout=60)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
        self._sessions = count()

    def _send(self, path: str, body: dict[str, Any], status: int) -> None:
        self._connection.request("POST", f"/api/v1/{path}", json.dumps(body), self._headers)
        answer = self._connection.getresponse()
        received = answer.read()
        if answer.status != status:
            raise SystemExit(f"{path}: {answer.status} {received.decode()}")

    def reconnect(self) -> None:
        """Begin a new connection: the server closes one that was idle for some seconds."""
        self._connection.close()

    def recall(self, text: str) -> None:
        """Recall by a query."""
        self._send("memories/recall", {"query": text}, 200)

    def commit(self, text: str) -> None:
        """Commit a statement."""
        self._send("memories", {"content": text}, 201)

    def start(self, text: str) -> None:
        """Start a session of its own."""
        body = {"session_key": f"s{next(self._sessions)}", "context": text}
        self._send("sessions", body, 201)

    def prompt(self, text: str) -> None:
        """Send a prompt to the first session."""
        self._send("sessions/s0/prompts", {"prompt": text}, 200)


def measure_paths(
    api: Api,
    workspace: Workspace,
    size: int,
    questions: Iterator[str],
    statements: Iterator[str] | None = None,
) -> Rows:
    """Measure the paths that read, and those that write if there are statements; with floors."""
    paths = {"recall": api.recall, "session start": api.start}
    if statements:
        paths |= {"prompt": api.prompt}
    for call in paths.values():
        for _ in range(WARM_UP):
            call(next(questions))
    rows = {name: over_http(call, questions) for name, call in paths.items()}
    embedding = timed(lambda text: embed_query(text, workspace.embedding_model), questions)
    vectors = [embed_query(next(questions)) for _ in range(CALLS)]
    with plain_sql(workspace.pk, size) as plain:
        floor = measure([partial(plain.recall, vector) for vector in vectors])
        rows |= {"embedding of a question": embedding, "plain SQL: search": floor}
        rows |= {"recall, floor": compare(rows["recall"], embedding, floor)}
        if statements:
            api.reconnect()
            rows["commit"] = over_http(api.commit, statements)
            rng = random.Random(size)
            rows["commit of much alike"] = over_http(api.commit, (sentence(rng) for _ in count()))
            reading = timed(
                lambda text: embed_windows([text], workspace.embedding_model), statements
            )
            written = [(text, embed_query(text)) for text in islice(statements, CALLS)]
            floor = measure([partial(plain.commit, *one) for one in written])
            rows |= {"embedding of a statement": reading, "plain SQL: insert": floor}
            rows |= {"commit, floor": compare(rows["commit"], reading, floor)}
            rows["commit, besides the embedding"] = {
                name: round(rows["commit"][name] - reading[name], 1)
                for name in ("p50_ms", "p95_ms")
            }
    return {f"{size:,}: {name}": row | verdict(name, size, row) for name, row in rows.items()}


def over_http(call: Callable[[str], object], texts: Iterator[str]) -> dict[str, float]:
    """Measure calls to the product, without this process's own processor time."""
    row = timed(call, texts)
    del row["cpu_ms"]
    return row


def timed(call: Callable[[str], object], texts: Iterator[str]) -> dict[str, float]:
    """Measure calls, each with a text of its own."""
    return measure([partial(call, text) for text in islice(texts, CALLS)])


def verdict(name: str, size: int, row: dict[str, float]) -> dict[str, float]:
    """Return the budget of a path and whether it is met (1) or not (0)."""
    budget = BUDGETS.get(name, {}).get(size)
    if budget is None:
        return {}
    is_met = row["a_second"] >= budget if name == "import" else row["p95_ms"] < budget
    return {"budget": budget, "met": int(is_met)}


def import_lines(workspace: Workspace, lines: list[str]) -> Rows:
    """Import by the command; its start is not counted, the lines are read by one process."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = []
        for name, part in (("none", []), ("all", lines)):
            path = Path(folder, f"{name}.jsonl")
            path.write_text("".join(json.dumps({"content": line}) + "\n" for line in part))
            start = time.monotonic()
            command = manage("import_memories", str(path), "--workspace", workspace.slug)
            subprocess.run(command, cwd=SOURCE, check=True, capture_output=True)
            seconds.append(time.monotonic() - start)
    row = {"a_second": round(len(lines) / (seconds[1] - seconds[0]), 1)}
    _wait_for_detection(workspace)
    return {f"{IMPORTED:,}: import": row | verdict("import", IMPORTED, row)}


def _wait_for_detection(workspace: Workspace) -> None:
    """Wait until detection has read what is due."""
    end = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < end:
        with in_workspace(workspace):
            if not DetectionDue.objects.exists():
                return
        time.sleep(1)
    raise SystemExit("detection does not end")


def read_texts(
    turns: Path | None, questions: Path | None
) -> tuple[list[str], Iterator[str], Iterator[str]]:
    """Return the lines to import, questions, and statements of about 60 tokens without end."""
    corpus, rng = Corpus(0, topics=20), random.Random(0)
    lines = [corpus.topics[n % 20] + f", number {n}" for n in range(IMPORTED)]
    if not turns or not questions:
        return lines, (corpus.question() for _ in count()), (sentence(rng) for _ in count())
    rows = [json.loads(line) for line in turns.read_text().splitlines()]
    lines = [f"{row['speaker']}: {row['text']}" for row in rows]
    asked = [json.loads(line)["question"] for line in questions.read_text().splitlines()]
    words = " ".join(lines[IMPORTED:]).split()
    most = len(words) - STATEMENT_WORDS
    # A number makes a question new when the file's are used up.
    return (
        lines[:IMPORTED],
        (asked[n % len(asked)] + f" {n // len(asked) or ''}" for n in count()),
        (" ".join(words[n % most :][:STATEMENT_WORDS]) for n in count(0, STATEMENT_WORDS)),
    )


def load_synthetic(size: int) -> tuple[Workspace, Iterator[str]]:
    """Load a workspace of its own; return it with questions without end."""
    corpus = Corpus(0, topics=max(20, size // 200))
    workspace = Workspace.objects.create(slug=f"size-{size}", name="Synthetic")
    load(corpus, [workspace], size)
    return workspace, (corpus.question() for _ in count())


def main() -> None:
    """Measure every size."""
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--turns", type=Path)
    options.add_argument("--questions", type=Path)
    files = options.parse_args()
    lines, asked, statements = read_texts(files.turns, files.questions)
    rows: Rows = {}
    with running_product() as product:
        # Loaded first, because it locks the tables that detection reads.
        loaded = [(size, *load_synthetic(size)) for size in SIZES]
        workspace = Workspace.objects.create(slug="turns", name="Turns")
        rows |= import_lines(workspace, lines)
        rows |= measure_paths(Api(product, workspace), workspace, IMPORTED, asked, statements)
        for size, workspace, questions in loaded:
            _wait_for_detection(workspace)
            rows |= measure_paths(Api(product, workspace), workspace, size, questions)
    report("budgets", rows)
    if missed := [name for name, row in rows.items() if row.get("met") == 0]:
        sys.exit(f"over budget: {', '.join(missed)}")


if __name__ == "__main__":
    main()
