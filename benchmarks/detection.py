"""How long until a contradiction is a card, and what do hundreds of similar facts cost?

    BENCH_SIZE=full PYTHONPATH=. python benchmarks/detection.py

First the rules alone over facts that all disagree, and over facts that give six answers to one
question: the processor time, and how many memories the largest card lists. Then, with 10,000
memories, the processor time of a commit and its detection in one process and in the database: about
what the clock shows on an idle machine. Last the running product with as many: one client commits a
statement and one that contradicts it, and asks every 10 ms whether the second is on a card. The
time from sending the second commit to the card is that of commit, wake-up, detection and one read,
beside whatever else the machine does.
"""

from __future__ import annotations

import os

from tests.benchmark_home import make_benchmark_home

os.environ["ENGRAM_HOME"] = make_benchmark_home("detection")

import http.client
import json
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from django.utils import timezone

from benchmarks.ground.corpus import SHORT_WORDS, Corpus, load
from benchmarks.ground.database import IS_FULL, own_database
from benchmarks.ground.product import running_product
from benchmarks.ground.timing import database_ms, report
from benchmarks.ground.tokens import issue_token
from conflicts.core.detective import detect
from conflicts.core.facts import Fact
from conflicts.models import ConflictMember
from conflicts.services.detection.detect import detect_due
from engram.kernel.actors import SYSTEM
from engram.kernel.embedding import embed
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.services.commit.commit import commit
from memories.services.commit.draft import Draft

Rows = dict[str, dict[str, float]]

SIMILAR = [300, 600] if IS_FULL else [20]
MEMORIES, CARDS = (10_000, 90) if IS_FULL else (200, 3)
WARM = 5
POLL_SECONDS, PATIENCE_SECONDS = 0.01, 60.0 if IS_FULL else 300.0
START = datetime(2026, 1, 1, tzinfo=UTC)
_FORMS = (
    "The rate limit of the API is {} requests per second.",
    "The API allows {} requests per second.",
    "Clients may send {} requests per second to the API.",
)
_ASKED = "Who signs for the autumn delivery?"
_NAMES = ("Olga", "Ruben", "Priya", "Tomasz", "Ines", "Otto")
_THINGS = ("gateway", "mailer", "ledger", "scheduler", "sensor", "archive", "printer", "kiosk")
_PLACES = ("Lisbon", "Oslo", "Nairobi", "Quito", "Hanoi", "Perth", "Tallinn", "Lagos", "Cusco",
           "Turin", "Bergen", "Porto", "Malmo")  # fmt: skip


def similar(size: int) -> dict[str, float]:
    """Run the rules over facts that all disagree."""
    return read([_fact(i, _FORMS[i % 3].format(100 + i)) for i in range(size)])


def answering(size: int) -> dict[str, float]:
    """Run the rules over facts that give six answers to one question."""
    names = [_NAMES[i % len(_NAMES)] for i in range(size)]
    return read(
        [
            replace(
                _fact(i, f"{name} signs when the autumn delivery comes; remark {_letters(i)}."),
                answers=(Answer(_ASKED, name),),
            )
            for i, name in enumerate(names)
        ]
    )


def _letters(number: int) -> str:
    return "".join(chr(ord("a") + int(digit)) for digit in f"{number:04}")


def _fact(number: int, content: str) -> Fact:
    return Fact(
        str(number), str(number), content, "team", "", f"agent-{number % 3}", f"s{number}",
        START + timedelta(hours=number), "user_stated",
    )  # fmt: skip


def read(facts: list[Fact]) -> dict[str, float]:
    """Run the rules over facts; return the processor time and the sizes of what they find."""
    vectors = embed([fact.content for fact in facts])
    questions = {_ASKED: embed([_ASKED])[0]}
    started = time.process_time()
    found = detect(facts, vectors, now=START + timedelta(days=365), questions=questions)
    return {
        "seconds": round(time.process_time() - started, 2),
        "findings": len(found),
        "most_listed": max(len(finding.fact_ids) for finding in found),
        "most_counted": max(len(finding.unlisted) for finding in found),
    }


