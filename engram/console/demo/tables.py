"""Which tables of a workspace a recording holds, and the ids of its rows.

Of an id the first half stays, which keeps ids in their order; the second half stands for the
workspace, and is `ID_TAIL` in a recording. The workspace's own id is `WORKSPACE_ID` there.
"""

from __future__ import annotations

import hashlib
import re
from uuid import UUID

from engram.console.rows.tables import workspace_models
from engram.kernel.models import Workspace
from engram.kernel.tenancy import WorkspaceModel

ID_TAIL = "-8000-000000000000"
WORKSPACE_ID = "00000000-0000-0000-0000-000000000000"
ANY_ID = re.compile(r"\b([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4})-[0-9a-f]{4}-[0-9a-f]{12}\b")

# Tables of a workspace that no recording holds, and why.
LEFT_OUT = {
    "memories.AskedAnswers": "the story is recorded without a model",
    "kernel.ApiKey": "made anew for each workspace",
    "kernel.Membership": "made anew for each workspace",
    "kernel.Invitation": "made anew for each workspace",
    "kernel.IdempotentAnswer": "answers to callers, kept for a day",
    "kernel.AnsweredThing": "answers to callers, kept for a day",
    "kernel.WorkerTally": "measured on one machine",
    "console.Digest": "was sent to people of one installation",
    "console.DigestMail": "was sent to people of one installation",
    "console.DigestSubscription": "belongs to people of one installation",
    "console.DigestLease": "says who works right now",
    "console.MemoryChange": "of a job, kept for a month",
    "console.MemoryChangeItem": "of a job, kept for a month",
    "console.Reservation": "says what people have on screen right now",
    "console.WebhookEndpoint": "made anew for each workspace",
    "console.WebhookDelivery": "of a webhook",
    "memories.CoRecall": "the story recalls nothing",
    "memories.RecallDay": "counted from the past recalls after loading",
    "memories.EntityCount": "read from the memories after loading",
    "memories.EntityDue": "read from the memories after loading",
    "memories.MemoryEntity": "read from the memories after loading",
    "memories.Ask": "questions to the keys of one workspace, which expire",
    "conflicts.DetectionLease": "says who works right now",
    "conflicts.NarrativeLease": "says who works right now",
    "predictor.TrainingLease": "says who works right now, and what is due",
}


def recorded_models() -> list[type[WorkspaceModel]]:
    """Return the models of all tables that a recording holds, by name."""
    return workspace_models(LEFT_OUT)


def id_tail(workspace: Workspace) -> str:
    """Return the second half that all ids have which a workspace takes from a recording."""
    made = UUID(bytes=hashlib.sha256(workspace.pk.bytes).digest()[:16], version=4)
    return str(made)[18:]
