"""Read what people decided about what rules and tiers found."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime

from django.db.models import Case, Count, Max, Q, Value, When
from django.db.models.expressions import Combinable

from conflicts.core.muting import Tally
from conflicts.models import Decision, Muting, MutingStatus
from conflicts.models.decision import Verdict

# People said that it is to go on: what was decided before counts no more.
SPARED = (MutingStatus.REJECTED, MutingStatus.UNMUTED)


def read_tallies(names: Collection[str]) -> list[Tally]:
    """Return the verdicts on cards that these rules and tiers opened or found later.

    As in `detection/quality.py`, every verdict except `dismiss` confirms; undone verdicts and
    lapsed cards do not count. As many queries for all names as for one.
    """
    spared = Muting.objects.filter(status__in=SPARED).order_by()
    since: dict[str, datetime] = dict(spared.values_list("rule").annotate(at=Max("settled_at")))
    moments = sorted(set(since.values()))
    wanted = list(names)
    by_any = (
        Q(conflict__rule__in=wanted)
        | Q(conflict__further_rules__overlap=wanted)
        | Q(conflict__detected_by__overlap=wanted)
    )
    current = Decision.objects.filter(by_any, undone_at=None, conflict__is_lapsed=False)
    columns = ("conflict__rule", "conflict__further_rules", "conflict__detected_by", "verdict")
    rows = current.order_by().annotate(era=_era(moments)).values_list("era", *columns)
    return [
        Tally(
            rules=frozenset({rule, *further}),
            tiers=frozenset(tiers),
            spared=frozenset(name for name, at in since.items() if era <= moments.index(at)),
            is_confirmed=verdict != Verdict.DISMISS,
            n=n,
        )
        for era, rule, further, tiers, verdict, n in rows.annotate(n=Count("pk"))
    ]


def _era(moments: Sequence[datetime]) -> Combinable:
    """Return how many of the moments a verdict comes after."""
    era: Combinable = Value(0)
    for moment in moments:
        era = era + Case(When(decided_at__gt=moment, then=Value(1)), default=Value(0))
    return era
