"""Replay the last days under other settings, without writing anything.

Cards that only the rules found are kept or dropped by their confidence. When the proposed minimum
confidence is lower than the current one, the rules read the memories once more for additional
findings. The effect of other merges on later memories is not simulated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import combinations
from typing import Any, Final
from uuid import UUID

from django.db import connection
from django.db.models import Q

from conflicts.core.detective import detect
from conflicts.core.facts import Finding
from conflicts.models import Conflict, ConflictPair, Decision
from conflicts.models.decision import Verdict
from conflicts.services.detection.detect import detective_settings
from conflicts.services.detection.story import add_answers, is_short, load_facts, story_ids
from conflicts.services.reports.past_limits import count_refused
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.models import Workspace
from engram.kernel.planning import without_nested_loops
from engram.kernel.services import settings_with
from engram.kernel.tenancy import in_workspace
from memories.models import Memory
from memories.services import stored_counts
from memories.services.gate.replay import GateReplay, compare_commits, read_commits, replay_gate
from memories.services.stored_counts import StoredCount, count_stored

CARDS_READ = 2000  # the newest
TRIGGERS_READ = 500  # new memories that the rules read again, the newest first
TRIGGERS_OF_A_LONG_STORY = 50
EXAMPLES = 50
# The settings by which what is stored is counted.
COUNTED: Final = {
    **stored_counts.COUNTED,
    "judgements_per_hour": (
        "judgements and reports of keys that would have been refused",
        count_refused,
    ),
}
# The settings that a replay simulates; others may be proposed, and are listed as not followed.
FOLLOWED: Final = frozenset(
    {
        "gate_policy",
        "gate_threshold",
        "detection_enabled",
        "detection_min_confidence",
        "muted_rules",
        *COUNTED,
    }
)


@dataclass(frozen=True, slots=True)
class AlsoFound:
    """A finding that the rules would have filed in addition."""

    kind: str
    memories: tuple[UUID, ...]
    confidence: float


@dataclass(slots=True)
class DetectionReplay:
    """The cards of a period under current and proposed settings."""

    cards: int = 0
    is_cut: bool = False
    as_set: Counter[str] = field(default_factory=Counter)  # by kind
    as_asked: Counter[str] = field(default_factory=Counter)
    dismissed_spared: list[UUID] = field(default_factory=list)
    confirmed_missed: list[UUID] = field(default_factory=list)
    undecided_gone: list[UUID] = field(default_factory=list)
    came_back: list[UUID] = field(default_factory=list)  # only the current settings reject them
    also: Sequence[AlsoFound] = ()
    also_count: int = 0


@dataclass(frozen=True, slots=True)
class SettingChange:
    """One changed setting: its current and its proposed value."""

    name: str
    value: Any
    asked: Any


@dataclass(frozen=True, slots=True)
class Replay:
    """A period under current and proposed settings."""

    since: datetime
    until: datetime
    changed: tuple[SettingChange, ...]
    not_followed: tuple[str, ...]
    gate: GateReplay
    detection: DetectionReplay
    stored: Sequence[StoredCount]


def replay(workspace: Workspace, changes: Mapping[str, Any], *, days: int, now: datetime) -> Replay:
    """Replay the last days under changed settings; raise `InvalidError` as saving them would."""
    current = workspace.config
    proposed = settings_with(workspace.settings, changes)
    before, after = current.model_dump(), proposed.model_dump()
    changed = [SettingChange(n, before[n], after[n]) for n in after if before[n] != after[n]]
    since = now - timedelta(days=days)
    with in_workspace(workspace), _read_only():
        past = read_commits(workspace, current, proposed, since=since, until=now)
    compare_commits(past, current, proposed)
    with in_workspace(workspace), _read_only():
        return Replay(
            since=since,
            until=now,
            changed=tuple(changed),
            not_followed=tuple(sorted({one.name for one in changed} - FOLLOWED)),
            gate=replay_gate(past, current, proposed),
            detection=_replay_detection(workspace, current, proposed, since=since, until=now),
            stored=count_stored(
                workspace, current, proposed, since=since, until=now, counted=COUNTED
            ),
        )


@contextmanager
def _read_only() -> Iterator[None]:
    """Make the database refuse writes until the enclosing transaction or savepoint ends."""
    with connection.cursor() as cursor:
        cursor.execute("SET TRANSACTION READ ONLY")
    yield


def _replay_detection(
    workspace: Workspace,
    current: WorkspaceSettings,
    proposed: WorkspaceSettings,
    *,
    since: datetime,
    until: datetime,
) -> DetectionReplay:
    opened = Conflict.objects.filter(created_at__gte=since, created_at__lt=until)
    cards = list(opened.order_by("-created_at", "-pk")[: CARDS_READ + 1])
    done = DetectionReplay(is_cut=len(cards) > CARDS_READ)
    cards = cards[:CARDS_READ]
    done.cards = len(cards)
    verdicts = dict(
        Decision.objects.filter(conflict__in=cards, undone_at=None).values_list(
            "conflict_id", "verdict"
        )
    )
    for card in cards:
        came, would = _comes(card, current), _comes(card, proposed)
        done.as_set[card.kind] += came
        done.as_asked[card.kind] += would
        if came and not would:
            _count_gone(done, card, verdicts.get(card.pk))
        elif would and not came:
            done.came_back.append(card.pk)
    is_wider = proposed.detection_min_confidence < current.detection_min_confidence
    if proposed.detection_enabled and (is_wider or not current.detection_enabled):
        _find_more(done, workspace, current, proposed, since=since, until=until)
    return done


def _comes(card: Conflict, config: WorkspaceSettings) -> bool:
    """Return whether a card would be opened; one that others than the rules found always is."""
    is_by_rules = card.detected_by == ["rules"]
    is_sure = card.confidence >= config.detection_min_confidence
    is_by_people = not {"agent", "person"}.isdisjoint(card.detected_by)
    if is_by_people:
        return True
    muted = set(config.muted_rules)
    is_muted = muted.issuperset(card.rules) or muted.issuperset(card.detected_by)
    return config.detection_enabled and not is_muted and (is_sure or not is_by_rules)


def _count_gone(done: DetectionReplay, card: Conflict, verdict: str | None) -> None:
    if verdict is None:
        done.undecided_gone.append(card.pk)
    elif verdict == Verdict.DISMISS:
        done.dismissed_spared.append(card.pk)
    else:
        done.confirmed_missed.append(card.pk)


def _find_more(
    done: DetectionReplay,
    workspace: Workspace,
    current: WorkspaceSettings,
    proposed: WorkspaceSettings,
    *,
    since: datetime,
    until: datetime,
) -> None:
    """Run the rules once more for findings that only the proposed settings accept."""
    new = Memory.objects.recallable(until).filter(created_at__gte=since)
    most = TRIGGERS_READ if is_short(until) else TRIGGERS_OF_A_LONG_STORY
    triggers = list(new.order_by("-created_at", "-pk").values_list("pk", flat=True)[: most + 1])
    done.is_cut = done.is_cut or len(triggers) > most
    triggers = triggers[:most]
    with without_nested_loops():
        ids = story_ids(set(triggers), workspace.embedding_model, until)
        story = load_facts(ids, workspace.embedding_model)
        story = add_answers(story, workspace, until)
    raw = detect(
        story.facts, story.vectors, now=until, triggers=story.facts_of(triggers),
        settings=detective_settings(proposed, workspace.embedding_model),
        questions=story.questions,
    )  # fmt: skip
    least = current.detection_min_confidence if current.detection_enabled else 2.0
    found = [f for one in raw if (f := story.in_memories(one)) and f.confidence < least]
    fresh = _on_no_card(found)
    for finding in fresh:
        done.as_asked[finding.kind] += 1
    done.also_count = len(fresh)
    done.also = [
        AlsoFound(f.kind, tuple(UUID(i) for i in f.fact_ids), f.confidence)
        for f in fresh[:EXAMPLES]
    ]


def _on_no_card(found: Sequence[Finding]) -> list[Finding]:
    """Return the findings with a pair that no card covers, waiting or decided."""
    ids = {UUID(i) for finding in found for i in finding.fact_ids}
    lineages = {
        str(pk): line for pk, line in Memory.objects.filter(pk__in=ids).values_list("pk", "lineage")
    }
    lines = list(lineages.values())
    pairs = ConflictPair.objects.filter(Q(lineage_low__in=lines) & Q(lineage_high__in=lines))
    covered = {frozenset(pair) for pair in pairs.values_list("lineage_low", "lineage_high")}
    fresh = []
    for finding in found:
        own = dict.fromkeys(lineages[i] for i in finding.fact_ids)
        mine = {frozenset(pair) for pair in combinations(own, 2)}
        if mine and not mine <= covered:
            fresh.append(finding)
    return fresh
