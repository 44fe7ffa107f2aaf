"""A few calls that are refused."""

from __future__ import annotations

from django.test import Client

from tests.conftest import Caller
from tests.console.examples.story import Story


def record_problems(story: Story) -> None:
    """Send calls that are refused."""
    send, agent = story.send, story.agent
    path = "POST /memories"
    send(Caller("", Client()), path, {"content": "No key."}, summary="No key", status=401)
    send(
        story.reader, path, {"content": "The crane is red."}, summary="A key that may only read",
        status=403,
    )  # fmt: skip
    headers = {"Idempotency-Key": "import-7"}
    send(agent, path, {"content": "The crane is red."}, status=201, headers=headers)
    send(
        agent, path, {"content": "The crane is blue."}, status=409, headers=headers,
        summary="An Idempotency-Key of another body",
    )  # fmt: skip
    wrong = {"content": "", "importance": 3}
    send(agent, path, wrong, summary="Fields that are wrong", status=422)
    secret = {"content": "The password is hunter2hunter2."}
    send(agent, path, secret, summary="A text that holds a credential", status=422)
    nowhere = {"memory_id": "00000000-0000-4000-8000-ffffffffffff"}
    send(story.reader, "GET /memories/{memory_id}", summary="An unknown id", status=404, **nowhere)
    [card] = send(story.reader, "GET /conflicts", query={"scope": "gateway", "status": "open"})[
        "results"
    ]
    send(
        story.reviewer, "POST /conflicts/{conflict_id}/resolve",
        {"verdict": "yes", "version": card["version"] - 1},
        summary="The conflict has changed since it was read", status=409, conflict_id=card["id"],
    )  # fmt: skip
