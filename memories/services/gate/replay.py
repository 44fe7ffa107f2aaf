"""Replay past commits through the gate under other settings, without writing.

Each commit is compared with the memories that were live in its place at its time, in their present
wording. Both the present and the proposed settings are replayed, so that the difference is due to
the settings alone. A merged statement has no vector of its own: it is compared with the neighbour
that the gate recorded. Forgotten memories are left out.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

import numpy as np

from engram.kernel.actors import Actor
from engram.kernel.configuration import WorkspaceSettings
from engram.kernel.keys import actor_of
from engram.kernel.models import ApiKey, Role, Workspace
from memories.core.comparing import Comparer
from memories.core.gate import GateOutcome
from memories.models import (
    Memory,
    MemoryVector,
    Merge,
    MergeSuggestion,
    Observation,
    SuggestionStatus,
)
from memories.services.gate import examine, judging
from memories.services.gate.report import JudgedNeighbour, NewStatement
from memories.services.gate.suggestions import wordings_of
from memories.services.index.tokens import word_states_of

COMMITS_READ = 1000  # the newest
CHARS_COMPARED = 1_000_000  # both texts of each pair count; takes some seconds
MEMORIES_READ = 5000  # to compare with, the newest
EXAMPLES = 50
GATED: tuple[GateOutcome, ...] = ("created", "merged", "suggested", "kept_apart")

ScopeKey = tuple[str, str]
Found = list[tuple[Memory, float]]


@dataclass(frozen=True, slots=True)
class ChangedOutcome:
    """A commit whose outcome would change."""

    observation: UUID
    memory: UUID
    nearest: UUID | None
    similarity: float | None
    before: GateOutcome
    after: GateOutcome
    said: str | None = None  # the later answer of a person: "apart" or "same"


@dataclass(frozen=True, slots=True)
class OutcomeChange:
    """The number of commits that would change from one outcome to another."""

    before: str
    after: str
    commits: int


@dataclass(frozen=True, slots=True)
class NotReplayed:
    """How many commits are not replayed, by why."""

    forgotten: int = 0  # the memory was forgotten since
    replacing: int = 0  # named the memory that they replace
    not_compared: int = 0  # known statements, and what came in without the gate
    beyond: int = 0  # of more than a replay reads


@dataclass(slots=True)
class GateReplay:
    """The result of a replay: outcome counts under both settings, and examples."""

    commits: int = 0
    replayed: int = 0
    left_out: NotReplayed = field(default_factory=NotReplayed)
    is_cut: bool = False
    as_set: Counter[str] = field(default_factory=Counter)
    as_asked: Counter[str] = field(default_factory=Counter)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)
    examples: Sequence[ChangedOutcome] = ()
    merged_against_people: int = 0  # newly merged, although a person keeps the two apart
    unmerged_against_people: int = 0  # no longer merged, although a person merged them

    @property
    def most_moves(self) -> list[OutcomeChange]:
        """Return the outcome changes, most frequent first."""
        return [OutcomeChange(before, after, n) for (before, after), n in self.moves.most_common()]


@dataclass(slots=True)
class PastCommits:
    """The commits of a period, newest first, each with its neighbours."""

    commits: int
    forgotten: int
    replacing: int
    gated: int  # what the replay reads a part of
    replayed: list[tuple[Observation, Found]]
    keys: dict[UUID, ApiKey]
    is_cut: bool
    comparer: Comparer = field(default_factory=lambda: Comparer(CHARS_COMPARED))

    @property
    def left_out(self) -> NotReplayed:
        """Return how many commits are not replayed, by why."""
        others = self.commits - self.forgotten - self.replacing - self.gated
        beyond = self.gated - len(self.replayed)
        return NotReplayed(self.forgotten, self.replacing, others, beyond)


def read_commits(
    workspace: Workspace, *configs: WorkspaceSettings, since: datetime, until: datetime
) -> PastCommits:
    """Read the commits and memories of a replay, within the caller's transaction.

    Commits beyond CHARS_COMPARED under the loosest settings are left out, the oldest first.
    """
    commits = Observation.objects.filter(created_at__gte=since, created_at__lt=until)
    # Successors, revivals and duplicates do not pass the gate.
    gated = commits.filter(
        outcome__in=GATED, fields__supersedes=None, memory__forgotten_at=None
    ).exclude(gate={})
    rows = list(gated.select_related("memory").order_by("-created_at")[: COMMITS_READ + 1])
    is_cut = len(rows) > COMMITS_READ
    rows = rows[:COMMITS_READ]
    store = _Store(workspace.embedding_model, rows, until)
    counted = commits.exclude(outcome="absorbed")
    live = counted.filter(memory__forgotten_at=None)
    past = PastCommits(
        commits=counted.count(),
        forgotten=counted.exclude(memory__forgotten_at=None).count(),
        replacing=live.exclude(fields__supersedes=None).count(),
        gated=gated.count(),
        replayed=[(row, store.neighbours(row)) for row in rows],
        keys=ApiKey.objects.in_bulk(),
        is_cut=is_cut or store.is_cut,
    )
    _keep_to_budget(past, _loosest(configs))
    # A set would keep one of a memory and the copy with its past wording, which has no states.
    near = [
        memory
        for row, found in past.replayed
        for other, _ in judging.estimated(found, configs)
        for memory in (row.memory, other)
    ]
    past.comparer.states = word_states_of(near, workspace.embedding_model)
    return past


def _keep_to_budget(past: PastCommits, loosest: WorkspaceSettings) -> None:
    """Leave out the oldest commits that the comparer has no room for."""
    for position, (row, found) in enumerate(past.replayed):
        if not past.comparer.has_room(judging.near_texts(found, loosest), row.content):
            del past.replayed[position:]
            past.is_cut = True
            return


def _loosest(configs: Iterable[WorkspaceSettings]) -> WorkspaceSettings:
    return min(configs, key=lambda config: config.gate_threshold)


def compare_commits(past: PastCommits, *configs: WorkspaceSettings) -> None:
    """Compare and estimate the commits once, with no transaction open."""
    loosest = _loosest(configs)
    for row, found in past.replayed:
        for text in judging.near_texts(found, loosest):
            past.comparer.compare(text, row.content)
        for memory, cosine in judging.estimated(found, configs):
            past.comparer.estimate(memory.content, row.content, cosine)


def replay_gate(
    past: PastCommits, config: WorkspaceSettings, changed_config: WorkspaceSettings
) -> GateReplay:
    """Replay the gate over compared commits, within the caller's transaction."""
    done = GateReplay(commits=past.commits, left_out=past.left_out, is_cut=past.is_cut)
    is_same = (config.gate_policy, config.gate_threshold) == (
        changed_config.gate_policy, changed_config.gate_threshold,
    )  # fmt: skip
    moved = []
    for row, found in past.replayed:
        statement = NewStatement(row.content, row.content_hash, *_scope_key(row), row.provenance)
        actor = _actor(row, past.keys)
        before = examine.preview_decision(statement, found, config, past.comparer, actor=actor)
        after = (
            before
            if is_same
            else examine.preview_decision(
                statement, found, changed_config, past.comparer, actor=actor
            )
        )
        outcomes = (_outcome(before), _outcome(after))
        done.replayed += 1
        done.as_set[outcomes[0]] += 1
        done.as_asked[outcomes[1]] += 1
        if outcomes[0] != outcomes[1]:
            done.moves[outcomes] += 1
            decisive = before if outcomes[0] != "created" else after
            moved.append((row, decisive, outcomes))
    _count_and_sample(done, moved)
    return done


