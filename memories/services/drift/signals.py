"""Record evidence from outside that a memory may be out of date."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from engram.kernel.actors import Actor
from engram.kernel.credentials import refuse_credentials, strings_in
from engram.kernel.history import record
from engram.kernel.ids import next_id
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, MissingError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.spelling import collapse
from memories.models import Memory, PredictionError, Session
from memories.models.drift import OWN_SOURCES, SOURCE_MAX_CHARS, ErrorType
from memories.services.causes import SIGNALS_UNDECIDED, SOURCE_RESERVED
from memories.services.drift.report import COLUMNS, UPSERT, as_json, upsert
from memories.services.drift.severity import severity_of_weight
from memories.services.drift.signal_limit import room_for_signals, with_open_signal

EVIDENCE_MAX_BYTES = 8192
SIGNALLED = "memory.signalled"
_SIGNAL = f"""
    {COLUMNS}
    VALUES (
        %(id)s, %(workspace)s, %(type)s, %(memory)s, NULL, '', NULL, %(source)s, '', '{{}}', NULL,
        %(context)s::jsonb, %(weight)s, %(now)s, %(now)s, 1, '', '', '', %(severity)s
    )
    {UPSERT}
"""


@dataclass(frozen=True, slots=True)
class Signal:
    """Outside evidence: who says so, what, and how much it weighs (0..10)."""

    source: str
    evidence: Mapping[str, Any]
    weight: float = 1.0


def record_signal(
    workspace: Workspace, memory_id: UUID, signal: Signal, *, actor: Actor, now: datetime
) -> PredictionError:
    """Store a signal about a recallable memory; of one source the stronger one stays.

    Sources are compared without regard to case, and stored in lower case. Raise `StaleError` when
    too many signals of the caller wait for people, unless this one joins another.
    """
    source = _name_of(signal.source)
    if len(json.dumps(signal.evidence, ensure_ascii=False).encode()) > EVIDENCE_MAX_BYTES:
        raise InvalidError("evidence", f"At most {EVIDENCE_MAX_BYTES:,} bytes of JSON.")
    for text in [signal.source, *strings_in(dict(signal.evidence))]:
        refuse_credentials({"evidence": text})
    with in_workspace(workspace):
        held = Memory.objects.recallable(now).select_for_update(no_key=True)
        if not held.filter(pk=memory_id).exists():
            raise MissingError("There is no such memory that can be recalled.")
        room = room_for_signals(actor, workspace.config)
        if room == 0 and not with_open_signal([memory_id], source):
            raise StaleError(
                "As many signals of this key wait for people as may.", cause=SIGNALS_UNDECIDED
            )
        error_id = store_signal(memory_id, replace(signal, source=source), actor=actor, now=now)
        return PredictionError.objects.select_related("memory").get(pk=error_id)


def store_signal(memory_id: UUID, signal: Signal, *, actor: Actor, now: datetime) -> UUID:
    """Store a signal about a memory that the caller has locked; return the prediction error."""
    [error_id] = upsert(
        _SIGNAL,
        {
            "id": next_id(),
            "type": ErrorType.MEMORY_EXTERNAL_SIGNAL.value,
            "memory": memory_id,
            "source": signal.source,
            "context": as_json({"evidence": signal.evidence, "by": [actor.label]}),
            "weight": signal.weight,
            "severity": severity_of_weight(signal.weight).value,
        },
        now,
    )
    record(
        SIGNALLED,
        of=("memory", memory_id),
        actor=actor,
        now=now,
        data={"error": str(error_id), "source": signal.source, "weight": signal.weight},
    )
    return error_id


def store_session_signals(
    session: Session,
    source: str,
    evidence: Mapping[UUID, Mapping[str, Any]],
    *,
    actor: Actor,
    now: datetime,
) -> None:
    """Let people decide what a session says against memories, which the caller has locked.

    Stored is as much as the actor may have more signals waiting.
    """
    known = with_open_signal(list(evidence), source)
    room = room_for_signals(actor, session.workspace.config) if evidence else None
    for memory_id, said in evidence.items():
        if room is not None and memory_id not in known:
            if room == 0:
                continue
            room -= 1
        store_signal(memory_id, Signal(source, said), actor=actor, now=now)


def _name_of(source: str) -> str:
    """Return the name of a source as it is stored; refuse one that is empty or too long so."""
    name = collapse(unicodedata.normalize("NFKC", source)).strip().lower()
    if not name:
        raise InvalidError("source", "Name who says so.")
    if len(name) > SOURCE_MAX_CHARS:
        raise InvalidError("source", f"At most {SOURCE_MAX_CHARS} characters.")
    if name in OWN_SOURCES:
        raise InvalidError("source", f"The service itself is “{name}”.", cause=SOURCE_RESERVED)
    return name
