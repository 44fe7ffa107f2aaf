"""Conflicts: found, discussed, decided, taken back, reported."""

from __future__ import annotations

from datetime import timedelta

from conflicts.models import Muting
from conflicts.services.detection.detect import detect_due
from engram.kernel.tenancy import in_workspace
from tests.console.examples.story import Story

RATES = {
    "The API rate limit is 1000 requests per second.": "1000 requests per second",
    "The API rate limit is 5000 requests per second.": "5000 requests per second",
}
# Reports of an agent that people dismiss, until its word alone opens no card any more.
HALLS = ("amber", "birch", "cedar", "dune", "ember", "fjord", "grove", "heath", "islet")


def record_cards(story: Story) -> None:
    """Send the calls about conflicts."""
    _find(story)
    _ask(story)
    _decide(story)
    _report(story)
    _mute(story)


def _find(story: Story) -> None:
    for content, answer in RATES.items():
        told = {"question": "What is the rate limit of the API?", "answer": answer}
        story.commit(content, scope="gateway", agent="deploy-bot", answers=[told])
    queued = {"memory_id": story.commit("The gateway runs in two zones.", scope="gateway")}
    story.send(
        story.agent, "POST /conflicts/detect", queued, summary="Compare a memory again",
        status=202,
    )  # fmt: skip
    detect_due(story.workspace(), clock=story.clock.now)
    runs = story.send(story.reader, "GET /detections", query={"limit": 1}, summary="The newest run")
    story.send(
        story.reader, "GET /detections/{run_id}", summary="One run",
        run_id=runs["results"][0]["id"],
    )  # fmt: skip


def _ask(story: Story) -> None:
    listed = story.send(
        story.reader, "GET /questions", query={"disputed": "true", "scope": "gateway"},
        summary="Questions with two answers",
    )  # fmt: skip
    story.send(
        story.reader, "GET /questions/{question_id}", summary="One question with its history",
        question_id=listed["results"][0]["id"],
    )  # fmt: skip


def _decide(story: Story) -> None:
    send, reviewer = story.send, story.reviewer
    query = {"status": "open", "scope": "gateway", "limit": 1}
    [card] = send(story.reader, "GET /conflicts", query=query, summary="Open conflicts of a scope")[
        "results"
    ]
    of = {"conflict_id": card["id"]}
    story.add_person("ana")
    send(
        reviewer, "POST /conflicts/{conflict_id}/assign", {"assignee": "ana"},
        summary="Ana shall look at it", **of,
    )  # fmt: skip
    send(
        reviewer, "POST /conflicts/{conflict_id}/comments",
        {"text": "The load test of April used 5000."}, summary="A remark", status=201, **of,
    )  # fmt: skip
    until = story.clock.now() + timedelta(days=2)
    send(
        reviewer, "POST /conflicts/{conflict_id}/snooze", {"until": until.isoformat()},
        summary="Ask again in two days", **of,
    )  # fmt: skip
    shown = send(story.reader, "GET /conflicts/{conflict_id}", summary="One conflict", **of)
    verdict = {"verdict": "yes", "version": shown["version"], "note": "Measured in April."}
    send(
        reviewer, "POST /conflicts/{conflict_id}/resolve", verdict,
        summary="Yes: what the question names still holds", **of,
    )  # fmt: skip
    send(story.reader, "GET /conflicts/quality", summary="How often people confirmed the detector")
    send(reviewer, "POST /conflicts/{conflict_id}/undo", summary="Take the decision back", **of)


def _report(story: Story) -> None:
    send, agent = story.send, story.agent
    for hall in HALLS:
        ids = [
            story.commit(f"{hall.title()} hall opens at {hour}:00.", scope=f"halls/{hall}")
            for hour in (8, 11)
        ]
        report = {"memory_ids": ids, "note": "Both hours are on the door."}
        is_last = hall == HALLS[-1]
        summary = {HALLS[0]: "Two memories contradict each other"}.get(hall, "")
        if is_last:
            summary = "Few reports of this key were confirmed: it is kept, and opens no card"
        status = 202 if is_last else 201
        card = send(agent, "POST /conflicts", report, summary=summary, status=status)
        if not is_last:
            send(
                story.reviewer, "POST /conflicts/{conflict_id}/resolve", {"verdict": "dismiss"},
                conflict_id=card["id"],
            )  # fmt: skip


def _mute(story: Story) -> None:
    """Answer what thirty verdicts would propose."""
    send, reviewer = story.send, story.reviewer
    with in_workspace(story.workspace()):
        for rule in ("ambiguity.other-words.opposites", "stale.gone-then-used"):
            Muting.objects.create(rule=rule, decided=34, confirmed=8, created_at=story.clock.now())
    query = {"status": "pending"}
    listed = send(
        story.reader, "GET /mutings", query=query,
        summary="Rules that people dismiss more often than not",
    )  # fmt: skip
    kept, muted = listed["results"]
    send(reviewer, "POST /mutings/{muting_id}/reject", summary="Let it go on", muting_id=kept["id"])
    send(reviewer, "POST /mutings/{muting_id}/accept", summary="Mute it", muting_id=muted["id"])
    send(
        reviewer, "POST /mutings/unmute", {"rule": muted["rule"]["id"]}, summary="Let it find again"
    )
