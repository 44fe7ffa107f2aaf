"""What people run the service by: keys, settings, figures, the janitor, the inbox."""

from __future__ import annotations

from datetime import timedelta

from conflicts.services.detection.detect import detect_due
from engram.kernel import heartbeat, latency, telemetry
from tests.console.examples.recorder import PAUSE
from tests.console.examples.story import Story


def record_operations(story: Story) -> None:
    """Send the calls of operators."""
    _keys(story)
    _settings(story)
    _figures(story)
    _janitor(story)
    _predictor(story)


def _keys(story: Story) -> None:
    send, admin = story.send, story.admin
    expires_at = story.clock.now() + timedelta(days=365)
    wanted = {"name": "nightly import", "role": "agent", "expires_at": expires_at.isoformat()}
    made = send(admin, "POST /keys", wanted, summary="A key for an agent", status=201)
    send(admin, "GET /keys", query={"limit": 1}, summary="The newest key")
    send(admin, "GET /keys/{key_id}", summary="One key", key_id=made["id"])
    send(admin, "DELETE /keys/{key_id}", summary="Revoke a key", status=204, key_id=made["id"])
    send(story.reader, "GET /inbox", query={"limit": 2}, summary="What waits for people")
    query = {"type": "memory.merged", "limit": 1}
    send(story.reader, "GET /events", query=query, summary="The newest event of a type")


def record_webhooks(story: Story) -> None:
    """Send the calls about webhooks."""
    send, admin = story.send, story.admin
    wanted = {
        "url": "https://hooks.example.com/engram",
        "events": ["conflict.opened", "review.opened"],
    }
    made = send(admin, "POST /webhooks", wanted, summary="Tell of open questions", status=201)
    one = {"webhook_id": made["id"]}
    send(admin, "GET /webhooks", summary="All webhooks")
    send(admin, "GET /webhooks/{webhook_id}", summary="One webhook", **one)
    change = {"events": ["conflict.opened"]}
    send(admin, "PATCH /webhooks/{webhook_id}", change, summary="Tell of less", **one)
    send(admin, "POST /webhooks/{webhook_id}/secret", summary="A new secret", **one)
    test = "POST /webhooks/{webhook_id}/test"
    sent = send(admin, test, summary="Send a test event", status=202, **one)
    deliveries = "GET /webhooks/{webhook_id}/deliveries"
    send(admin, deliveries, query={"status": "waiting"}, summary="What waits", **one)
    again = "POST /webhooks/deliveries/{delivery_id}/redeliver"
    send(admin, again, summary="Send it again", status=202, delivery_id=sent["id"])
    off = {"enabled": False}
    send(admin, "PATCH /webhooks/{webhook_id}", off, summary="Disable it", **one)
    send(admin, "DELETE /webhooks/{webhook_id}", summary="Delete it", status=204, **one)


def _settings(story: Story) -> None:
    send = story.send
    send(story.reader, "GET /workspace/settings", summary="All settings")
    change = {"gate_threshold": 0.95}
    send(
        story.reviewer, "POST /workspace/settings/replay", {"settings": change, "days": 7},
        summary="What last week would have looked like",
    )  # fmt: skip
    send(story.admin, "PATCH /workspace/settings", change, summary="Merge less")
    query = {"retention_transcript_days": 30}
    send(
        story.reader, "GET /workspace/retention", query=query,
        summary="What would be deleted if transcripts were kept for 30 days",
    )  # fmt: skip


def _figures(story: Story) -> None:
    send, now = story.send, story.clock.now()
    detect_due(story.workspace(), clock=story.clock.now)
    latency.pending = latency.PendingLatencies()
    heartbeat.tally = heartbeat.ProcessCounters()
    for seconds in (0.010, 0.012, 0.200):
        telemetry.observe("recall", seconds, story.tenant.workspace)
    latency.write("web@here/1")
    telemetry.record_error(
        "judge", "judge_failed", detail="ReadTimeout", session_key="monday", now=now,
        workspace=story.tenant.workspace,
    )  # fmt: skip
    send(story.reader, "GET /analytics/latency", query={"window": "1h"}, summary="An hour")
    query = {"stage": "judge", "limit": 1}
    send(story.reader, "GET /analytics/errors", query=query, summary="The newest failure")
    _beat(story)
    send(story.reader, "GET /pipeline/status", summary="What runs and what waits")
    _beat(story)
    send(story.reader, "GET /diagnostics", summary="How the workspace does")
    _beat(story)
    send(story.reader, "GET /diagnostics/predictor", summary="How the predictor does")


def _beat(story: Story) -> None:
    """Let each process be heard of in the moment of the next call."""
    now = story.clock.now() + PAUSE
    for name in ("web@here/1", "worker@here/2", "beat@here/3"):
        heartbeat.beat(heartbeat.tally.row(name, started_at=now - timedelta(hours=1), now=now))


def _janitor(story: Story) -> None:
    send, admin = story.send, story.admin
    query = {"limit": 1}
    send(story.reviewer, "GET /janitor/preview", query=query, summary="What a run would do")
    send(admin, "POST /janitor/runs", {"dry_run": True}, summary="The same, by POST")
    run = send(admin, "POST /janitor/runs", {"cull": False}, summary="A run", status=201)
    send(story.reader, "GET /janitor/runs", query=query, summary="The newest run")
    of = {"janitor_run_id": run["id"]}
    actions = send(
        story.reader, "GET /janitor/runs/{janitor_run_id}/actions", query=query,
        summary="What a run did", **of,
    )["results"]  # fmt: skip
    send(
        admin, "POST /janitor/actions/{janitor_action_id}/undo", summary="Undo one action",
        janitor_action_id=actions[0]["id"],
    )  # fmt: skip
    send(admin, "POST /janitor/runs/{janitor_run_id}/undo", summary="Undo the rest of a run", **of)


def _predictor(story: Story) -> None:
    story.send(story.admin, "POST /predictor/enable", summary="Let it rank again")
    story.send(story.admin, "POST /predictor/reset", summary="Begin anew")
