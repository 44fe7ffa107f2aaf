"""Every order of verdicts, undo and snoozes among the verbs on memories, against the same model.

The model of memories is that of `tests/memories/test_lifecycle_machine.py`; here it learns of
cards. It takes identity's word for which card a finding joins, and works out for itself what each
verdict does, when undo is refused, and that undo puts everything back exactly.
"""

from __future__ import annotations

import random
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from conflicts.core.comparisons import Comparisons
from conflicts.core.facts import Finding
from conflicts.core.subjects import note_of, select_answering
from conflicts.models import Conflict, ConflictMember, ConflictPair, Decision
from conflicts.models.card import ConflictStatus
from conflicts.services.cards.file import file_findings
from conflicts.services.cards.lapse import WAITING
from conflicts.services.cards.snooze import snooze, wake_due
from conflicts.services.verdicts.resolve import resolve
from conflicts.services.verdicts.undo import undo
from engram.kernel.actors import SYSTEM
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.models import Memory, MemoryVector, Observation
from memories.services.lifecycle.states import LIFECYCLE_FIELDS
from tests.memories.test_lifecycle_machine import SERVICES, Known, Lifecycle, Said
from tests.properties import run_machine

VERDICTS = ["yes", "no", "keep", "both_valid", "none_valid", "dismiss"]
# An answer of a person's own is about nothing else that is said here.
ANSWER = "The value of {name} is not known to anybody, says person {value}."


@dataclass(frozen=True)
class Answer(Said):
    """What a person says when none of the members is valid."""

    @property
    def text(self) -> str:
        return ANSWER.format(name=self.name, value=self.value)


@dataclass
class Decided:
    """What the model remembers of a standing verdict."""

    live: list[UUID]
    kept: list[UUID]
    left: dict[UUID, tuple[Any, ...]] = field(default_factory=dict)  # what it made of the members
    before: dict[UUID, Known] = field(default_factory=dict)
    answer: UUID | None = None