def _outcome(judged: JudgedNeighbour | None) -> GateOutcome:
    return judged.decision.outcome if judged else "created"


def _scope_key(row: Observation) -> ScopeKey:
    return row.fields.get("scope", row.memory.scope), row.fields.get("project", row.memory.project)


def _actor(row: Observation, known: dict[UUID, ApiKey]) -> Actor:
    """Return the committing actor: the key with its present claims, else a user."""
    if row.key_id is None:
        return Actor(kind="system", id="", label="", role=Role.REVIEWER)
    if (key := known.get(row.key_id)) is not None:
        return actor_of(key)
    return Actor(kind="key", id=str(row.key_id), label="", role=Role.AGENT)


def _count_and_sample(
    done: GateReplay,
    moved: Sequence[tuple[Observation, JudgedNeighbour | None, tuple[GateOutcome, GateOutcome]]],
) -> None:
    """Collect examples, and count changes that contradict a person's answer."""
    answers = _read_answers([(row, one.memory) for row, one, _ in moved if one])
    changed = [
        ChangedOutcome(
            observation=row.pk,
            memory=row.memory_id,
            nearest=one.memory.pk if one else None,
            similarity=one.similarity if one else None,
            before=outcomes[0],
            after=outcomes[1],
            said=answers.get((row.pk, one.memory.pk)) if one else None,
        )
        for row, one, outcomes in moved
    ]
    done.merged_against_people = sum(m.after == "merged" and m.said == "apart" for m in changed)
    done.unmerged_against_people = sum(m.before == "merged" and m.said == "same" for m in changed)
    done.examples = sorted(changed, key=lambda m: not m.said)[:EXAMPLES]


