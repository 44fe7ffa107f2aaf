"""Notes: stored, linked by a memory, given as context, deleted."""

from __future__ import annotations

from tests.console.examples.story import Story

BILLING = """---
aliases: [Invoices]
tags: [money]
---
# Billing

Invoices are sent on the first of the month; see [[contracts]].

## Retries

A failed payment is tried again after three days.
"""


def record_notes(story: Story) -> None:
    """Send the calls about notes and context."""
    send, agent, reader = story.send, story.agent, story.reader
    of = {"note_path": "work/billing.md"}
    note = {"content": BILLING, "agent": "deploy-bot"}
    send(agent, "PUT /notes/{note_path}", note, summary="A new note", status=201, **of)
    send(agent, "PUT /notes/{note_path}", note, summary="The same note again", **of)
    text = "Failed payments are retried after three days, see [[billing]] and [[banks]]."
    memory = story.commit(text, scope="pay")
    send(
        reader, "GET /memories/{memory_id}/note-links", summary="Where its links lead",
        memory_id=memory,
    )  # fmt: skip
    send(
        reader, "GET /memories/{memory_id}/associations", summary="What it is linked with",
        memory_id=memory,
    )  # fmt: skip
    send(reader, "GET /notes/{note_path}", summary="A note with its links", **of)
    query = {"tag": "money", "limit": 1}
    send(reader, "GET /notes", query=query, summary="Notes with a tag")
    task = {"task": "Why was a failed payment not retried yet?", "k": 1}
    send(reader, "POST /context", task, summary="What belongs to a task")
    send(agent, "DELETE /notes/{note_path}", summary="Delete a note", status=204, **of)
