"""The log of a session's life: JSON lines by the source's names, never a memory's text."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from typing import Any

import pytest
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, SessionCandidate
from memories.services.sessions.ranker_hook import RankerAnswer, RankerRequest
from predictor.services.judging.judge import judge_due
from tests.conftest import Tenant

SECRET = "Flowerpot"
FACTS = [f"{SECRET} number {n} stands on the terrace of house {n}." for n in range(6)]
TALK = f"We moved the {SECRET} from the terrace into the house, and watered number 3. " * 12


@pytest.fixture
def lines() -> Iterator[list[str]]:
    """Collect everything that is logged meanwhile, by anybody."""
    written: list[str] = []

    class Collect(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            written.append(self.format(record))

    handler = Collect(logging.DEBUG)
    loggers = [logging.getLogger(), logging.getLogger("engram.events")]
    for logger in loggers:
        logger.addHandler(handler)
    yield written
    for logger in loggers:
        logger.removeHandler(handler)


def prefer_the_last(asked: RankerRequest) -> RankerAnswer:
    """Be a learned ranker that turns the baseline's order round."""
    scores = {fact.id: float(n) for n, fact in enumerate(asked.candidates)}
    return RankerAnswer(scores=scores, alpha=0.5, phase="active", model_version=3)


def live(tenant: Tenant, commit: Any) -> None:
    for fact in FACTS:
        tenant.agent.post("memories", {"content": fact})
    started = {"session_key": "s/1", "context": f"the {SECRET}", "k": 3}
    with commit(execute=True):
        assert tenant.agent.post("sessions", started).status_code == 201
    tenant.agent.post("sessions/s%2F1/prompts", {"prompt": f"Where is {SECRET} number 3?"})
    tenant.agent.post("sessions/s%2F1/end", {"transcript": TALK})
    with commit(execute=True):
        judge_due(tenant.workspace, clock=timezone.now)


def events(lines: list[str]) -> list[dict[str, Any]]:
    return [json.loads(line) for line in lines if line.startswith("{")]


def test_a_sessions_life_is_logged_without_a_word_of_its_memories(
    tenant: Tenant, settings: Any, lines: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    settings.ENGRAM_SESSION_RANKER = f"{__name__}.prefer_the_last"
    live(tenant, django_capture_on_commit_callbacks)
    told = events(lines)
    assert {event["category"] for event in told} == {"predictor"}
    named = [event["event"] for event in told]
    assert named[:2] == ["prefilter", "score"]
    assert {"compare", "fts_overlap", "ema_skip"} <= set(named)
    assert {event["session_key"] for event in told} == {"s/1"}
    assert SECRET.lower() not in "\n".join(lines).lower()
    score = told[1]
    assert (score["candidates"], score["alpha"], score["model_version"]) == (6, 0.5, 3)
    with in_workspace(tenant.workspace):
        assert Memory.objects.filter(pk=score["top_pick"]).exists()


def test_near_duplicates_that_were_damped_are_logged(
    tenant: Tenant, settings: Any, lines: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    settings.ENGRAM_SESSION_RANKER = f"{__name__}.prefer_the_last"
    live(tenant, django_capture_on_commit_callbacks)
    with in_workspace(tenant.workspace):
        damped = SessionCandidate.objects.filter(diversity__lt=1).count()
    told = [event for event in events(lines) if event["event"] == "diversity"]
    assert [event["attenuated"] for event in told] == ([damped] if damped else [])
    assert damped > 0


def test_without_a_learned_ranker_the_start_logs_nothing(
    tenant: Tenant, settings: Any, lines: list[str], django_capture_on_commit_callbacks: Any
) -> None:
    settings.ENGRAM_SESSION_RANKER = ""
    live(tenant, django_capture_on_commit_callbacks)
    assert "prefilter" not in {event["event"] for event in events(lines)}
