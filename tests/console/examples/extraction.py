"""Transcripts turned into memories: queued, read, what was refused kept after all or left out."""

from __future__ import annotations

from memories.services.extraction import run
from tests.console.examples.story import Story

TALK = """\
User: the berth plan failed again last night
Agent: The mail server refused it. I'll send it again.
User: thanks. For the record: from now on Mirjam owns the berth plan, not Ole.
Agent: Noted. Should the plan go to the pilots as well?
User: The spare printer for it is in the harbour office, Ole Brandt has the key.
Agent: Sent at 10:12.
"""


def record_extraction(story: Story) -> None:
    """Send the calls about extraction and its jobs."""
    send, agent, reviewer = story.send, story.agent, story.reviewer
    body = {"transcript": TALK, "session_key": "tuesday", "scope": "berths"}
    queued = send(
        agent, "POST /memories/extract", body, summary="Turn a transcript into memories", status=202
    )
    job = {"job_id": queued["job"]}
    send(agent, "GET /jobs/{job_id}", summary="A job that waits", **job)
    run.extract_turn(story.tenant.workspace.pk, clock=story.clock.now, seconds=60, may_ask=False)
    send(agent, "GET /jobs/{job_id}", summary="What came of it", **job)
    query = {"reason": "not_lasting", "decision": "undecided", "limit": 2}
    listed = send(
        reviewer, "GET /memories/extraction-refusals", query=query,
        summary="Statements that nothing says will last",
    )  # fmt: skip
    kept, left = sorted(listed["results"], key=lambda row: -row["worth"])
    path = "POST /memories/extraction-refusals/{refusal_id}"
    send(reviewer, f"{path}/accept", summary="Keep it after all", refusal_id=kept["id"])
    send(reviewer, f"{path}/reject", summary="Leave it out", refusal_id=left["id"])
    send(reviewer, f"{path}/undo", summary="Take that back", refusal_id=left["id"])