class Verdicts(Lifecycle):
    """A workspace whose memories are asked about."""

    @initialize(target=Lifecycle.memories)
    def open_workspace(self) -> object:  # type: ignore[override]
        super().open_workspace()
        self.decided: dict[UUID, Decided] = {}
        self.answers = 0
        self.cards: list[UUID] = []
        made = [self.commit(name, 3, 3, "", None, revive=False) for name in SERVICES]
        made.append(self.commit(SERVICES[0], 7, 3, "", 3, revive=False))
        first = list(self.known)
        self.file(first[:2])
        self.file(first[2:])
        return multiple(*made)

    def rows(self) -> dict[UUID, Memory]:
        with in_workspace(self.workspace):
            return Memory.objects.in_bulk()

    def card(self, card_id: UUID) -> Conflict:
        with in_workspace(self.workspace):
            return Conflict.objects.get(pk=card_id)

    def members(self, card_id: UUID) -> list[ConflictMember]:
        with in_workspace(self.workspace):
            return list(ConflictMember.objects.filter(conflict=card_id))

    def now_stands(self, row: Memory) -> tuple[Any, ...]:
        return (row.content_hash, *(getattr(row, name) for name in LIFECYCLE_FIELDS))

    @rule(chosen=st.data(), is_any=st.sampled_from([False, False, True]))
    def find(self, chosen: st.DataObject, *, is_any: bool) -> None:
        """Let a finding be filed, as the detective or a reporter would."""
        self.tick()
        eligible = [i for i, k in self.known.items() if is_any or k.state(self.now) == "active"]
        if len(eligible) < 2:
            return
        several = st.lists(st.sampled_from(eligible), min_size=2, max_size=4, unique=True)
        self.file(chosen.draw(several))

    def file(self, some: list[UUID]) -> None:
        with in_workspace(self.workspace):
            ordered = Memory.objects.filter(pk__in=some).order_by("observed_at", "created_at", "pk")
            ids = tuple(str(memory.id) for memory in ordered)
            finding = Finding(
                "ambiguity",
                ids,
                ids[-1:],
                "Is it so?",
                "r",
                "low",
                0.5,
                None,
                ("ambiguity.choice",),
            )
            filed = file_findings(
                [finding], Comparisons(), detected_by="agent", now=self.now, is_reported=True
            )
        if any(self.known[i].state(self.now) != "active" for i in some):
            assert filed.cards == [], "a card asks about what nobody recalls"
        for card_id in filed.cards:
            assert card_id not in self.decided
            assert {m.memory_id for m in self.members(card_id)} >= set(some)
        self.cards += [card_id for card_id in filed.cards if card_id not in self.cards]

    @rule(
        number=st.integers(0, 5),
        verdict=st.sampled_from(VERDICTS),
        picks=st.sets(st.integers(0, 3), max_size=2),
        is_answered=st.booleans(),
    )
    def decide(self, number: int, verdict: str, picks: set[int], *, is_answered: bool) -> None:
        card_id = self.cards[number % len(self.cards)]
        self.tick()
        members = self.members(card_id)
        live = self.select_answering(members)
        says_yes = {m.memory_id for m in members if m.says_yes} & set(live)
        named = [i for n, i in enumerate(live) if n in picks] if verdict in {"keep", "no"} else []
        answer = None
        if is_answered and verdict == "none_valid":
            self.answers += 1
            answer = Answer("Nothing", self.answers, 0)
        is_waiting = self.card(card_id).status in WAITING
        before = {i: deepcopy(self.known[i]) for i in live}
        try:
            done = resolve(
                self.workspace, card_id, verdict=verdict, keep=named, actor=SYSTEM, now=self.now,
                answer=answer.text if answer else "",
            )  # fmt: skip
        except StaleError:
            assert not is_waiting
            return
        except InvalidError:
            assert self.is_unclear(verdict, live, says_yes, set(named))
            return
        assert is_waiting
        kept, superseded, retired = self.consequences(verdict, live, says_yes, set(named))
        for memory_id in superseded:
            self.known[memory_id].is_superseded = True
        for memory_id in retired:
            self.known[memory_id].is_retired = True
            self.known[memory_id].is_superseded |= answer is not None
        self.check_successors(kept, superseded)
        if answer is not None:
            self.accept_answer(answer, done.answer_id, live, retired)
        rows = self.rows()
        self.decided[card_id] = Decided(
            live, kept, {i: self.now_stands(rows[i]) for i in live}, before, done.answer_id
        )
        assert sorted(done.kept) == sorted(map(str, kept))

    def select_answering(self, members: list[ConflictMember]) -> list[UUID]:
        """Return the live members that a verdict may change, by the word of `core.subjects`."""
        rows = self.rows()
        live = [
            rows[m.memory_id] for m in members
            if self.known[m.memory_id].state(self.now) == "active"
        ]  # fmt: skip
        says_yes = {m.memory_id for m in members if m.says_yes}
        return [
            m.id for m in select_answering(live, note_of, [m for m in live if m.id in says_yes])
        ]

    def is_unclear(
        self, verdict: str, live: list[UUID], says_yes: set[UUID], named: set[UUID]
    ) -> bool:
        """Tell whether a verdict leaves open what is true."""
        if verdict == "no":
            is_plain = named or len(set(live) - says_yes) <= 1
            return not says_yes or bool(named & says_yes) or not is_plain
        return (verdict == "keep" and not named) or (verdict == "yes" and not says_yes)

    def consequences(
        self, verdict: str, live: list[UUID], says_yes: set[UUID], named: set[UUID]
    ) -> tuple[list[UUID], list[UUID], list[UUID]]:
        """Return who is kept, superseded and retired."""
        retired: set[UUID] = set()
        kept = set(live)
        if verdict == "none_valid":
            kept, retired = set(), set(live)
        elif verdict == "no":
            retired = says_yes
            kept = named or set(live) - says_yes
        elif verdict in {"yes", "keep"}:
            kept = named if verdict == "keep" else says_yes
        return (
            [i for i in live if i in kept],
            [i for i in live if i not in kept | retired],
            [i for i in live if i in retired],
        )

    def check_successors(self, kept: list[UUID], superseded: list[UUID]) -> None:
        rows = self.rows()
        newest = max(
            (rows[i] for i in kept), key=lambda m: (m.observed_at, m.created_at, m.id), default=None
        )
        for memory_id in superseded:
            assert rows[memory_id].superseded_by_id == (newest.id if newest else None)

    def accept_answer(
        self, answer: Answer, answer_id: UUID | None, live: list[UUID], retired: list[UUID]
    ) -> None:
        """Let the model know of the answer, which stands where the newest member stood."""
        assert answer_id is not None
        rows = self.rows()
        place = rows[max(live, key=lambda i: rows[i].observed_at)].scope if live else ""
        assert (rows[answer_id].content, rows[answer_id].scope) == (answer.text, place)
        assert {rows[i].superseded_by_id for i in retired} <= {answer_id}
        self.accepted += 1
        self.known[answer_id] = Known(place, [answer], worded={content_hash(answer.text)})

    @precondition(lambda self: self.decided)
    @rule(number=st.integers(0, 5))
    def take_back(self, number: int) -> None:
        card_id = self.cards[number % len(self.cards)]
        self.tick()
        decided = self.decided.get(card_id)
        is_overtaken = decided is None or self.is_overtaken(decided)
        try:
            undo(self.workspace, card_id, actor=SYSTEM, now=self.now)
        except StaleError:
            assert is_overtaken
            return
        assert decided is not None
        assert not is_overtaken
        del self.decided[card_id]
        for memory_id, before in decided.before.items():
            known = self.known[memory_id]
            known.is_retired, known.is_superseded = before.is_retired, before.is_superseded
        if decided.answer is not None:
            self.known[decided.answer].is_retired = True
        assert self.card(card_id).status == ConflictStatus.OPEN

    def is_overtaken(self, decided: Decided) -> bool:
        """Tell whether a member has changed since, or what would come back was said again."""
        rows = self.rows()
        if any(self.now_stands(rows[i]) != left for i, left in decided.left.items()):
            return True
        standing = {
            (m.scope, m.content_hash)
            for m in rows.values()
            if self.known[m.id].state(self.now) == "active"
            or (not self.known[m.id].is_hidden and m.expires_at is None)
        }
        return any(
            (rows[i].scope, rows[i].content_hash) in standing
            for i in decided.live
            if self.known[i].is_hidden
        )

    @rule(number=st.integers(0, 5), verdict=st.sampled_from(VERDICTS), pick=st.integers(0, 3))
    def decide_and_take_back(self, number: int, verdict: str, pick: int) -> None:
        """Undo, at once, leaves no trace in any memory, vector or card."""
        card_id = self.cards[number % len(self.cards)]
        self.tick()
        if self.card(card_id).status not in WAITING:
            return
        live = [
            m.memory_id
            for m in self.members(card_id)
            if self.known[m.memory_id].state(self.now) == "active"
        ]
        before = self.picture(card_id)
        keep = live[pick : pick + 1] if verdict in {"keep", "no"} else []
        with suppress(InvalidError):
            resolve(self.workspace, card_id, verdict=verdict, keep=keep, actor=SYSTEM, now=self.now)
            undo(self.workspace, card_id, actor=SYSTEM, now=self.now)
        assert self.picture(card_id) == before

    def picture(self, card_id: UUID) -> dict[str, Any]:
        """Return all that a verdict might touch, but for when it was touched."""
        with in_workspace(self.workspace):
            memories = [
                {name: value for name, value in row.items() if name != "updated_at"}
                for row in Memory.objects.order_by("pk").values()
            ]
            return {
                "memories": memories,
                "vectors": list(MemoryVector.objects.order_by("pk").values("pk", "is_live")),
                "observations": list(Observation.objects.order_by("pk").values()),
                "members": list(ConflictMember.objects.order_by("pk").values()),
                "pairs": list(ConflictPair.objects.order_by("pk").values()),
                "questions": list(
                    Conflict.objects.filter(pk=card_id).values("question", "kind", "severity")
                ),
            }

    @rule(number=st.integers(0, 5), days=st.integers(1, 3))
    def put_off(self, number: int, days: int) -> None:
        card_id = self.cards[number % len(self.cards)]
        self.tick()
        until = self.now + timedelta(days=days)
        is_waiting = self.card(card_id).status in WAITING
        try:
            snooze(self.workspace, card_id, until=until, actor=SYSTEM, now=self.now)
        except StaleError:
            assert not is_waiting
            return
        assert is_waiting
        card = self.card(card_id)
        assert (card.status, card.snoozed_until) == (ConflictStatus.SNOOZED, until)

    @rule()
    def sweep(self) -> None:
        """Wake what was put off until now, close what has expired."""
        self.tick()
        wake_due(self.workspace, now=self.now)
        with in_workspace(self.workspace):
            late = Conflict.objects.filter(
                status=ConflictStatus.SNOOZED, snoozed_until__lte=self.now
            )
            assert late.count() == 0
            waiting = list(Conflict.objects.filter(status__in=WAITING).values_list("pk", flat=True))
        for card_id in waiting:
            states = [self.known[m.memory_id].state(self.now) for m in self.members(card_id)]
            assert states.count("active") >= 2

    @invariant()
    def cards_agree(self) -> None:
        """Decided cards have one standing verdict, waiting ones a question, and no pair two."""
        if not hasattr(self, "decided"):
            return
        with in_workspace(self.workspace):
            cards = {card.pk: card for card in Conflict.objects.all()}
            standing = list(
                Decision.objects.filter(undone_at=None).values_list("conflict_id", flat=True)
            )
            rows = ConflictMember.objects.values_list("conflict_id", "memory_id", "position")
            members: dict[UUID, list[tuple[UUID, int]]] = {}
            for card_id, memory_id, position in rows:
                members.setdefault(card_id, []).append((memory_id, position))
            pairs = list(ConflictPair.objects.values_list("lineage_low", "lineage_high"))
        assert sorted(standing) == sorted(self.decided)
        assert len(pairs) == len(set(pairs))
        for card_id, card in cards.items():
            is_decided = card_id in self.decided
            is_closed = card.status not in WAITING
            assert is_closed == (is_decided or card.is_lapsed)
            positions = [position for _, position in members.get(card_id, [])]
            assert len(positions) == len(set(positions))
            if not is_closed:
                asked = [self.known[memory_id] for memory_id, _ in members[card_id]]
                assert sum(not known.is_hidden for known in asked) >= 2
                assert not any(known.is_forgotten for known in asked)


