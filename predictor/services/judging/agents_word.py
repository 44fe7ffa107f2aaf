"""Read what the agent of a session said of its memories, and judge by it.

It said so at the end (`used`), or as feedback in between. It only speaks of what it was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from memories.models import CandidateSource, ReportItem, ReportKind, Session, SessionCandidate
from memories.services.sessions.reported import reported_use
from predictor.core.calibration import RELEVANT
from predictor.core.judging import JudgeScores
from predictor.core.labels import MIN_CONFIDENCE
from predictor.core.trust import AGENT_VERSION, weigh
from predictor.models import CalibrationItem, JudgeKind
from predictor.services.judging.verdict import JudgeVerdict

CHECKS_READ: Final = 200  # of a key, the newest


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """How often people agreed with what the caller of a session said in its sessions."""

    agreed: int = 0
    checked: int = 0

    @property
    def weight(self) -> float:
        """Return the weight of its word against the judge's, in (0, 1)."""
        return weigh(self.agreed, self.checked)


@dataclass(frozen=True, slots=True)
class AgentsWord:
    """What an agent said: use by memory in [0, 1], and the same with its feedback.

    `missing` are the texts of what it had to find out.
    """

    used: Mapping[UUID, float]
    stated: Mapping[UUID, float]
    missing: Sequence[str]
    record: KeyRecord

    def __bool__(self) -> bool:
        """Return whether it said something of memories that were ranked."""
        return bool(self.stated)

    @property
    def as_json(self) -> dict[str, Any]:
        """Return what is stored with the judgement."""
        found = self.record
        return {"weight": found.weight, "agreed": found.agreed, "checked": found.checked}


def has_word(session: Session) -> bool:
    """Return whether the agent said how much it used memories, or gave feedback."""
    used = ReportItem.objects.filter(session=session, kind=ReportKind.USED)
    return used.exists() or session.candidates.filter(feedback__isnull=False).exists()


def read_word(session: Session, rows: Sequence[SessionCandidate]) -> AgentsWord:
    """Return what the agent of a session said; `rows` are the session's records.

    Feedback counts before `used`; below 0 it says that the memory was of no use.
    """
    items = list(ReportItem.objects.filter(session=session).exclude(kind=ReportKind.WRONG))
    used = {item.memory_id: item.value or 0.0 for item in items if item.memory_id}
    stated: dict[UUID, float] = {}
    for row in rows:
        value = used.get(row.memory_id) if row.feedback is None else max(0.0, row.feedback)
        if value is not None and row.source != CandidateSource.FTS_ONLY:
            stated[row.memory_id] = value
    missing = [item.text for item in items if item.kind == ReportKind.MISSING and item.text]
    return AgentsWord(used, stated, missing, read_record(session) if used else KeyRecord())


def read_record(session: Session) -> KeyRecord:
    """Return the record of the session's caller, by two queries.

    Only first labels of people count, as in the report of the judge.
    """
    checks = CalibrationItem.objects.filter(
        session__caller=session.caller, label__isnull=False, is_relabelled=False
    ).order_by("-labelled_at", "pk")
    newest = checks.values_list("session_id", "memory_id", "label")[:CHECKS_READ]
    labels = {(session_id, memory_id): label or 0.0 for session_id, memory_id, label in newest}
    said = reported_use({session for session, _ in labels}, {memory for _, memory in labels})
    pairs = [(label, said[key]) for key, label in labels.items() if key in said]
    agreed = sum((label >= RELEVANT) == (value >= RELEVANT) for label, value in pairs)
    return KeyRecord(agreed, len(pairs))


def judge_by_agent(word: AgentsWord, *, note: str = "") -> JudgeVerdict:
    """Return the agent's own verdict on its session.

    `overall` is the share of its use in all that it needed: what it used and what was missing. The
    confidence is the weight of its word, and enough to learn from in any case.
    """
    ids = sorted(word.stated)
    worth = sum(word.stated.values())
    needed = worth + len(word.missing)
    return JudgeVerdict(
        scores=JudgeScores(
            overall=worth / needed if needed else 0.0,
            confidence=max(MIN_CONFIDENCE, word.record.weight),
            relevance=tuple(word.stated[i] for i in ids),
        ),
        ids=ids,
        kind=JudgeKind.AGENT,
        version=AGENT_VERSION,
        note=note,
    )
