"""Every order of commit, merge, split, supersede, forget, restore and expiry, against a model.

The model knows statements only: who said what where, and what became of it. It takes the gate's
word for whether two wordings are one, and checks that nothing is lost, that hidden stays hidden,
and that no other value was ever merged away.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from itertools import count
from uuid import UUID

import pytest
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    initialize,
    invariant,
    multiple,
    precondition,
    rule,
)

from engram.kernel.actors import SYSTEM
from engram.kernel.models import Workspace
from engram.kernel.refusals import InvalidError, StaleError
from engram.kernel.tenancy import in_workspace
from memories.core.content import content_hash
from memories.models import Memory, MemoryVector, Merge, Observation, Posting
from memories.services.commit.commit import Committed, commit
from memories.services.commit.draft import Draft
from memories.services.gate.split import split
from memories.services.lifecycle import forget
from tests.conftest import NOW
from tests.properties import run_machine

SERVICES = ["Billing", "Search", "Gateway", "Mailer"]
VALUES = [3, 7]
WORDINGS = [
    "{name} retries a failed request {value} times.",
    "{name}  retries a failed REQUEST {value} times.",  # the first, but for case and space
    "{name} retries failed requests {value} times",
    "A failed request of {name} is retried {value} times.",
]
PLACES = ["", "infra"]
_serial: Iterator[int] = count()


@dataclass(frozen=True)
class Said:
    """One statement."""

    name: str
    value: int
    wording: int

    @property
    def text(self) -> str:
        return WORDINGS[self.wording].format(name=self.name, value=self.value)

    @property
    def digest(self) -> str:
        return content_hash(self.text)


@dataclass
class Known:
    """What the model knows of one memory."""

    place: str
    said: list[Said]
    expires_at: datetime | None = None
    is_forgotten: bool = False
    is_retired: bool = False  # by a verdict: tests/conflicts/test_verdict_machine.py
    is_superseded: bool = False
    worded: set[str] = field(default_factory=set)  # what its own wording ever was

    @property
    def digests(self) -> set[str]:
        return self.worded | {said.digest for said in self.said}

    @property
    def is_hidden(self) -> bool:
        return self.is_forgotten or self.is_retired or self.is_superseded

    def state(self, now: datetime) -> str:
        if self.is_forgotten:
            return "forgotten"
        if self.is_retired:
            return "retired"
        if self.is_superseded:
            return "superseded"
        if self.expires_at is not None and self.expires_at <= now:
            return "expired"
        return "active"


class Lifecycle(RuleBasedStateMachine):
    """A workspace and its model, side by side."""

    memories = Bundle("memories")

    @initialize()
    def open_workspace(self) -> None:
        self.workspace = Workspace.objects.create(slug=f"machine-{next(_serial)}", name="Machine")
        self.now = NOW
        self.known: dict[UUID, Known] = {}
        self.accepted = 0

    def tick(self, **delta: float) -> None:
        self.now += timedelta(seconds=1, **delta)

    def live_twin(self, said: Said, place: str) -> UUID | None:
        """Return the live memory whose wording is this now."""
        with in_workspace(self.workspace):
            rows = Memory.objects.filter(content_hash=said.digest, scope=place)
            found = [m.id for m in rows if self.known[m.id].state(self.now) == "active"]
        assert len(found) <= 1
        return found[0] if found else None

    def is_suppressed(self, said: Said) -> bool:
        return any(k.is_forgotten and said.digest in k.digests for k in self.known.values())

    def learn(
        self, said: Said, draft: Draft, result: Committed, *, is_elsewhere: bool = False
    ) -> UUID:
        """Check an accepted commit against the model, and let the model know of it."""
        assert result.memory is not None
        self.accepted += 1
        memory_id = result.memory.id
        if result.outcome in {"created", "kept_apart", "suggested"} and memory_id not in self.known:
            self.known[memory_id] = Known(
                draft.scope, [said], expires_at=draft.expires_at, worded={said.digest}
            )
            return memory_id
        stored = self.known[memory_id]
        assert is_elsewhere or stored.place == draft.scope
        for other in stored.said:
            assert (other.name, other.value) == (said.name, said.value), "another value was merged"
        stored.said.append(said)
        stored.worded.add(result.memory.content_hash)
        stored.expires_at = result.memory.expires_at
        return memory_id

    @rule(
        target=memories,
        name=st.sampled_from(SERVICES),
        value=st.sampled_from(VALUES),
        wording=st.integers(0, len(WORDINGS) - 1),
        place=st.sampled_from(PLACES),
        days=st.one_of(st.none(), st.integers(1, 5)),
        revive=st.booleans(),
    )
    def commit_any(
        self, name: str, value: int, wording: int, place: str, days: int | None, *, revive: bool
    ) -> object:
        return self.commit(name, value, wording, place, days, revive=revive)

    def commit(
        self, name: str, value: int, wording: int, place: str, days: int | None, *, revive: bool
    ) -> object:
        """Commit a statement and check what became of it."""
        self.tick()
        said = Said(name, value, wording)
        expires_at = None if days is None else self.now + timedelta(days=days)
        draft = Draft(content=said.text, scope=place, expires_at=expires_at, is_revival=revive)
        twin, is_suppressed = self.live_twin(said, place), self.is_suppressed(said)
        try:
            result = commit(self.workspace, draft, actor=SYSTEM, now=self.now)
        except StaleError:
            assert revive, "only a revival may meet another live row"
            assert is_suppressed
            return multiple()
        if twin is not None:
            assert (result.outcome, result.memory and result.memory.id) == ("duplicate", twin)
        elif is_suppressed and not revive:
            assert (result.outcome, result.memory) == ("suppressed", None)
            return multiple()
        else:
            assert result.outcome in {"created", "merged", "kept_apart", "suggested"}
        came_back = self.accept_revival(result)
        return self.learn(said, draft, result, is_elsewhere=came_back)

    @rule(target=memories, memory_id=memories)
    def restate(self, memory_id: UUID) -> object:
        """Say it again in nearly the same words: what the gate merges."""
        first = self.known[memory_id].said[0]
        wording = 0 if first.wording == 2 else 2
        return self.commit(
            first.name, first.value, wording, self.known[memory_id].place, None, revive=False
        )

    def accept_revival(self, result: Committed) -> bool:
        """Take note of what a revival brought back, in its own place; a replaced one stays so."""
        with in_workspace(self.workspace):
            back = set(Memory.objects.filter(forgotten_at=None).values_list("pk", flat=True)) & {
                i for i, k in self.known.items() if k.is_forgotten
            }
        assert len(back) <= 1
        for memory_id in back:
            self.known[memory_id].is_forgotten = False
            if self.known[memory_id].state(self.now) == "active":
                assert result.memory is not None
                assert result.memory.id == memory_id
                return True
        return False

    @rule(target=memories, old=memories, value=st.sampled_from(VALUES))
    def supersede(self, old: UUID, value: int) -> object:
        self.tick()
        known = self.known[old]
        said = Said(known.said[0].name, value, 3)
        draft = Draft(content=said.text, scope=known.place, supersedes=old)
        twin = self.live_twin(said, known.place)
        if twin is None and self.is_suppressed(said):
            return multiple()
        if known.is_forgotten or (known.is_superseded and twin != old):
            with pytest.raises((InvalidError, StaleError)):
                commit(self.workspace, draft, actor=SYSTEM, now=self.now)
            return multiple()
        result = commit(self.workspace, draft, actor=SYSTEM, now=self.now)
        assert result.memory is not None
        if twin != old:
            known.is_superseded = True
            with in_workspace(self.workspace):
                row = Memory.objects.get(pk=old)
                assert row.superseded_by_id == result.memory.id
        if twin is not None:
            assert result.outcome == "duplicate"
        return self.learn(said, draft, result)

    @rule(memory_id=memories)
    def forget(self, memory_id: UUID) -> None:
        self.tick()
        done = forget.forget(self.workspace, [memory_id], actor=SYSTEM, now=self.now)
        known = self.known[memory_id]
        assert [m.id for m in done.memories] == ([] if known.is_forgotten else [memory_id])
        known.is_forgotten = True

    @rule(memory_id=memories)
    def restore(self, memory_id: UUID) -> None:
        self.tick()
        known = self.known[memory_id]
        with suppress(StaleError):
            forget.restore(self.workspace, [memory_id], actor=SYSTEM, now=self.now)
            known.is_forgotten = False
            return
        with in_workspace(self.workspace):
            own = Memory.objects.get(pk=memory_id)
            others = Memory.objects.filter(content_hash=own.content_hash, scope=own.scope)
            taken = [m for m in others.exclude(pk=memory_id) if m.superseded_at is None]
        assert known.is_forgotten
        assert taken, "a restore was refused although nothing else says the same there"

    @rule(target=memories, memory_id=memories)
    def split(self, memory_id: UUID) -> object:
        """Take one merged statement out again."""
        self.tick()
        known = self.known[memory_id]
        with in_workspace(self.workspace):
            sent = list(Observation.objects.filter(memory=memory_id).order_by("created_at", "pk"))
            merges = Merge.objects.filter(memory=memory_id, split_at=None)
            in_merges = set(merges.values_list("observation_id", flat=True))
        # What was split off already is an observation of its own memory, and no merge of it.
        merged = [observation for observation in sent if observation.pk in in_merges]
        chosen = (merged or sent)[0]
        said = next(one for one in known.said if one.text == chosen.content)
        may = known.state(self.now) in {"active", "expired"} and not self.is_suppressed(said)
        if not merged or not may or self.live_twin(said, known.place) not in {None, memory_id}:
            with pytest.raises((InvalidError, StaleError)):
                split(self.workspace, memory_id, chosen.id, actor=SYSTEM, now=self.now)
            return multiple()
        try:
            done = split(self.workspace, memory_id, chosen.id, actor=SYSTEM, now=self.now)
        except StaleError:  # the wording that the survivor goes back to is live elsewhere by now
            first = known.said[0]
            assert self.live_twin(first, known.place) not in {None, memory_id}
            return multiple()
        known.said.remove(said)
        known.worded.add(done.survivor.content_hash)
        known.expires_at = done.survivor.expires_at
        self.known[done.memory.id] = Known(
            known.place, [said], expires_at=done.memory.expires_at, worded={said.digest}
        )
        return done.memory.id

    @rule(days=st.integers(1, 3))
    def wait(self, days: int) -> None:
        self.tick(days=days)

    @precondition(lambda self: self.known)
    @rule(memory_id=consumes(memories))
    def leave_alone(self, memory_id: UUID) -> None:
        """Let the machine turn to other memories."""

    @invariant()
    def states_agree(self) -> None:
        if not hasattr(self, "known"):
            return
        with in_workspace(self.workspace):
            stored = {m.id: m.state(self.now) for m in Memory.objects.all()}
            live = set(Memory.objects.recallable(self.now).values_list("pk", flat=True))
        assert stored == {i: k.state(self.now) for i, k in self.known.items()}
        assert live == {i for i, k in self.known.items() if k.state(self.now) == "active"}

    @invariant()
    def nothing_said_is_lost(self) -> None:
        if not hasattr(self, "known"):
            return
        with in_workspace(self.workspace):
            kept = sorted(Observation.objects.values_list("memory_id", "content"))
            assert Observation.objects.count() == self.accepted
        said = sorted((i, s.text) for i, k in self.known.items() for s in k.said)
        assert kept == said

    @invariant()
    def indexes_follow(self) -> None:
        """Vectors say whether their memory is live; the words are those of its wording."""
        if not hasattr(self, "known"):
            return
        with in_workspace(self.workspace):
            flags = dict(MemoryVector.objects.values_list("memory_id", "is_live"))
            worded = set(Posting.objects.values_list("memory_id", flat=True).distinct())
        assert flags == {i: not k.is_hidden for i, k in self.known.items()}
        assert worded == set(self.known)


@pytest.mark.searches
@pytest.mark.usefixtures("db")
def test_every_order_of_verbs_agrees_with_the_model() -> None:
    run_machine(Lifecycle)