@pytest.mark.searches
@pytest.mark.usefixtures("db")
def test_every_order_of_verdicts_agrees_with_the_model() -> None:
    run_machine(Verdicts)


@pytest.mark.usefixtures("db")
@pytest.mark.parametrize("seed", range(3))
def test_a_long_life_of_cards_agrees_with_the_model(seed: int) -> None:
    """The machine draws all verbs alike; here nearly all are about cards."""
    chance = random.Random(seed)
    machine = Verdicts()
    machine.open_workspace()
    for _ in range(40):
        number, verdict = chance.randrange(6), chance.choice(VERDICTS)
        active = [i for i, k in machine.known.items() if k.state(machine.now) == "active"]
        step = chance.randrange(7)
        if step < 2:
            picks = {chance.randrange(3)}
            machine.decide(number, verdict, picks, is_answered=chance.random() < 0.5)
        elif step < 4:
            machine.take_back(number)
        elif step == 4:
            machine.decide_and_take_back(number, verdict, chance.randrange(3))
        elif step == 5 and len(active) > 2:
            machine.file(chance.sample(active, 2))
        else:
            known = list(machine.known)
            machine.forget(chance.choice(known))
            machine.restore(chance.choice(known))
        machine.states_agree()
        machine.cards_agree()
        machine.indexes_follow()