def _read_answers(pairs: Sequence[tuple[Observation, Memory]]) -> dict[tuple[UUID, UUID], str]:
    """Return the answers of people ("apart", "same") by pair of ids."""
    wordings = {
        wordings_of(row.content_hash, memory.content_hash): (row.pk, memory.pk)
        for row, memory in pairs
    }
    answered = MergeSuggestion.objects.filter(
        wordings__in=list(wordings),
        status__in=[SuggestionStatus.REJECTED, SuggestionStatus.ACCEPTED],
    ).order_by("decided_at")
    found = {
        wordings[row.wordings]: "apart" if row.status == SuggestionStatus.REJECTED else "same"
        for row in answered
    }
    merges = Merge.objects.filter(observation__in=[row.pk for row, _ in pairs])
    for merge in merges:
        if merge.split_at is not None or merge.is_correct is False:
            verdict = "apart"
        elif merge.is_correct:
            verdict = "same"
        else:
            continue
        for row, memory in pairs:
            if row.pk == merge.observation_id:
                found[row.pk, memory.pk] = verdict
    return found


class _Store:
    """The memories that commits are compared with, with their vectors, by place."""

    def __init__(self, model: str, rows: Sequence[Observation], until: datetime):
        places = {_scope_key(row) for row in rows}
        known = Memory.objects.filter(
            forgotten_at=None,
            created_at__lt=until,
            scope__in={scope for scope, _ in places},
            project__in={project for _, project in places},
        ).order_by("-created_at", "-pk")
        read = list(known[: MEMORIES_READ + 1])
        self.is_cut = len(read) > MEMORIES_READ
        noted = {UUID(i) for row in rows if (i := row.gate.get("nearest_id"))}
        self._memories = {memory.pk: memory for memory in read[:MEMORIES_READ]}
        missing = noted - self._memories.keys()
        self._noted = self._memories | Memory.objects.filter(forgotten_at=None).in_bulk(missing)
        self._wordings = dict(
            Merge.objects.filter(observation__in=[row.pk for row in rows]).values_list(
                "observation_id", "before__content"
            )
        )
        self._vectors: dict[UUID, np.ndarray] = {}
        self._windows: dict[ScopeKey, tuple[list[Memory], np.ndarray]] = {}
        self._load(model)

    def _load(self, model: str) -> None:
        stored = MemoryVector.objects.filter(memory__in=list(self._memories), model=model)
        windows: dict[ScopeKey, list[tuple[Memory, np.ndarray]]] = defaultdict(list)
        for pk, position, embedding in stored.order_by("memory_id", "position").values_list(
            "memory_id", "position", "embedding"
        ):
            vector = np.asarray(embedding, dtype=np.float32)
            memory = self._memories[pk]
            windows[memory.scope, memory.project].append((memory, vector))
            if position == 0:
                self._vectors[pk] = vector
        for place, found in windows.items():
            self._windows[place] = [m for m, _ in found], np.stack([v for _, v in found])

    def neighbours(self, row: Observation) -> Found:
        """Return the nearest memories that were live at the time of a commit, nearest first."""
        vector = self._vectors.get(row.memory_id)
        is_own = row.outcome != "merged" and row.memory.content_hash == row.content_hash
        if vector is None or not is_own:
            return list(self._recorded_neighbour(row))
        memories, windows = self._windows.get(_scope_key(row), ([], np.empty((0, len(vector)))))
        cosines = windows @ vector
        found: dict[UUID, tuple[Memory, float]] = {}
        for index in np.argsort(-cosines, kind="stable"):
            memory = memories[index]
            if memory.pk != row.memory_id and memory.pk not in found and _was_live(memory, row):
                found[memory.pk] = memory, float(cosines[index])
                if len(found) == examine.NEIGHBOURS:
                    break
        return list(found.values())

    def _recorded_neighbour(self, row: Observation) -> Iterator[tuple[Memory, float]]:
        """Yield the neighbour that the gate recorded, in its wording at that time."""
        nearest, cosine = row.gate.get("nearest_id"), row.gate.get("similarity")
        memory = self._noted.get(UUID(nearest)) if nearest else None
        if memory is None or cosine is None:
            return
        wording = self._wordings.get(row.pk)
        yield (memory if wording is None else _with_wording(memory, wording)), cosine


def _with_wording(memory: Memory, wording: str) -> Memory:
    """Return a copy of a memory (never to be saved) with another wording."""
    fields: Iterable[str] = (f.attname for f in Memory._meta.concrete_fields)
    return Memory(**{name: getattr(memory, name) for name in fields} | {"content": wording})


def _was_live(memory: Memory, row: Observation) -> bool:
    """Return whether a memory was live at the time of a commit."""
    ends = (memory.superseded_at, memory.retired_at, memory.culled_at, memory.expires_at)
    return memory.created_at < row.created_at and all(
        end is None or end > row.created_at for end in ends
    )