def statements(number: int) -> tuple[str, str]:
    """Return two statements that contradict each other, about a thing of their own."""
    thing = f"{_THINGS[number % len(_THINGS)]} in {_PLACES[number // len(_THINGS)]}"
    keeps = f"The {thing} keeps its files for {{}} days."
    return keeps.format(30 + number), keeps.format(200 + number)


def processor_time() -> dict[str, float]:
    """Measure commit and detection by the processor time here and in the database."""
    with own_database(is_migrated=not IS_FULL):  # in a copy of the prepared home it is
        workspace = Workspace.objects.create(slug="detection", name="Detection")
        load(corpus(), [workspace], MEMORIES)
        taken = sorted([in_one_process(workspace, i) for i in range(CARDS + WARM)][WARM:])
    return quantiles(taken)


def in_one_process(workspace: Workspace, number: int) -> float:
    """Commit two statements that disagree; return the seconds of the second and its card."""
    first, second = (Draft(content=text, scope="bench") for text in statements(number))

    def commit_and_detect(draft: Draft) -> None:
        commit(workspace, draft, actor=SYSTEM, now=timezone.now())
        if any(run.status != "done" for run in detect_due(workspace, clock=timezone.now)):
            raise SystemExit("a detection run failed")

    commit_and_detect(first)
    before = time.process_time() + database_ms() / 1000
    commit_and_detect(second)
    seconds = time.process_time() + database_ms() / 1000 - before
    with in_workspace(workspace):
        if not ConflictMember.objects.filter(memory__content=second.content).exists():
            raise SystemExit(f"no card: {second.content}")
    return seconds


def quantiles(taken: list[float]) -> dict[str, float]:
    """Return the median, the 95th percentile and the longest of sorted times."""
    return {
        "seconds": round(taken[len(taken) // 2], 3),
        "p95_seconds": round(taken[min(len(taken) - 1, int(0.95 * len(taken)))], 3),
        "longest_seconds": round(taken[-1], 3),
    }


def corpus() -> Corpus:
    """Return what the other memories are made of."""
    return Corpus(0, topics=max(20, MEMORIES // 200), words=SHORT_WORDS)


class Caller:
    """One agent with a connection of its own."""

    def __init__(self, address: str, token: str) -> None:
        self._connection = http.client.HTTPConnection(address, timeout=PATIENCE_SECONDS)
        self._headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}

    def call(self, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
        """Send a request; return the parsed answer."""
        content = json.dumps(body) if body else None
        self._connection.request(method, f"/api/v1/{path}", content, self._headers)
        answer = self._connection.getresponse()
        text = answer.read()
        if answer.status >= 300:
            raise SystemExit(text.decode())
        return json.loads(text)

    def commit(self, content: str) -> str:
        """Commit a statement; return its id."""
        body = {"content": content, "scope": "bench"}
        return str(self.call("POST", "memories", body)["memory"]["id"])

    def until_card(self, number: int) -> float:
        """Commit two statements that disagree; return the seconds until the second has a card."""
        first, second = statements(number)
        self.commit(first)
        started = time.perf_counter()
        memory = self.commit(second)
        while time.perf_counter() - started < PATIENCE_SECONDS:
            if self.call("GET", f"conflicts?memory_id={memory}")["results"]:
                return time.perf_counter() - started
            time.sleep(POLL_SECONDS)
        raise SystemExit(f"no card after {PATIENCE_SECONDS:.0f} s: {second}")


def until_cards() -> dict[str, float]:
    """Measure commit to card in the running product."""
    with running_product() as product:
        workspace = Workspace.objects.create(slug="detection", name="Detection")
        load(corpus(), [workspace], MEMORIES)
        caller = Caller(product.address, issue_token(workspace))
        return quantiles(sorted([caller.until_card(i) for i in range(CARDS + WARM)][WARM:]))


def main() -> None:
    """Measure both."""
    rows: Rows = {f"{size} similar facts": similar(size) for size in SIMILAR}
    rows |= {f"{size} answers to one question": answering(size) for size in SIMILAR}
    rows[f"commit to card, {MEMORIES:,}, processor"] = processor_time()
    rows[f"commit to card, {MEMORIES:,} memories"] = until_cards()
    report("detection", rows)


if __name__ == "__main__":
    main()
