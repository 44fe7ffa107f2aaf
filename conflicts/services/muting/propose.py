"""Propose to mute what people keep dismissing; called after every verdict, never acting itself."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from datetime import datetime

from django.db.models import Case, Count, Max, Q, Value, When
from django.db.models.expressions import Combinable

from conflicts.core.muting import MUTEABLE, is_imprecise
from conflicts.models import Conflict, Decision, Muting, MutingStatus
from conflicts.models.decision import Verdict
from engram.kernel.actors import SYSTEM
from engram.kernel.history import record
from engram.kernel.models import Workspace

# People said that it is to go on: what was decided before counts no more.
SPARED = (MutingStatus.REJECTED, MutingStatus.UNMUTED)


def review_precision(workspace: Workspace, card: Conflict, *, now: datetime) -> None:
    """Propose to mute the rules and tiers of a card that are wrong too often; or withdraw that.

    Within the transaction of a verdict or of its undoing.
    """
    names = sorted(MUTEABLE.intersection([*card.rules, *card.detected_by]))
    counted = count_verdicts(names)
    pending = {row.rule: row for row in Muting.objects.filter(status=MutingStatus.PENDING)}
    for name in names:
        confirmed, decided = counted[name]
        proposal = pending.get(name)
        if not is_imprecise(confirmed, decided):
            if proposal is not None:
                _withdraw(proposal, now)
        elif proposal is not None:
            own = Muting.objects.filter(pk=proposal.pk, status=MutingStatus.PENDING)
            own.update(confirmed=confirmed, decided=decided)
        elif name not in workspace.config.muted_rules:
            _propose(name, confirmed, decided, now)


def _withdraw(proposal: Muting, now: datetime) -> None:
    """Delete a proposal, unless people have answered it since it was read."""
    own = Muting.objects.filter(pk=proposal.pk, status=MutingStatus.PENDING)
    if list(own.select_for_update()):
        own.delete()
        _tell("muting.withdrawn", proposal, now)


def _propose(name: str, confirmed: int, decided: int, now: datetime) -> None:
    """Write a proposal, unless another verdict wrote it at the same time."""
    proposal = Muting(rule=name, confirmed=confirmed, decided=decided, created_at=now)
    Muting.objects.bulk_create([proposal], ignore_conflicts=True)
    if Muting.objects.filter(pk=proposal.pk).exists():
        _tell("muting.proposed", proposal, now)


def _tell(event: str, proposal: Muting, now: datetime) -> None:
    data = {"rule": proposal.rule, "confirmed": proposal.confirmed, "decided": proposal.decided}
    record(event, of=("muting", proposal.id), actor=SYSTEM, now=now, data=data)


def count_verdicts(names: Collection[str]) -> dict[str, tuple[int, int]]:
    """Return for each rule or tier how many verdicts confirmed it, of how many.

    Verdicts on cards that it opened or found later, since people last said that it is to go on; as
    in `detection/quality.py`, every verdict except `dismiss` confirms. One query for all.
    """
    wanted = list(names)
    spared = Muting.objects.filter(rule__in=wanted, status__in=SPARED).order_by()
    since = dict(spared.values_list("rule").annotate(at=Max("settled_at")))
    moments = sorted(set(since.values()))
    era: Combinable = Value(0)  # how many of the moments a verdict comes after
    for moment in moments:
        era = era + Case(When(decided_at__gt=moment, then=Value(1)), default=Value(0))
    by_any = (
        Q(conflict__rule__in=wanted)
        | Q(conflict__further_rules__overlap=wanted)
        | Q(conflict__detected_by__overlap=wanted)
    )
    current = Decision.objects.filter(by_any, undone_at=None, conflict__is_lapsed=False)
    rows = (
        current.order_by()
        .annotate(era=era)
        .values_list(
            "era", "verdict", "conflict__rule", "conflict__further_rules", "conflict__detected_by"
        )
        .annotate(n=Count("pk"))
    )
    confirmed: Counter[str] = Counter()
    decided: Counter[str] = Counter()
    for era_of, verdict, rule, further, tiers, n in rows:
        for name in {rule, *further, *tiers}.intersection(wanted):
            if name in since and era_of <= moments.index(since[name]):
                continue
            decided[name] += n
            confirmed[name] += n * (verdict != Verdict.DISMISS)
    return {name: (confirmed[name], decided[name]) for name in wanted}
