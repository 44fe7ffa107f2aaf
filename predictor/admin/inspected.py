"""Template context of the pages of comparisons and judgements, from the records of a session.

`services/status/records.py` decides which texts may be shown.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from memories.models import State
from predictor.admin.figures import PLAIN, STATISTICS, changes_of
from predictor.core.governance import Governor
from predictor.models import Comparison, ComparisonOutcome
from predictor.models.comparison import LEARNED, WINNERS
from predictor.serializers.record import (
    describe_effect,
    present_judgement,
    present_memories,
)
from predictor.services.status.explain import explain, relevance_word
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


@dataclass(frozen=True, slots=True)
class Member:
    """One memory at its place in a list; `gone` is why its text is not shown, else empty.

    `word` is its relevance as a word, "" where it is unknown or withheld. `places` are its places
    in the compared lists by their name, which leave out what every session is given.
    """

    place: int
    memory: dict[str, Any] | None
    gone: str
    word: str = ""
    places: Mapping[str, str] = field(default_factory=dict)


def comparison_detail(record: SessionRecord, comparison: Comparison) -> dict[str, Any]:
    """Return both rankings, the other judged memories, and the change of the evidence."""
    tops = comparison.baseline_top_ids, comparison.predictor_top_ids
    judged = record.judgement.memory_ids if record.judgement is not None else []
    others = _by_worth(record, [i for i in judged if i not in {*tops[0], *tops[1]}])
    baseline, predictor, besides, unseen = (
        [replace(one, places=_places(one, tops)) for one in members]
        for members in _members(record, *tops, *others)
    )
    evidence = comparison.evidence if isinstance(comparison.evidence, dict) else {}
    return {
        "winner": WINNERS[ComparisonOutcome(comparison.outcome)],
        "explained": explain(record, comparison),
        "moved": describe_effect(comparison),
        "reason": _reason(evidence),
        "rankings": [("baseline", "baseline", baseline), ("predictor", LEARNED, predictor)],
        "others": besides,
        "unseen": unseen,
        "evidence": changes_of(PLAIN, record.before, comparison),
        "statistics": changes_of(STATISTICS, record.before, comparison),
        **_judge_context(record),
    }


def _places(member: Member, tops: tuple[Sequence[UUID], Sequence[UUID]]) -> dict[str, str]:
    """Return where each order has a memory, in words: its place in the list that is compared."""
    if member.memory is None:
        return {}
    found = {}
    for name, top in zip(("baseline", "predictor"), tops, strict=True):
        ids = [str(i) for i in top]
        if member.memory["id"] in ids:
            found[name] = f"place {ids.index(member.memory['id']) + 1}"
        else:
            found[name] = "behind these" if member.memory[f"{name}_rank"] else "no place"
    return found


def _reason(evidence: dict[str, Any]) -> str:
    """Return why the baseline had its weight afterwards, in the words of this release."""
    if "margins" not in evidence:
        return str(evidence.get("reason", ""))
    return Governor.from_json(evidence).reason


def judgement_detail(record: SessionRecord) -> dict[str, Any]:
    """Return the judge's relevance of each memory, the most relevant first.

    What nobody may see yet, or is unknown, comes last: its place tells nothing of it.
    """
    judged = record.judgement.memory_ids if record.judgement is not None else []
    (members,) = _members(record, judged)
    raw = record.judgement.raw if record.judgement is not None and not record.withheld else {}
    return {
        "members": sorted(members, key=lambda one: -_shown_relevance(one)),
        "raw": json.dumps(raw, indent=2, ensure_ascii=False) if raw else "",
        **_judge_context(record),
    }


def _shown_relevance(member: Member) -> float:
    """Return the relevance that the page shows, -1 for none."""
    return member.memory["relevance"] if member.memory and member.word else -1.0


def _by_worth(record: SessionRecord, ids: Sequence[UUID]) -> tuple[list[UUID], list[UUID]]:
    """Return those that were injected, then the others, the most relevant first."""
    known = record.memories
    injected = [i for i in ids if i in known and (row := known[i].candidate) and row.was_injected]
    rest = [i for i in ids if i not in injected]
    worth = {i: (known[i].relevance or 0.0) if i in known else 0.0 for i in rest}
    return injected, sorted(rest, key=lambda i: -worth[i])


def _judge_context(record: SessionRecord) -> dict[str, Any]:
    return {
        "record": record,
        "answer": present_judgement(record),
        "withheld": WITHHELD.get(record.withheld, ""),
    }


def _members(record: SessionRecord, *lists: Sequence[UUID]) -> list[list[Member]]:
    """Return lists of members, numbered from 1; an erased memory keeps its number, without text."""
    memory = {one["id"]: one for one in present_memories(list(record.memories.values()))}
    return [
        [_member(place, memory.get(str(i))) for place, i in enumerate(ids, start=1)]
        for ids in lists
    ]


def _member(place: int, memory: dict[str, Any] | None) -> Member:
    if memory is None:
        return Member(place, None, ERASED)
    gone = f"{State(memory['state']).label}: its text is not shown."
    is_known = memory["relevance"] is not None and not memory["is_blind"]
    word = relevance_word(memory["relevance"]) if is_known else ""
    return Member(place, memory, gone if memory["content"] is None else "", word)
