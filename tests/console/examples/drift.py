"""Examples of prediction errors: a note that changed under a memory, and evidence from outside."""

from __future__ import annotations

from memories.services.drift.check import check_due
from tests.console.examples.story import Story

BEFORE = """# Release

The licence review is an open blocker for the release. Builds run on Tuesdays.
"""
AFTER = BEFORE.replace("is an open blocker for the release", "was resolved last week")
MEMORY = "The licence review is an open blocker for the release ([[work/release]])."


def record_drift(story: Story) -> None:
    """Send the calls about prediction errors."""
    send, agent, reviewer = story.send, story.agent, story.reviewer
    of = {"note_path": "work/release.md"}
    agent._send("put", "notes/work/release.md", {"content": BEFORE}, {})
    memory = story.commit(MEMORY, scope="release")
    check_due(story.tenant.workspace, now=story.clock.moment)
    send(
        agent, "PUT /notes/{note_path}", {"content": AFTER},
        summary="A changed note, which a memory leaned on", **of,
    )  # fmt: skip
    agent.post("memories/recall", {"query": "What blocks the release?", "k": 3})
    query = {"error_type": "memory_drift", "limit": 1}
    listed = send(agent, "GET /prediction-errors", query=query, summary="Drift that was found")
    error = listed["results"][0]["id"]
    signal = {"source": "git", "evidence": {"commit": "8d1f0c", "closes": "#41"}, "weight": 3}
    signalled = send(
        agent, "POST /memories/{memory_id}/signals", signal, status=201,
        summary="Evidence from outside", memory_id=memory,
    )["id"]  # fmt: skip
    send(agent, "GET /prediction-errors/{error_id}", summary="One error", error_id=error)
    answer = {"action": "still_true", "note": "The new review is open."}
    send(
        reviewer, "POST /prediction-errors/{error_id}/resolve", answer,
        summary="Still true", error_id=error,
    )  # fmt: skip
    together = {"action": "dismiss", "ids": [error, signalled]}
    send(
        reviewer, "POST /prediction-errors/resolve", together,
        summary="One answer to several; what was resolved before stays so",
    )  # fmt: skip
