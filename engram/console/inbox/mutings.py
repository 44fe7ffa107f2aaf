"""Proposals in the inbox to mute a rule that people keep dismissing."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db.models import F, IntegerField, Q, QuerySet, Value
from django.http import HttpRequest

from conflicts.core.muting import MIN_DECIDED, MUTEABLE, TIERS, meaning_of
from conflicts.core.titles import title_of
from conflicts.models import Muting, MutingStatus
from conflicts.services.muting import answer
from engram.console.inbox.source import SEVERITIES, Action, Done, InboxFilter, Source
from engram.kernel.actors import Actor
from engram.kernel.models import Workspace
from memories.core.metrics import wilson

URGENCY = SEVERITIES.index("low")  # it costs people time, and nothing else
MUTES = "What it finds from now on opens no cards. Open cards stay. It can be unmuted at any time."
GOES_ON = (
    f"Nothing changes. It is proposed again after {MIN_DECIDED} further verdicts at the earliest."
)


WHOSE = {"rules": "rules find", "narrative": "language model finds"}
assert WHOSE.keys() == TIERS.keys()  # noqa: S101


class MutingSource(Source):
    """Rules and tiers of the detective that are wrong more often than right."""

    name = "mutings"
    noun = "rule to mute|rules to mute"
    icon = "pause"
    template = "console/inbox/muting.html"
    teaches = (
        "When people dismiss most of what a rule of the detective finds, you are asked whether it"
        " is to go on in this workspace. It is never muted by itself."
    )
    announced_by = ("muting.proposed", "muting.reopened")
    settled_by = ("muting.accepted", "muting.rejected", "muting.withdrawn")

    def rows(self) -> QuerySet[Any]:
        """Return all proposals."""
        return self._annotate(Muting.objects.all())

    def waiting(self, wanted: InboxFilter, now: datetime) -> QuerySet[Any]:
        """Return the pending ones that match the filter; a proposal has no scope."""
        found = Muting.objects.filter(status=MutingStatus.PENDING)
        is_other = wanted.severity not in {"", SEVERITIES[URGENCY]}
        if wanted.assignee_id is not None or wanted.scope or is_other:
            found = found.none()
        if wanted.text:
            is_named = Q(rule__in=_named(wanted.text)) | Q(rule__icontains=wanted.text)
            found = found.filter(is_named)  # also a rule that this release does not have
        return self._annotate(found)

    def _annotate(self, found: QuerySet[Any]) -> QuerySet[Any]:
        urgency = Value(URGENCY, output_field=IntegerField())
        marked: QuerySet[Any] = found.annotate(urgency=urgency, since=F("created_at"))
        return marked

    def titles(self, rows: Sequence[Any]) -> Mapping[UUID, tuple[str, str]]:
        """Return the question of each proposal."""
        return {row.pk: ("muting", f"Mute {_name(row.rule)}?") for row in rows}

    def context(self, request: HttpRequest, row: Any, now: datetime) -> dict[str, Any]:
        """Return the rule with its verdicts."""
        return {
            "proposal": row,
            "name": _name(row.rule),
            "meaning": meaning_of(row.rule),
            "is_tier": row.rule in TIERS,
            "confirmed": wilson(row.confirmed, row.decided),
            "dismissed": row.decided - row.confirmed,
            "settled": "" if row.status == MutingStatus.PENDING else _settled(row),
        }

    def actions(self, row: Any, now: datetime) -> Sequence[Action]:
        """Return yes and no, while the proposal waits."""
        if row.status != MutingStatus.PENDING:
            return ()
        return (
            Action(1, "accept", "Mute it", MUTES, "drop"),
            Action(2, "reject", "Let it go on", GOES_ON, "keep"),
        )

    def verbs(self) -> Mapping[str, Callable[..., Any]]:
        """Mute the rule, or let it go on."""
        return {"accept": answer.accept, "reject": answer.reject}

    def find_decision(self, item_id: UUID, now: datetime) -> Done | None:
        """Return how a proposal was answered."""
        row = Muting.objects.filter(pk=item_id).first()
        if row is None or row.status not in {MutingStatus.MUTED, MutingStatus.REJECTED}:
            return None
        return Done(_settled(row), "The proposal waits again.", row.settled_by, row.settled_at)

    def undo(self, workspace: Workspace, item_id: UUID, *, actor: Actor, now: datetime) -> None:
        """Let the proposal wait again; a muted rule finds again."""
        answer.take_back(workspace, item_id, actor=actor, now=now)


def _named(text: str) -> list[str]:
    """Return the rules and tiers whose title has a text."""
    sought = text.lower()
    return [one for one in MUTEABLE if sought in title_of(one).lower()]


def _name(rule: str) -> str:
    return f"all that the {WHOSE[rule]}" if rule in TIERS else f"the rule “{title_of(rule)}”"


def _settled(row: Muting) -> str:
    words = {
        MutingStatus.MUTED: "Muted.",
        MutingStatus.REJECTED: "It goes on.",
        MutingStatus.UNMUTED: "It was muted, and goes on again.",
    }
    return words[MutingStatus(row.status)]
