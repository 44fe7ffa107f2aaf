"""What the pages of comparisons and judgements show: the records of their session, in words.

What may be shown of a memory, and of what the judge said, is decided where the records are read
(`services.session_records`); here it is laid out.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from memories.models import State
from predictor.models import Comparison, Outcome
from predictor.models.comparison import WINNERS
from predictor.serializers.record import (
    moved,
    present_evidence,
    present_judgement,
    present_memories,
)
from predictor.services.status.records import (
    WITHHELD_CALIBRATION,
    WITHHELD_ERASED,
    WITHHELD_FORGOTTEN,
    SessionRecord,
)

ERASED = "Erased: nothing of it is kept."
WITHHELD = {
    WITHHELD_ERASED: "The judge's own words are gone: it saw a memory that was erased since, and"
    " may have quoted it.",
    WITHHELD_FORGOTTEN: "The judge's own words are not shown: it saw a memory that was forgotten"
    " since, and may quote it.",
    WITHHELD_CALIBRATION: "The judge's own words are not shown yet: a person is to say first what"
    " one of these memories was worth.",
}
# What is told of the evidence before and after a comparison: name, key, and how it is written.
EVIDENCE = (
    ("Phase", "phase", ""),
    ("Baseline's weight", "alpha", ".2f"),
    ("Mean margin", "mean_margin", "+.3f"),
    ("Standard errors above 0", "z", "+.2f"),
    ("Effective comparisons", "n_eff", ".1f"),
    ("Drift sum", "drift_sum", ".2f"),
    ("Success rate", "success_rate", ".2f"),
    ("Weight by the literal rule", "literal_alpha", ".2f"),
)


@dataclass(frozen=True, slots=True)
class Member:
    """One memory at its place in a list; `gone` says why its text is not shown, if it is not."""

    place: int
    memory: dict[str, Any] | None
    gone: str


def comparison_detail(record: SessionRecord, comparison: Comparison) -> dict[str, Any]:
    """Return both rankings, what was judged besides, and what it did to the evidence."""
    tops = comparison.baseline_top_ids, comparison.predictor_top_ids
    judged = record.judgement.memory_ids if record.judgement is not None else []
    others = [i for i in judged if i not in {*tops[0], *tops[1]}]
    baseline, predictor, besides = _members(record, *tops, others)
    evidence = comparison.evidence if isinstance(comparison.evidence, dict) else {}
    return {
        "winner": WINNERS[Outcome(comparison.outcome)],
        "moved": moved(comparison),
        "reason": evidence.get("reason", ""),
        "rankings": [("baseline", baseline), ("predictor", predictor)],
        "others": besides,
        "evidence": _evidence(record.before, comparison),
        **_said(record),
    }


def judgement_detail(record: SessionRecord) -> dict[str, Any]:
    """Return what the judge said of each memory, in the order in which it saw them."""
    judged = record.judgement.memory_ids if record.judgement is not None else []
    (members,) = _members(record, judged)
    raw = record.judgement.raw if record.judgement is not None and not record.withheld else {}
    return {
        "members": members,
        "raw": json.dumps(raw, indent=2, ensure_ascii=False) if raw else "",
        **_said(record),
    }


def _said(record: SessionRecord) -> dict[str, Any]:
    return {
        "record": record,
        "said": present_judgement(record),
        "withheld": WITHHELD.get(record.withheld, ""),
    }


def _members(record: SessionRecord, *lists: Sequence[UUID]) -> list[list[Member]]:
    """Return lists of memories, each at its place; an erased one leaves its place empty."""
    memory = {one["id"]: one for one in present_memories(list(record.memories.values()))}
    return [
        [_member(place, memory.get(str(i))) for place, i in enumerate(ids, start=1)]
        for ids in lists
    ]


def _member(place: int, memory: dict[str, Any] | None) -> Member:
    if memory is None:
        return Member(place, None, ERASED)
    gone = f"{State(memory['state']).label}: its text is not shown."
    return Member(place, memory, gone if memory["content"] is None else "")


def _evidence(before: Comparison | None, after: Comparison) -> list[tuple[str, str, str]]:
    """Return rows of what the evidence was and became."""
    then = {} if before is None else present_evidence(before)
    now = present_evidence(after)
    return [
        (name, _figure(then.get(key), shape), _figure(now[key], shape))
        for name, key, shape in EVIDENCE
    ]


def _figure(value: Any, shape: str) -> str:
    return "–" if value is None else format(value, shape)
