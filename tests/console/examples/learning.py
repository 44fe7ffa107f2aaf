"""Sessions, and the predictor that learns from them."""

from __future__ import annotations

import numpy as np

from predictor.services.judging.judge import judge_due
from predictor.services.training.turn import train_turn
from tests.console.examples.story import Story
from tests.predictor.test_whole_life import SUBJECTS, make_statement, transcript

SESSIONS = 12  # as many as a first training wants


def record_learning(story: Story) -> None:
    """Send the calls about sessions, training and calibration."""
    workspace = story.workspace()
    workspace.settings = {"score_timeout_ms": 10_000, "exploration_rate": 0.0}  # any machine
    workspace.save()
    for subject, things in SUBJECTS.items():
        for thing in things:
            story.commit(make_statement(subject, thing), scope="office")
    for number in range(SESSIONS):
        _live(story, f"week-{number}", ("billing", "deploys")[number % 2])
    judge_due(story.workspace(), clock=story.clock.now)
    training = train_turn(
        story.tenant.workspace.pk, clock=story.clock.now, rng=np.random.default_rng(4)
    )
    assert training is not None
    assert training.version == 1, training.error
    _session(story)
    judge_due(story.workspace(), clock=story.clock.now)
    _compare(story)
    _calibrate(story)
    workspace.settings = {}
    workspace.save()
    story.send(
        story.admin, "DELETE /sessions/{session_key}", status=204,
        summary="Delete a session with its transcript", session_key="week-0",
    )  # fmt: skip


def _live(story: Story, key: str, subject: str) -> None:
    wanted = {"session_key": key, "context": f"A question about {subject}.", "project": ""}
    story.send(story.agent, "POST /sessions", wanted, status=201)
    story.clock.pass_by(hours=1)
    ended = {"transcript": transcript(subject)}
    story.send(story.agent, "POST /sessions/{session_key}/end", ended, status=202, session_key=key)


def _session(story: Story) -> None:
    send, agent = story.send, story.agent
    key = {"session_key": "monday"}
    wanted = key | {"context": "A question about billing.", "k": 3}
    started = send(agent, "POST /sessions", wanted, summary="A session begins", status=201)
    send(agent, "POST /sessions", wanted, summary="The same session, asked for again")
    send(
        agent, "POST /sessions/{session_key}/prompts",
        {"prompt": "Where do we keep invoices for billing?"},
        summary="What the user asks", **key,
    )  # fmt: skip
    helped = {"memory_id": started["memories"][0]["id"], "value": 1}
    send(
        agent, "POST /sessions/{session_key}/feedback", helped,
        summary="A memory was of use", **key,
    )  # fmt: skip
    send(agent, "GET /sessions/{session_key}", summary="A session that goes on", **key)
    first, second, *_ = [memory["id"] for memory in started["memories"]]
    ended = {
        "transcript": transcript("billing"),
        "used": {first: 0.9, second: 0},
        "wrong": [{"memory": second, "reason": "It was moved to another shelf in May."}],
        "missing": ["Who approves a refund above 500 EUR?"],
    }
    send(
        agent, "POST /sessions/{session_key}/end", ended, summary="The session ends",
        status=202, **key,
    )  # fmt: skip
    send(agent, "GET /sessions", query={"limit": 1}, summary="The newest session")
    send(
        agent, "GET /session-reports", query={"kind": "missing"},
        summary="What no memory said",
    )  # fmt: skip


def _compare(story: Story) -> None:
    send, reader = story.send, story.reader
    send(reader, "GET /predictor/status", summary="What the predictor does")
    listed = send(
        reader, "GET /predictor/comparisons", query={"limit": 1}, summary="The newest comparison"
    )
    send(
        reader, "GET /predictor/comparisons/{comparison_id}", summary="One comparison",
        comparison_id=listed["results"][0]["id"],
    )  # fmt: skip
    send(
        reader, "GET /predictor/audit/{session_key}", summary="How a session was ranked and judged",
        session_key="monday",
    )  # fmt: skip
    send(reader, "GET /predictor/training", query={"limit": 1}, summary="The newest training")
    send(reader, "GET /predictor/drift", query={"limit": 2}, summary="Whether the model is stale")
    send(
        reader, "GET /timeline/{session_key}", summary="What happened in a session",
        session_key="monday",
    )  # fmt: skip


def _calibrate(story: Story) -> None:
    send, reviewer = story.send, story.reviewer
    path, wanted = "/predictor/calibration/{calibration_id}/label", {"size": 20}
    drawn = send(
        reviewer, "POST /predictor/calibration/sample", wanted,
        summary="Draw memories to judge", status=201,
    )  # fmt: skip
    *others, last = [memory for session in drawn["sessions"] for memory in session["memories"]]
    for memory in others[:-1]:
        send(reviewer, f"POST {path}", {"unsure": True}, calibration_id=memory["id"])
    send(reviewer, "POST /predictor/calibration/sample", wanted, summary="Some wait already")
    send(reviewer, "GET /predictor/calibration/sample", summary="What waits for an answer")
    send(
        reviewer, f"POST {path}", {"label": 0.8}, summary="It was of much use",
        calibration_id=others[-1]["id"],
    )  # fmt: skip
    send(
        reviewer, f"POST {path}", {"unsure": True}, summary="Nobody can tell",
        calibration_id=last["id"],
    )  # fmt: skip
    send(story.reader, "GET /predictor/calibration", summary="The judge against people")
