"""Propose to mute what people keep dismissing; called after every verdict, never acting itself."""

from __future__ import annotations

from datetime import datetime

from conflicts.core.muting import (
    MUTEABLE,
    TIERS,
    Counted,
    count_rule,
    count_tier,
    is_imprecise,
)
from conflicts.models import Conflict, Muting, MutingStatus
from conflicts.services.muting.tallies import read_tallies
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import Workspace


def review_precision(workspace: Workspace, card: Conflict, *, now: datetime) -> None:
    """Propose to mute the rules of a card that are wrong too often; or withdraw that.

    Then the tiers, by what is left without the rules that are muted or proposed: one bad rule
    proposes itself, never all that its tier finds. Within the transaction of a verdict or of its
    undoing.
    """
    rules = sorted(MUTEABLE.intersection(card.rules))
    tallies = read_tallies([*rules, *TIERS])
    muted = set(workspace.config.muted_rules)
    _review({rule: count_rule(rule, tallies) for rule in rules}, muted, now)
    aside = muted.union(_pending())
    _review({tier: count_tier(tier, tallies, aside) for tier in TIERS}, muted, now)


def _review(counts: dict[str, Counted], muted: set[str], now: datetime) -> None:
    """Propose or withdraw what the counts of rules or tiers say."""
    pending = _pending()
    for name, counted in counts.items():
        proposal = pending.get(name)
        if not is_imprecise(counted):
            if proposal is not None:
                _withdraw(proposal, now)
        elif proposal is not None:
            own = Muting.objects.filter(pk=proposal.pk, status=MutingStatus.PENDING)
            own.update(confirmed=counted.confirmed, decided=counted.decided)
        elif name not in muted:
            _propose(name, counted, now)


def _pending() -> dict[str, Muting]:
    return {row.rule: row for row in Muting.objects.filter(status=MutingStatus.PENDING)}


def _withdraw(proposal: Muting, now: datetime) -> None:
    """Delete a proposal, unless people have answered it since it was read."""
    own = Muting.objects.filter(pk=proposal.pk, status=MutingStatus.PENDING)
    if list(own.select_for_update()):
        own.delete()
        _tell("muting.withdrawn", proposal, now)


def _propose(name: str, counted: Counted, now: datetime) -> None:
    """Write a proposal, unless another verdict wrote it at the same time."""
    proposal = Muting(
        rule=name, confirmed=counted.confirmed, decided=counted.decided, created_at=now
    )
    Muting.objects.bulk_create([proposal], ignore_conflicts=True)
    if Muting.objects.filter(pk=proposal.pk).exists():
        _tell("muting.proposed", proposal, now)


def _tell(event: str, proposal: Muting, now: datetime) -> None:
    data = {"rule": proposal.rule, "confirmed": proposal.confirmed, "decided": proposal.decided}
    record(event, of=("muting", proposal.id), actor=SYSTEM, now=now, data=data)
