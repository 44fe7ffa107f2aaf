"""Take over a conversation that was had elsewhere, as a session that has ended."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from datetime import datetime

from engram.kernel.actors import Actor
from engram.kernel.collisions import retry_on_collision
from engram.kernel.credentials import refuse_credentials, without_credentials
from engram.kernel.history import record
from engram.kernel.models import Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Session
from memories.services.extraction.queue import queue_of_session


@dataclass(frozen=True, slots=True)
class Conversation:
    """What was said elsewhere, from `started_at` to `ended_at`; at most TRANSCRIPT_MAX_CHARS."""

    session_key: str
    transcript: str
    started_at: datetime
    ended_at: datetime
    project: str = ""
    scope: str = ""
    agent: str = ""


@retry_on_collision
def take_over(
    workspace: Workspace, conversation: Conversation, *, actor: Actor, now: datetime
) -> bool:
    """Store a conversation and queue its extraction; return False when it was taken over before.

    Nothing was injected into it: it is not judged, and rankers learn nothing from it. A credential
    in the transcript is replaced by a marker.
    """
    named = {name: getattr(conversation, name) for name in ("session_key", "project", "scope")}
    refuse_credentials(named)
    kept, _ = without_credentials(conversation.transcript)
    with in_workspace(workspace):
        if Session.objects.filter(session_key=conversation.session_key).exists():
            return False
        session = Session.objects.create(
            **named,
            agent=conversation.agent,
            caller=actor.caller,
            k=0,
            budget_chars=0,
            started_at=conversation.started_at,
            ended_at=conversation.ended_at,
            transcript=kept,
            transcript_digest=hashlib.sha256(conversation.transcript.encode()).hexdigest(),
        )
        record(
            "session.imported",
            of=("session", session.id),
            actor=actor,
            now=now,
            session_key=session.session_key,
            data={"transcript_chars": len(kept)},
        )
        queue_of_session(workspace, session.session_key, actor=actor, now=now)
    return True
