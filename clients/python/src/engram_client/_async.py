"""The asynchronous client.

Written by generate.py from the API's description: `make client` writes it anew.
"""

from __future__ import annotations

import typing as t
from collections.abc import Mapping, Sequence
from datetime import datetime

import httpx

from engram_client import types
from engram_client._attempts import Retry
from engram_client._calls import UNSET, Call, Unset, asked, given, new_key, segment
from engram_client._transport import TIMEOUT, AsyncTransport
from engram_client.pages import AsyncPages


class AsyncAnalytics:
    """Calls about analytics."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def errors(
        self,
        *,
        code: t.Literal[
            "detect_failed",
            "drift_failed",
            "embedding_unavailable",
            "extract_failed",
            "judge_failed",
            "judge_given_up",
            "narrate_failed",
            "narrate_unavailable",
            "predictor_checkpoint_error",
            "predictor_crash",
            "predictor_loading",
            "predictor_parse_error",
            "predictor_timeout",
            "predictor_train_failure",
        ]
        | Unset = UNSET,
        limit: int | Unset = UNSET,
        session_key: str | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        stage: t.Literal[
            "commit",
            "detect",
            "drift",
            "embedding",
            "extract",
            "judge",
            "narrate",
            "predictor_score",
            "predictor_train",
            "recall",
            "session_start",
        ]
        | Unset = UNSET,
    ) -> AsyncPages[types.Error, types.PaginatedErrorList]:
        """The last 500 failures of the workspace."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedErrorList](
                "GET",
                "/analytics/errors",
                query=asked(
                    code=code, limit=limit, session_key=session_key, since=since, stage=stage
                ),
            ),
        )

    async def latency(
        self, *, window: t.Literal["1h", "6h", "24h", "7d", "30d"] | Unset = UNSET
    ) -> types.Latencies:
        """Return count, mean and percentiles of every stage."""
        return await self._transport.send(
            Call[types.Latencies]("GET", "/analytics/latency", query=asked(window=window))
        )


class AsyncConflicts:
    """Calls about conflicts."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        kind: t.Literal["ambiguity", "reversal", "stale"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        memory_id: str | Unset = UNSET,
        rule: t.Literal[
            "ambiguity.answer-denied",
            "ambiguity.choice",
            "ambiguity.date",
            "ambiguity.denial",
            "ambiguity.direction",
            "ambiguity.label",
            "ambiguity.moved-away",
            "ambiguity.negation",
            "ambiguity.number",
            "ambiguity.one-at-a-time",
            "ambiguity.opposites",
            "ambiguity.order",
            "ambiguity.other-words.choice",
            "ambiguity.other-words.date",
            "ambiguity.other-words.day-of-month",
            "ambiguity.other-words.name",
            "ambiguity.other-words.negation",
            "ambiguity.other-words.number",
            "ambiguity.other-words.opposites",
            "ambiguity.other-words.person",
            "ambiguity.other-words.precedence",
            "ambiguity.other-words.time",
            "ambiguity.other-words.way",
            "ambiguity.owner",
            "ambiguity.pairing",
            "ambiguity.restricted",
            "ambiguity.roles",
            "ambiguity.time",
            "ambiguity.two-answers",
            "ambiguity.version",
            "model.ambiguity",
            "model.reversal",
            "model.stale",
            "relation.agent",
            "relation.person",
            "report.agent",
            "report.correction",
            "report.person",
            "reversal.answer-returns",
            "reversal.state-returns",
            "reversal.value-returns",
            "stale.answer-gone",
            "stale.gone-then-used",
            "stale.version-left",
            "unknown",
        ]
        | Unset = UNSET,
        scope: str | Unset = UNSET,
        severity: t.Literal["high", "low", "medium"] | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        status: t.Literal["all", "dismissed", "open", "resolved", "snoozed"] | Unset = UNSET,
    ) -> AsyncPages[types.Conflict, types.PaginatedConflictList]:
        """List conflicts, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedConflictList](
                "GET",
                "/conflicts",
                query=asked(
                    kind=kind,
                    limit=limit,
                    memory_id=memory_id,
                    rule=rule,
                    scope=scope,
                    severity=severity,
                    since=since,
                    status=status,
                ),
            ),
        )

    async def report(
        self,
        memory_ids: Sequence[str],
        *,
        note: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Reported | types.ReportKept:
        """Report that memories contradict each other."""
        return await self._transport.send(
            Call[types.Reported | types.ReportKept](
                "POST",
                "/conflicts",
                body=given(memory_ids=memory_ids, note=note),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def get(self, conflict_id: str) -> types.ConflictDetail:
        """Show a card."""
        return await self._transport.send(
            Call[types.ConflictDetail]("GET", f"/conflicts/{segment('conflict_id', conflict_id)}")
        )

    async def assign(
        self, conflict_id: str, assignee: str | None, *, idempotency_key: str | None = None
    ) -> types.ConflictDetail:
        """Assign a card to a member, or to nobody."""
        return await self._transport.send(
            Call[types.ConflictDetail](
                "POST",
                f"/conflicts/{segment('conflict_id', conflict_id)}/assign",
                body=given(assignee=assignee),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def comment(
        self, conflict_id: str, text: str, *, idempotency_key: str | None = None
    ) -> types.ConflictDetail:
        """Add a comment."""
        return await self._transport.send(
            Call[types.ConflictDetail](
                "POST",
                f"/conflicts/{segment('conflict_id', conflict_id)}/comments",
                body=given(text=text),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def resolve(
        self,
        conflict_id: str,
        verdict: types.Verdict,
        *,
        keep: Sequence[str] | Unset = UNSET,
        answer: str | Unset = UNSET,
        note: str | Unset = UNSET,
        version: int | Unset | None = UNSET,
        listing: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.ConflictDetail:
        """Decide a conflict."""
        return await self._transport.send(
            Call[types.ConflictDetail](
                "POST",
                f"/conflicts/{segment('conflict_id', conflict_id)}/resolve",
                body=given(
                    verdict=verdict,
                    keep=keep,
                    answer=answer,
                    note=note,
                    version=version,
                    listing=listing,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def snooze(
        self, conflict_id: str, until: datetime | str, *, idempotency_key: str | None = None
    ) -> types.ConflictDetail:
        """Hide a card from the queue until a time."""
        return await self._transport.send(
            Call[types.ConflictDetail](
                "POST",
                f"/conflicts/{segment('conflict_id', conflict_id)}/snooze",
                body=given(until=until),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def undo(
        self, conflict_id: str, *, idempotency_key: str | None = None
    ) -> types.ConflictDetail:
        """Undo the verdict."""
        return await self._transport.send(
            Call[types.ConflictDetail](
                "POST",
                f"/conflicts/{segment('conflict_id', conflict_id)}/undo",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def detect(
        self, *, memory_id: str | Unset | None = UNSET, idempotency_key: str | None = None
    ) -> types.DetectAnswer:
        """Queue detection of one memory or, for reviewers and above, of all live memories."""
        return await self._transport.send(
            Call[types.DetectAnswer](
                "POST",
                "/conflicts/detect",
                body=given(memory_id=memory_id),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def quality(
        self, *, since: datetime | str | Unset = UNSET, until: datetime | str | Unset = UNSET
    ) -> types.Quality:
        """Return the shares of conflicts that people confirmed and dismissed, with 95 % …"""
        return await self._transport.send(
            Call[types.Quality]("GET", "/conflicts/quality", query=asked(since=since, until=until))
        )


class AsyncDetections:
    """Calls about detections."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.DetectionRun, types.PaginatedDetectionRunList]:
        """The detection runs of the workspace."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedDetectionRunList]("GET", "/detections", query=asked(limit=limit)),
        )

    async def get(self, run_id: str) -> types.DetectionRun:
        """Show a run."""
        return await self._transport.send(
            Call[types.DetectionRun]("GET", f"/detections/{segment('run_id', run_id)}")
        )


class AsyncDiagnostics:
    """Calls about diagnostics."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    async def all(self) -> types.Diagnostics:
        """Return the score, status and fields of each part."""
        return await self._transport.send(Call[types.Diagnostics]("GET", "/diagnostics"))

    async def predictor(self) -> types.PredictorDomain:
        """Return the predictor's score, status and fields."""
        return await self._transport.send(
            Call[types.PredictorDomain]("GET", "/diagnostics/predictor")
        )


class AsyncGate:
    """Calls about gate."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def audit(
        self, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.Merge, types.PaginatedMergeList]:
        """List merges without a judgement, in the stable random order of the sample."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedMergeList]("GET", "/gate/audit", query=asked(limit=limit)),
        )

    async def answer_audit(
        self,
        merge_id: str,
        correct: bool,
        *,
        split: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Merge:
        """Store whether a merge was correct."""
        return await self._transport.send(
            Call[types.Merge](
                "POST",
                f"/gate/audit/{segment('merge_id', merge_id)}",
                body=given(correct=correct, split=split),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def undo_audit(self, merge_id: str, *, idempotency_key: str | None = None) -> types.Merge:
        """Undo the judgement of a merge, and the split that it made."""
        return await self._transport.send(
            Call[types.Merge](
                "POST",
                f"/gate/audit/{segment('merge_id', merge_id)}/undo",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def metrics(
        self, *, since: datetime | str | Unset = UNSET, weeks: int | Unset = UNSET
    ) -> types.GateMetrics:
        """Return the gate's counts by week, and the false-merge rate with its interval."""
        return await self._transport.send(
            Call[types.GateMetrics]("GET", "/gate/metrics", query=asked(since=since, weeks=weeks))
        )


class AsyncJanitor:
    """Calls about janitor."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    async def undo_action(
        self, janitor_action_id: str, *, idempotency_key: str | None = None
    ) -> types.JanitorAction:
        """Restore one memory to its state before the run."""
        return await self._transport.send(
            Call[types.JanitorAction](
                "POST",
                f"/janitor/actions/{segment('janitor_action_id', janitor_action_id)}/undo",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    def preview(
        self,
        *,
        after: str | Unset | None = UNSET,
        cull: bool | Unset | None = UNSET,
        limit: int | Unset = UNSET,
    ) -> AsyncPages[types.Finding, types.JanitorPreview]:
        """Return exactly what a run would do now, without changing anything."""
        return AsyncPages(
            self._transport.send,
            Call[types.JanitorPreview](
                "GET", "/janitor/preview", query=asked(after=after, cull=cull, limit=limit)
            ),
        )

    def runs(
        self, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.JanitorRun, types.PaginatedJanitorRunList]:
        """List runs, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedJanitorRunList]("GET", "/janitor/runs", query=asked(limit=limit)),
        )

    async def run(
        self,
        *,
        dry_run: bool | Unset = UNSET,
        cull: bool | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> types.JanitorRun | types.JanitorPreview:
        """Run now."""
        return await self._transport.send(
            Call[types.JanitorRun | types.JanitorPreview](
                "POST",
                "/janitor/runs",
                body=given(dry_run=dry_run, cull=cull),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    def actions(
        self, janitor_run_id: str, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.JanitorAction, types.PaginatedJanitorActionList]:
        """List the actions of a run, one per memory."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedJanitorActionList](
                "GET",
                f"/janitor/runs/{segment('janitor_run_id', janitor_run_id)}/actions",
                query=asked(limit=limit),
            ),
        )

    async def undo_run(
        self, janitor_run_id: str, *, idempotency_key: str | None = None
    ) -> types.JanitorRun:
        """Restore every memory of a run."""
        return await self._transport.send(
            Call[types.JanitorRun](
                "POST",
                f"/janitor/runs/{segment('janitor_run_id', janitor_run_id)}/undo",
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncKeys:
    """Calls about keys."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(self, *, limit: int | Unset = UNSET) -> AsyncPages[types.Key, types.PaginatedKeyList]:
        """List the keys of the workspace, revoked ones too."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedKeyList]("GET", "/keys", query=asked(limit=limit)),
        )

    async def create(
        self,
        name: str,
        *,
        role: types.Role | Unset = UNSET,
        provenance_ceiling: types.Provenance | Unset = UNSET,
        relay: bool | Unset = UNSET,
        may_pin: bool | Unset = UNSET,
        agent: str | Unset = UNSET,
        expires_at: datetime | str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> types.IssuedKey:
        """Create a key."""
        return await self._transport.send(
            Call[types.IssuedKey](
                "POST",
                "/keys",
                body=given(
                    name=name,
                    role=role,
                    provenance_ceiling=provenance_ceiling,
                    relay=relay,
                    may_pin=may_pin,
                    agent=agent,
                    expires_at=expires_at,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def get(self, key_id: str) -> types.Key:
        """Show a key (never its secret)."""
        return await self._transport.send(
            Call[types.Key]("GET", f"/keys/{segment('key_id', key_id)}")
        )

    async def revoke(self, key_id: str) -> None:
        """Revoke a key permanently."""
        return await self._transport.send(
            Call[None]("DELETE", f"/keys/{segment('key_id', key_id)}")
        )


class AsyncMemories:
    """Calls about memories."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        agent: str | Unset = UNSET,
        created_after: datetime | str | Unset = UNSET,
        created_before: datetime | str | Unset = UNSET,
        kind: t.Literal["constraint", "decision", "episodic", "procedural", "semantic"]
        | Unset = UNSET,
        limit: int | Unset = UNSET,
        project: str | Unset = UNSET,
        provenance: t.Literal["assistant_derived", "episode_summary", "user_stated"]
        | Unset = UNSET,
        q: str | Unset = UNSET,
        scope: str | Unset = UNSET,
        session_key: str | Unset = UNSET,
        state: t.Literal["active", "all", "culled", "expired", "forgotten", "retired", "superseded"]
        | Unset = UNSET,
        tag: str | Unset = UNSET,
        trust: t.Literal["pending"] | Unset = UNSET,
    ) -> AsyncPages[types.Memory, types.PaginatedMemoryList]:
        """List memories, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedMemoryList](
                "GET",
                "/memories",
                query=asked(
                    agent=agent,
                    created_after=created_after,
                    created_before=created_before,
                    kind=kind,
                    limit=limit,
                    project=project,
                    provenance=provenance,
                    q=q,
                    scope=scope,
                    session_key=session_key,
                    state=state,
                    tag=tag,
                    trust=trust,
                ),
            ),
        )

    async def commit(
        self,
        content: str,
        *,
        scope: str | Unset = UNSET,
        project: str | Unset = UNSET,
        kind: types.MemoryKind | Unset = UNSET,
        confidence: float | Unset | None = UNSET,
        importance: float | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        metadata: Mapping[str, t.Any] | Unset = UNSET,
        expires_at: datetime | str | Unset | None = UNSET,
        ttl_seconds: int | Unset | None = UNSET,
        source: str | Unset | None = UNSET,
        answers: Sequence[types.MemoryAnswerRequest] | Unset = UNSET,
        provenance: types.Provenance | Unset = UNSET,
        agent: str | Unset = UNSET,
        session_key: str | Unset = UNSET,
        supersedes: str | Unset | None = UNSET,
        observed_at: datetime | str | Unset | None = UNSET,
        derived_from: Sequence[str] | Unset = UNSET,
        revive: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Committed | types.Pending:
        """Commit one memory."""
        return await self._transport.send(
            Call[types.Committed | types.Pending](
                "POST",
                "/memories",
                body=given(
                    content=content,
                    scope=scope,
                    project=project,
                    kind=kind,
                    confidence=confidence,
                    importance=importance,
                    tags=tags,
                    pinned=pinned,
                    metadata=metadata,
                    expires_at=expires_at,
                    ttl_seconds=ttl_seconds,
                    source=source,
                    answers=answers,
                    provenance=provenance,
                    agent=agent,
                    session_key=session_key,
                    supersedes=supersedes,
                    observed_at=observed_at,
                    derived_from=derived_from,
                    revive=revive,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def get(self, memory_id: str) -> types.Memory:
        """Show a memory in any state."""
        return await self._transport.send(
            Call[types.Memory]("GET", f"/memories/{segment('memory_id', memory_id)}")
        )

    async def update(
        self,
        memory_id: str,
        *,
        content: str | Unset = UNSET,
        scope: str | Unset = UNSET,
        project: str | Unset = UNSET,
        kind: types.MemoryKind | Unset = UNSET,
        confidence: float | Unset = UNSET,
        importance: float | Unset = UNSET,
        tags: Sequence[str] | Unset = UNSET,
        pinned: bool | Unset = UNSET,
        metadata: Mapping[str, t.Any] | Unset = UNSET,
        expires_at: datetime | str | Unset | None = UNSET,
        ttl_seconds: int | Unset | None = UNSET,
        source: str | Unset | None = UNSET,
        answers: Sequence[types.MemoryAnswerRequest] | Unset = UNSET,
    ) -> types.Memory | types.Pending:
        """Change a memory."""
        return await self._transport.send(
            Call[types.Memory | types.Pending](
                "PATCH",
                f"/memories/{segment('memory_id', memory_id)}",
                body=given(
                    content=content,
                    scope=scope,
                    project=project,
                    kind=kind,
                    confidence=confidence,
                    importance=importance,
                    tags=tags,
                    pinned=pinned,
                    metadata=metadata,
                    expires_at=expires_at,
                    ttl_seconds=ttl_seconds,
                    source=source,
                    answers=answers,
                ),
                repeatable=False,
            )
        )

    async def erase(self, memory_id: str) -> None:
        """Erase a memory permanently, with every copy of its text."""
        return await self._transport.send(
            Call[None]("DELETE", f"/memories/{segment('memory_id', memory_id)}")
        )

    def associations(
        self, memory_id: str, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.MemoryLink, types.PaginatedMemoryLinkList]:
        """List what a memory is linked with, strongest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedMemoryLinkList](
                "GET",
                f"/memories/{segment('memory_id', memory_id)}/associations",
                query=asked(limit=limit),
            ),
        )

    def history(
        self, memory_id: str, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.HistoryEntry, types.PaginatedHistoryEntryList]:
        """List the memory's events (commits, revisions, merges, conflicts, …), newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedHistoryEntryList](
                "GET",
                f"/memories/{segment('memory_id', memory_id)}/history",
                query=asked(limit=limit),
            ),
        )

    async def note_links(self, memory_id: str) -> types.MemoryLinks:
        """List the links of a memory to notes, with the reason where one leads to none."""
        return await self._transport.send(
            Call[types.MemoryLinks](
                "GET", f"/memories/{segment('memory_id', memory_id)}/note-links"
            )
        )

    def recalls(
        self, memory_id: str, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.PastResult, types.PaginatedPastResultList]:
        """List the recalls and contexts that returned a memory, newest first, while they are …"""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedPastResultList](
                "GET",
                f"/memories/{segment('memory_id', memory_id)}/recalls",
                query=asked(limit=limit),
            ),
        )

    async def relate(
        self,
        memory_id: str,
        other: str,
        relation: types.JudgedRelation,
        *,
        reason: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Related | types.Pending:
        """Record how a memory relates to another, such as one of those `nearby` at its commit."""
        return await self._transport.send(
            Call[types.Related | types.Pending](
                "POST",
                f"/memories/{segment('memory_id', memory_id)}/relations",
                body=given(other=other, relation=relation, reason=reason),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def signal(
        self,
        memory_id: str,
        source: str,
        evidence: Mapping[str, t.Any],
        *,
        weight: float | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.PredictionError:
        """Report outside evidence that a memory may be out of date."""
        return await self._transport.send(
            Call[types.PredictionError](
                "POST",
                f"/memories/{segment('memory_id', memory_id)}/signals",
                body=given(source=source, evidence=evidence, weight=weight),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def split(
        self, memory_id: str, observation_id: str, *, idempotency_key: str | None = None
    ) -> types.SplitAnswer:
        """Split a merged statement off a memory."""
        return await self._transport.send(
            Call[types.SplitAnswer](
                "POST",
                f"/memories/{segment('memory_id', memory_id)}/split",
                body=given(observation_id=observation_id),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def why_not(
        self,
        memory_id: str,
        query: str,
        *,
        graph: bool | Unset = UNSET,
        k: int | Unset = UNSET,
        kinds: str | Unset = UNSET,
        min_score: float | t.Literal["auto"] | Unset = UNSET,
        project: str | Unset = UNSET,
        scope: str | Unset = UNSET,
    ) -> types.WhyNot:
        """Explain a memory's result in a recall."""
        return await self._transport.send(
            Call[types.WhyNot](
                "GET",
                f"/memories/{segment('memory_id', memory_id)}/why-not",
                query=asked(
                    query=query,
                    graph=graph,
                    k=k,
                    kinds=kinds,
                    min_score=min_score,
                    project=project,
                    scope=scope,
                ),
            )
        )

    def asks(self, *, limit: int | Unset = UNSET) -> AsyncPages[types.Ask, types.PaginatedAskList]:
        """List the pairs that commits of this key named as `nearby`, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedAskList]("GET", "/memories/asks", query=asked(limit=limit)),
        )

    async def commit_batch(
        self, memories: Sequence[types.DraftRequest], *, idempotency_key: str | None = None
    ) -> types.BatchAnswer:
        """Commit up to 500 memories, all or none."""
        return await self._transport.send(
            Call[types.BatchAnswer](
                "POST",
                "/memories/batch",
                body=given(memories=memories),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def extract(
        self,
        transcript: str,
        *,
        session_key: str | Unset = UNSET,
        project: str | Unset = UNSET,
        scope: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Queued:
        """Queue a transcript."""
        return await self._transport.send(
            Call[types.Queued](
                "POST",
                "/memories/extract",
                body=given(
                    transcript=transcript, session_key=session_key, project=project, scope=scope
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def forget(
        self,
        *,
        ids: Sequence[str] | Unset = UNSET,
        query: str | Unset = UNSET,
        min_relevance: float | Unset | None = UNSET,
        kinds: Sequence[types.MemoryKind] | Unset = UNSET,
        scope: str | Unset = UNSET,
        project: str | Unset = UNSET,
        confirm: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.ForgetAnswer:
        """Preview, or with `confirm` forget, memories given by ids or by a query."""
        return await self._transport.send(
            Call[types.ForgetAnswer](
                "POST",
                "/memories/forget",
                body=given(
                    ids=ids,
                    query=query,
                    min_relevance=min_relevance,
                    kinds=kinds,
                    scope=scope,
                    project=project,
                    confirm=confirm,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def restore(
        self,
        *,
        ids: Sequence[str] | Unset = UNSET,
        rollback: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.RestoreAnswer:
        """Restore forgotten memories."""
        return await self._transport.send(
            Call[types.RestoreAnswer](
                "POST",
                "/memories/restore",
                body=given(ids=ids, rollback=rollback),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def rollback(
        self,
        since: datetime | str,
        *,
        agent: str | Unset = UNSET,
        session_key: str | Unset = UNSET,
        key_id: str | Unset | None = UNSET,
        confirm: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.RollbackAnswer:
        """Preview, or with `confirm` forget, everything that a writer wrote since a time."""
        return await self._transport.send(
            Call[types.RollbackAnswer](
                "POST",
                "/memories/rollback",
                body=given(
                    since=since,
                    agent=agent,
                    session_key=session_key,
                    key_id=key_id,
                    confirm=confirm,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncMergeSuggestions:
    """Calls about merge suggestions."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        memory_id: str | Unset = UNSET,
        status: t.Literal["accepted", "all", "lapsed", "open", "rejected"] | Unset = UNSET,
    ) -> AsyncPages[types.MergeSuggestion, types.PaginatedMergeSuggestionList]:
        """List merge suggestions, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedMergeSuggestionList](
                "GET",
                "/merge-suggestions",
                query=asked(limit=limit, memory_id=memory_id, status=status),
            ),
        )

    async def get(self, suggestion_id: str) -> types.MergeSuggestionDetail:
        """Show one merge suggestion, with the claims that a merge in either wording would drop."""
        return await self._transport.send(
            Call[types.MergeSuggestionDetail](
                "GET", f"/merge-suggestions/{segment('suggestion_id', suggestion_id)}"
            )
        )

    async def accept(
        self,
        suggestion_id: str,
        *,
        keep: str | Unset | None = UNSET,
        idempotency_key: str | None = None,
    ) -> types.MergeSuggestion:
        """Merge both memories."""
        return await self._transport.send(
            Call[types.MergeSuggestion](
                "POST",
                f"/merge-suggestions/{segment('suggestion_id', suggestion_id)}/accept",
                body=given(keep=keep),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def reject(
        self, suggestion_id: str, *, idempotency_key: str | None = None
    ) -> types.MergeSuggestion:
        """Keep both memories."""
        return await self._transport.send(
            Call[types.MergeSuggestion](
                "POST",
                f"/merge-suggestions/{segment('suggestion_id', suggestion_id)}/reject",
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncMutings:
    """Calls about mutings."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        status: t.Literal["all", "muted", "pending", "rejected", "unmuted"] | Unset = UNSET,
    ) -> AsyncPages[types.Muting, types.PaginatedMutingList]:
        """List the proposals to mute a rule, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedMutingList](
                "GET", "/mutings", query=asked(limit=limit, status=status)
            ),
        )

    async def accept(self, muting_id: str, *, idempotency_key: str | None = None) -> types.Muting:
        """Mute the rule."""
        return await self._transport.send(
            Call[types.Muting](
                "POST",
                f"/mutings/{segment('muting_id', muting_id)}/accept",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def reject(self, muting_id: str, *, idempotency_key: str | None = None) -> types.Muting:
        """Let the rule go on."""
        return await self._transport.send(
            Call[types.Muting](
                "POST",
                f"/mutings/{segment('muting_id', muting_id)}/reject",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def unmute(self, rule: str, *, idempotency_key: str | None = None) -> types.Muting:
        """Let a muted rule find again."""
        return await self._transport.send(
            Call[types.Muting](
                "POST",
                "/mutings/unmute",
                body=given(rule=rule),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncNotes:
    """Calls about notes."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        prefix: str | Unset = UNSET,
        q: str | Unset = UNSET,
        tag: str | Unset = UNSET,
        updated_since: datetime | str | Unset = UNSET,
    ) -> AsyncPages[types.NoteSummary, types.PaginatedNoteSummaryList]:
        """List notes, last changed first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedNoteSummaryList](
                "GET",
                "/notes",
                query=asked(limit=limit, prefix=prefix, q=q, tag=tag, updated_since=updated_since),
            ),
        )

    async def get(self, note_path: str) -> types.Note:
        """Show a note with its links, and with what links it."""
        return await self._transport.send(
            Call[types.Note]("GET", f"/notes/{segment('note_path', note_path, '/')}")
        )

    async def put(
        self,
        note_path: str,
        content: str,
        *,
        title: str | Unset | None = UNSET,
        agent: str | Unset = UNSET,
    ) -> types.PutNote:
        """Create or replace a note."""
        return await self._transport.send(
            Call[types.PutNote](
                "PUT",
                f"/notes/{segment('note_path', note_path, '/')}",
                body=given(content=content, title=title, agent=agent),
            )
        )

    async def delete(self, note_path: str) -> None:
        """Delete a note for good."""
        return await self._transport.send(
            Call[None]("DELETE", f"/notes/{segment('note_path', note_path, '/')}")
        )


class AsyncPredictionErrors:
    """Calls about prediction errors."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        error_type: t.Literal[
            "contextual_mismatch", "low_overlap", "memory_drift", "memory_external_signal"
        ]
        | Unset = UNSET,
        limit: int | Unset = UNSET,
        memory_id: str | Unset = UNSET,
        note_path: str | Unset = UNSET,
        resolved: t.Literal["all", "false", "true"] | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        unconfirmed: t.Literal["false", "true"] | Unset = UNSET,
    ) -> AsyncPages[types.PredictionError, types.PaginatedPredictionErrorList]:
        """List prediction errors, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedPredictionErrorList](
                "GET",
                "/prediction-errors",
                query=asked(
                    error_type=error_type,
                    limit=limit,
                    memory_id=memory_id,
                    note_path=note_path,
                    resolved=resolved,
                    since=since,
                    unconfirmed=unconfirmed,
                ),
            ),
        )

    async def get(self, error_id: str) -> types.PredictionError:
        """Show one prediction error, open or resolved."""
        return await self._transport.send(
            Call[types.PredictionError](
                "GET", f"/prediction-errors/{segment('error_id', error_id)}"
            )
        )

    async def resolve(
        self,
        error_id: str,
        action: types.Action,
        *,
        note: str | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.PredictionError:
        """Answer a prediction error."""
        return await self._transport.send(
            Call[types.PredictionError](
                "POST",
                f"/prediction-errors/{segment('error_id', error_id)}/resolve",
                body=given(action=action, note=note),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def resolve_several(
        self,
        action: types.Action,
        *,
        note: str | Unset = UNSET,
        ids: Sequence[str] | Unset = UNSET,
        note_path: str | Unset = UNSET,
        note_version: int | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.AnsweredErrors:
        """Give one answer to several prediction errors, such as all drift from one edit of a …"""
        return await self._transport.send(
            Call[types.AnsweredErrors](
                "POST",
                "/prediction-errors/resolve",
                body=given(
                    action=action,
                    note=note,
                    ids=ids,
                    note_path=note_path,
                    note_version=note_version,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncPredictor:
    """Calls about predictor."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    async def audit(self, session_key: str) -> types.Audit:
        """Show candidates with ranks, scores and labels, judgement, comparison and trainings."""
        return await self._transport.send(
            Call[types.Audit]("GET", f"/predictor/audit/{segment('session_key', session_key)}")
        )

    async def calibration(self) -> types.JudgeCalibration:
        """Return the judge's error, bias and agreement with people, with 95 % intervals."""
        return await self._transport.send(
            Call[types.JudgeCalibration]("GET", "/predictor/calibration")
        )

    async def label(
        self,
        calibration_id: str,
        *,
        label: float | Unset = UNSET,
        unsure: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Labelled:
        """Label an item, or answer that you are unsure."""
        return await self._transport.send(
            Call[types.Labelled](
                "POST",
                f"/predictor/calibration/{segment('calibration_id', calibration_id)}/label",
                body=given(label=label, unsure=unsure),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def sample(self) -> types.Sample:
        """Return the items that wait for labels."""
        return await self._transport.send(
            Call[types.Sample]("GET", "/predictor/calibration/sample")
        )

    async def draw_sample(
        self, *, size: int | Unset = UNSET, idempotency_key: str | None = None
    ) -> types.Sample:
        """Draw a sample, stratified by the judge's relevance and confidence, which stay hidden."""
        return await self._transport.send(
            Call[types.Sample](
                "POST",
                "/predictor/calibration/sample",
                body=given(size=size),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    def comparisons(
        self,
        *,
        ema_updated: t.Literal["false", "true"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        min_margin: float | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        until: datetime | str | Unset = UNSET,
        winner: t.Literal["baseline", "predictor", "tie", "void"] | Unset = UNSET,
    ) -> AsyncPages[types.Comparison, types.PaginatedComparisonList]:
        """List comparisons, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedComparisonList](
                "GET",
                "/predictor/comparisons",
                query=asked(
                    ema_updated=ema_updated,
                    limit=limit,
                    min_margin=min_margin,
                    since=since,
                    until=until,
                    winner=winner,
                ),
            ),
        )

    async def comparison(self, comparison_id: str) -> types.InspectedComparison:
        """Show both rankings, the judge's answer, and the change of the evidence."""
        return await self._transport.send(
            Call[types.InspectedComparison](
                "GET", f"/predictor/comparisons/{segment('comparison_id', comparison_id)}"
            )
        )

    async def drift(self, *, limit: int | Unset = UNSET) -> types.Drift:
        """Return the served and the literal drift rule over time, and the judge's drift."""
        return await self._transport.send(
            Call[types.Drift]("GET", "/predictor/drift", query=asked(limit=limit))
        )

    async def enable(self, *, idempotency_key: str | None = None) -> types.PredictorStatus:
        """Switch scoring on again at once."""
        return await self._transport.send(
            Call[types.PredictorStatus](
                "POST", "/predictor/enable", idempotency_key=idempotency_key or new_key()
            )
        )

    async def reset(self, *, idempotency_key: str | None = None) -> types.PredictorReset:
        """Reset to cold start."""
        return await self._transport.send(
            Call[types.PredictorReset](
                "POST", "/predictor/reset", idempotency_key=idempotency_key or new_key()
            )
        )

    async def status(self) -> types.PredictorStatus:
        """Return influence, evidence, the model, the next training, and the circuit breaker."""
        return await self._transport.send(Call[types.PredictorStatus]("GET", "/predictor/status"))

    def trainings(
        self, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.Training, types.PaginatedTrainingList]:
        """The trainings of the workspace, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedTrainingList](
                "GET", "/predictor/training", query=asked(limit=limit)
            ),
        )


class AsyncQuestions:
    """Calls about questions."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        as_of: datetime | str | Unset = UNSET,
        disputed: t.Literal["false", "true"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        q: str | Unset = UNSET,
        scope: str | Unset = UNSET,
    ) -> AsyncPages[types.KnownQuestion, types.PaginatedKnownQuestionList]:
        """List questions with the answers that hold, those answered last first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedKnownQuestionList](
                "GET",
                "/questions",
                query=asked(as_of=as_of, disputed=disputed, limit=limit, q=q, scope=scope),
            ),
        )

    async def get(
        self, question_id: str, *, as_of: datetime | str | Unset = UNSET
    ) -> types.QuestionDetail:
        """Show a question with its history, newest answer first."""
        return await self._transport.send(
            Call[types.QuestionDetail](
                "GET", f"/questions/{segment('question_id', question_id)}", query=asked(as_of=as_of)
            )
        )


class AsyncRefusals:
    """Calls about refusals."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        borderline: t.Literal["false", "true"] | Unset = UNSET,
        decision: t.Literal["all", "kept", "left_out", "undecided"] | Unset = UNSET,
        job: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        reason: t.Literal[
            "already_known",
            "command",
            "credential",
            "ephemeral_state",
            "not_lasting",
            "not_to_be_stored",
            "procedural_fragment",
            "proposal",
            "question",
            "quote",
            "quote_not_found",
            "repeated",
            "speculation",
            "status_chatter",
            "tautology",
            "third_party_text",
            "too_long",
            "too_many",
            "too_short",
        ]
        | Unset = UNSET,
        session_key: str | Unset = UNSET,
    ) -> AsyncPages[types.Refusal, types.PaginatedRefusalList]:
        """List statements of transcripts that were not kept, newest first, for 30 days."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedRefusalList](
                "GET",
                "/memories/extraction-refusals",
                query=asked(
                    borderline=borderline,
                    decision=decision,
                    job=job,
                    limit=limit,
                    reason=reason,
                    session_key=session_key,
                ),
            ),
        )

    async def accept(self, refusal_id: str, *, idempotency_key: str | None = None) -> types.Refusal:
        """Commit the refused statement after all."""
        return await self._transport.send(
            Call[types.Refusal](
                "POST",
                f"/memories/extraction-refusals/{segment('refusal_id', refusal_id)}/accept",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def reject(self, refusal_id: str, *, idempotency_key: str | None = None) -> types.Refusal:
        """Agree with the refusal."""
        return await self._transport.send(
            Call[types.Refusal](
                "POST",
                f"/memories/extraction-refusals/{segment('refusal_id', refusal_id)}/reject",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def undo(self, refusal_id: str, *, idempotency_key: str | None = None) -> types.Refusal:
        """Take a decision about it back."""
        return await self._transport.send(
            Call[types.Refusal](
                "POST",
                f"/memories/extraction-refusals/{segment('refusal_id', refusal_id)}/undo",
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncReviews:
    """Calls about reviews."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self,
        *,
        kind: t.Literal[
            "claim", "forget", "replace", "revise", "revive", "source_forgotten", "supersede"
        ]
        | Unset = UNSET,
        limit: int | Unset = UNSET,
        memory_id: str | Unset = UNSET,
        status: t.Literal["accepted", "all", "lapsed", "pending", "rejected"] | Unset = UNSET,
    ) -> AsyncPages[types.Review, types.PaginatedReviewList]:
        """List reviews, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedReviewList](
                "GET",
                "/reviews",
                query=asked(kind=kind, limit=limit, memory_id=memory_id, status=status),
            ),
        )

    async def get(self, review_id: str) -> types.Review:
        """Show one review."""
        return await self._transport.send(
            Call[types.Review]("GET", f"/reviews/{segment('review_id', review_id)}")
        )

    async def accept(
        self, review_id: str, *, note: str | Unset = UNSET, idempotency_key: str | None = None
    ) -> types.Review:
        """Carry out the request."""
        return await self._transport.send(
            Call[types.Review](
                "POST",
                f"/reviews/{segment('review_id', review_id)}/accept",
                body=given(note=note),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def reject(
        self, review_id: str, *, note: str | Unset = UNSET, idempotency_key: str | None = None
    ) -> types.Review:
        """Reject the request."""
        return await self._transport.send(
            Call[types.Review](
                "POST",
                f"/reviews/{segment('review_id', review_id)}/reject",
                body=given(note=note),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncSessions:
    """Calls about sessions."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def reports(
        self,
        *,
        kind: t.Literal["missing", "wrong"] | Unset = UNSET,
        limit: int | Unset = UNSET,
        memory_id: str | Unset = UNSET,
        project: str | Unset = UNSET,
        q: str | Unset = UNSET,
        session_key: str | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
    ) -> AsyncPages[types.ReportItem, types.PaginatedReportItemList]:
        """List what agents reported as missing from memory, or as wrong, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedReportItemList](
                "GET",
                "/session-reports",
                query=asked(
                    kind=kind,
                    limit=limit,
                    memory_id=memory_id,
                    project=project,
                    q=q,
                    session_key=session_key,
                    since=since,
                ),
            ),
        )

    def list(
        self,
        *,
        limit: int | Unset = UNSET,
        project: str | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        state: t.Literal["abandoned", "all", "ended", "open"] | Unset = UNSET,
    ) -> AsyncPages[types.Session, types.PaginatedSessionList]:
        """List sessions, newest first."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedSessionList](
                "GET",
                "/sessions",
                query=asked(limit=limit, project=project, since=since, state=state),
            ),
        )

    async def start(
        self,
        session_key: str,
        *,
        project: str | Unset = UNSET,
        scope: str | Unset = UNSET,
        agent: str | Unset = UNSET,
        context: str | Unset = UNSET,
        k: int | Unset = UNSET,
        budget_chars: int | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Started:
        """Start a session and return the memories to inject."""
        return await self._transport.send(
            Call[types.Started](
                "POST",
                "/sessions",
                body=given(
                    session_key=session_key,
                    project=project,
                    scope=scope,
                    agent=agent,
                    context=context,
                    k=k,
                    budget_chars=budget_chars,
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def get(self, session_key: str) -> types.SessionDetail:
        """Show a session with all its records."""
        return await self._transport.send(
            Call[types.SessionDetail]("GET", f"/sessions/{segment('session_key', session_key)}")
        )

    async def delete(self, session_key: str) -> None:
        """Delete a session with its transcript and records."""
        return await self._transport.send(
            Call[None]("DELETE", f"/sessions/{segment('session_key', session_key)}")
        )

    async def end(
        self,
        session_key: str,
        *,
        used: Mapping[str, float] | Unset = UNSET,
        wrong: Sequence[types.WrongRequest] | Unset = UNSET,
        missing: Sequence[str] | Unset = UNSET,
        transcript: str | Unset = UNSET,
        extract: bool | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.Ended:
        """End a session."""
        return await self._transport.send(
            Call[types.Ended](
                "POST",
                f"/sessions/{segment('session_key', session_key)}/end",
                body=given(
                    used=used, wrong=wrong, missing=missing, transcript=transcript, extract=extract
                ),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def rate(
        self, session_key: str, memory_id: str, value: float, *, idempotency_key: str | None = None
    ) -> types.FeedbackGiven:
        """Rate a memory of the session's records."""
        return await self._transport.send(
            Call[types.FeedbackGiven](
                "POST",
                f"/sessions/{segment('session_key', session_key)}/feedback",
                body=given(memory_id=memory_id, value=value),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def prompt(
        self, session_key: str, prompt: str, *, idempotency_key: str | None = None
    ) -> types.Prompted:
        """Count the memories that a prompt matches, once per prompt."""
        return await self._transport.send(
            Call[types.Prompted](
                "POST",
                f"/sessions/{segment('session_key', session_key)}/prompts",
                body=given(prompt=prompt),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncSettings:
    """Calls about settings."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    async def retention(
        self,
        *,
        retention_query_days: int | Unset = UNSET,
        retention_recall_days: int | Unset = UNSET,
        retention_session_days: int | Unset = UNSET,
        retention_transcript_days: int | Unset = UNSET,
    ) -> types.Retention:
        """Count what would be deleted by age now, also with other days."""
        return await self._transport.send(
            Call[types.Retention](
                "GET",
                "/workspace/retention",
                query=asked(
                    retention_query_days=retention_query_days,
                    retention_recall_days=retention_recall_days,
                    retention_session_days=retention_session_days,
                    retention_transcript_days=retention_transcript_days,
                ),
            )
        )

    async def get(self) -> types.Settings:
        """Show every setting with its value, meaning and range."""
        return await self._transport.send(Call[types.Settings]("GET", "/workspace/settings"))

    async def update(
        self,
        *,
        gate_policy: t.Literal["merge", "suggest", "off"] | Unset = UNSET,
        gate_threshold: float | Unset = UNSET,
        weight_user_stated: float | Unset = UNSET,
        weight_episode_summary: float | Unset = UNSET,
        weight_assistant_derived: float | Unset = UNSET,
        min_relevance: float | Unset = UNSET,
        session_min_relevance: float | Unset = UNSET,
        context_min_cosine: float | Unset = UNSET,
        forget_min_relevance: float | Unset = UNSET,
        noise_score: float | Unset = UNSET,
        rerank_enabled: bool | Unset = UNSET,
        graph_enabled: bool | Unset = UNSET,
        diversity: float | Unset = UNSET,
        janitor_enabled: bool | Unset = UNSET,
        janitor_culls: bool | Unset = UNSET,
        janitor_assistant_days: int | Unset = UNSET,
        janitor_summary_days: int | Unset = UNSET,
        writes_per_minute: int | Unset = UNSET,
        reads_per_minute: int | Unset = UNSET,
        pending_reviews_per_key: int | Unset = UNSET,
        ask_days: int | Unset = UNSET,
        detection_enabled: bool | Unset = UNSET,
        detection_min_confidence: float | Unset = UNSET,
        muted_rules: Sequence[str] | Unset = UNSET,
        language_model: str | Unset = UNSET,
        narrative_enabled: bool | Unset = UNSET,
        answers_by_model: bool | Unset = UNSET,
        extraction_enabled: bool | Unset = UNSET,
        extraction_by_model: bool | Unset = UNSET,
        narrative_daily_usd: float | Unset = UNSET,
        story_budget_tokens: int | Unset = UNSET,
        judgements_per_hour: int | Unset = UNSET,
        undecided_cards_per_key: int | Unset = UNSET,
        drift_enabled: bool | Unset = UNSET,
        drift_threshold: float | Unset = UNSET,
        predictor_mode: t.Literal["off", "collect", "on"] | Unset = UNSET,
        judge_by_model: bool | Unset = UNSET,
        judge_two_orders: bool | Unset = UNSET,
        train_interval_sessions: int | Unset = UNSET,
        min_training_sessions: int | Unset = UNSET,
        score_timeout_ms: int | Unset = UNSET,
        disable_threshold: int | Unset = UNSET,
        rrf_k: int | Unset = UNSET,
        exploration_rate: float | Unset = UNSET,
        drift_reset_window: int | Unset = UNSET,
        time_zone: str | Unset = UNSET,
        digest_hour: int | Unset = UNSET,
        digest_texts: bool | Unset = UNSET,
        retention_transcript_days: int | Unset | None = UNSET,
        retention_session_days: int | Unset | None = UNSET,
        retention_recall_days: int | Unset | None = UNSET,
        recalls_kept: bool | Unset = UNSET,
        retention_query_days: int | Unset | None = UNSET,
    ) -> types.Settings:
        """Change settings, all or none."""
        return await self._transport.send(
            Call[types.Settings](
                "PATCH",
                "/workspace/settings",
                body=given(
                    gate_policy=gate_policy,
                    gate_threshold=gate_threshold,
                    weight_user_stated=weight_user_stated,
                    weight_episode_summary=weight_episode_summary,
                    weight_assistant_derived=weight_assistant_derived,
                    min_relevance=min_relevance,
                    session_min_relevance=session_min_relevance,
                    context_min_cosine=context_min_cosine,
                    forget_min_relevance=forget_min_relevance,
                    noise_score=noise_score,
                    rerank_enabled=rerank_enabled,
                    graph_enabled=graph_enabled,
                    diversity=diversity,
                    janitor_enabled=janitor_enabled,
                    janitor_culls=janitor_culls,
                    janitor_assistant_days=janitor_assistant_days,
                    janitor_summary_days=janitor_summary_days,
                    writes_per_minute=writes_per_minute,
                    reads_per_minute=reads_per_minute,
                    pending_reviews_per_key=pending_reviews_per_key,
                    ask_days=ask_days,
                    detection_enabled=detection_enabled,
                    detection_min_confidence=detection_min_confidence,
                    muted_rules=muted_rules,
                    language_model=language_model,
                    narrative_enabled=narrative_enabled,
                    answers_by_model=answers_by_model,
                    extraction_enabled=extraction_enabled,
                    extraction_by_model=extraction_by_model,
                    narrative_daily_usd=narrative_daily_usd,
                    story_budget_tokens=story_budget_tokens,
                    judgements_per_hour=judgements_per_hour,
                    undecided_cards_per_key=undecided_cards_per_key,
                    drift_enabled=drift_enabled,
                    drift_threshold=drift_threshold,
                    predictor_mode=predictor_mode,
                    judge_by_model=judge_by_model,
                    judge_two_orders=judge_two_orders,
                    train_interval_sessions=train_interval_sessions,
                    min_training_sessions=min_training_sessions,
                    score_timeout_ms=score_timeout_ms,
                    disable_threshold=disable_threshold,
                    rrf_k=rrf_k,
                    exploration_rate=exploration_rate,
                    drift_reset_window=drift_reset_window,
                    time_zone=time_zone,
                    digest_hour=digest_hour,
                    digest_texts=digest_texts,
                    retention_transcript_days=retention_transcript_days,
                    retention_session_days=retention_session_days,
                    retention_recall_days=retention_recall_days,
                    recalls_kept=recalls_kept,
                    retention_query_days=retention_query_days,
                ),
                repeatable=False,
            )
        )

    async def replay(
        self,
        settings: types.WorkspaceSettingsReplayCreateSettings,
        *,
        days: int | Unset = UNSET,
        idempotency_key: str | None = None,
    ) -> types.ReplayAnswer:
        """Return what the last days would have looked like with other settings, without …"""
        return await self._transport.send(
            Call[types.ReplayAnswer](
                "POST",
                "/workspace/settings/replay",
                body=given(settings=settings, days=days),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncWebhooks:
    """Calls about webhooks."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    def list(
        self, *, limit: int | Unset = UNSET
    ) -> AsyncPages[types.Webhook, types.PaginatedWebhookList]:
        """The webhooks of the workspace."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedWebhookList]("GET", "/webhooks", query=asked(limit=limit)),
        )

    async def make(
        self, url: str, events: Sequence[types.Events], *, idempotency_key: str | None = None
    ) -> types.WebhookWithSecret:
        """Make a webhook."""
        return await self._transport.send(
            Call[types.WebhookWithSecret](
                "POST",
                "/webhooks",
                body=given(url=url, events=events),
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def get(self, webhook_id: str) -> types.Webhook:
        """Show a webhook (never its secret)."""
        return await self._transport.send(
            Call[types.Webhook]("GET", f"/webhooks/{segment('webhook_id', webhook_id)}")
        )

    async def update(
        self,
        webhook_id: str,
        *,
        url: str | Unset = UNSET,
        events: Sequence[types.Events] | Unset = UNSET,
        enabled: bool | Unset = UNSET,
    ) -> types.Webhook:
        """Change the URL or the events of a webhook, disable or enable it."""
        return await self._transport.send(
            Call[types.Webhook](
                "PATCH",
                f"/webhooks/{segment('webhook_id', webhook_id)}",
                body=given(url=url, events=events, enabled=enabled),
                repeatable=False,
            )
        )

    async def delete(self, webhook_id: str) -> None:
        """Delete a webhook with its deliveries."""
        return await self._transport.send(
            Call[None]("DELETE", f"/webhooks/{segment('webhook_id', webhook_id)}")
        )

    def deliveries(
        self,
        webhook_id: str,
        *,
        limit: int | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        status: t.Literal["delivered", "given_up", "waiting"] | Unset = UNSET,
        type: t.Literal[
            "calibration.drawn",
            "calibration.labelled",
            "calibration.reopened",
            "comparison.recorded",
            "conflict.assigned",
            "conflict.commented",
            "conflict.joined",
            "conflict.opened",
            "conflict.reopened",
            "conflict.resolved",
            "conflict.snoozed",
            "digest.daily",
            "drift.found",
            "extraction.finished",
            "extraction.queued",
            "extraction_refusal.kept",
            "extraction_refusal.left_out",
            "extraction_refusal.reopened",
            "inbox.put_off",
            "inbox.taken_up",
            "janitor.ran",
            "janitor.undone",
            "key.issued",
            "key.revoked",
            "member.added",
            "member.changed",
            "member.declined",
            "member.invitation_revoked",
            "member.invited",
            "member.removed",
            "memory.answered",
            "memory.committed",
            "memory.culled",
            "memory.demoted",
            "memory.demotion_undone",
            "memory.disputed",
            "memory.erased",
            "memory.forgotten",
            "memory.judged",
            "memory.merged",
            "memory.released",
            "memory.restored",
            "memory.retired",
            "memory.revised",
            "memory.separated",
            "memory.signalled",
            "memory.source_forgotten",
            "memory.split",
            "memory.superseded",
            "memory.suppressed",
            "memory.upheld",
            "merge.audit_undone",
            "merge.audited",
            "merge.rejected",
            "merge.reopened",
            "merge.suggested",
            "muting.accepted",
            "muting.ended",
            "muting.proposed",
            "muting.rejected",
            "muting.reopened",
            "muting.withdrawn",
            "note.changed",
            "note.created",
            "note.deleted",
            "prediction_error.reopened",
            "prediction_error.resolved",
            "predictor.cold_start_exit",
            "predictor.disabled",
            "predictor.drift_reset",
            "predictor.enabled",
            "predictor.imported",
            "predictor.reset",
            "predictor.unlearned",
            "retention.applied",
            "review.accepted",
            "review.lapsed",
            "review.opened",
            "review.rejected",
            "review.reopened",
            "session.deleted",
            "session.ended",
            "session.imported",
            "session.judged",
            "session.prompted",
            "session.reported",
            "session.started",
            "session.transcript_taken",
            "settings.changed",
            "training.finished",
            "training.started",
            "webhook.changed",
            "webhook.created",
            "webhook.deleted",
            "webhook.disabled",
            "webhook.test",
            "workspace.imported",
            "workspace.reembedded",
            "writer.rolled_back",
        ]
        | Unset = UNSET,
    ) -> AsyncPages[types.Delivery, types.PaginatedDeliveryList]:
        """The deliveries of a webhook."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedDeliveryList](
                "GET",
                f"/webhooks/{segment('webhook_id', webhook_id)}/deliveries",
                query=asked(limit=limit, since=since, status=status, type=type),
            ),
        )

    async def replace_secret(
        self, webhook_id: str, *, idempotency_key: str | None = None
    ) -> types.WebhookWithSecret:
        """Make a new secret."""
        return await self._transport.send(
            Call[types.WebhookWithSecret](
                "POST",
                f"/webhooks/{segment('webhook_id', webhook_id)}/secret",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def test(self, webhook_id: str, *, idempotency_key: str | None = None) -> types.Delivery:
        """Send a delivery of the type `webhook.test`."""
        return await self._transport.send(
            Call[types.Delivery](
                "POST",
                f"/webhooks/{segment('webhook_id', webhook_id)}/test",
                idempotency_key=idempotency_key or new_key(),
            )
        )

    async def redeliver(
        self, delivery_id: str, *, idempotency_key: str | None = None
    ) -> types.Delivery:
        """Send a delivery again, under the same `webhook-id`, with all attempts before it."""
        return await self._transport.send(
            Call[types.Delivery](
                "POST",
                f"/webhooks/deliveries/{segment('delivery_id', delivery_id)}/redeliver",
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncWorkspace:
    """Calls about workspace."""

    def __init__(self, transport: AsyncTransport):
        self._transport = transport

    async def deletion(self) -> types.Deletion:
        """Show how far the deletion of the workspace is."""
        return await self._transport.send(Call[types.Deletion]("GET", "/workspace/deletion"))

    async def delete(self, slug: str, *, idempotency_key: str | None = None) -> types.Deletion:
        """Close the workspace at once and for good, and delete it in the background."""
        return await self._transport.send(
            Call[types.Deletion](
                "POST",
                "/workspace/deletion",
                body=given(slug=slug),
                idempotency_key=idempotency_key or new_key(),
            )
        )


class AsyncEngram(AsyncTransport):
    """A client of one workspace: the one that its key belongs to.

    `url` and `key` are read from ENGRAM_URL and ENGRAM_KEY when they are not given.
    """

    def __init__(
        self,
        url: str | None = None,
        key: str | None = None,
        *,
        timeout: float | httpx.Timeout = TIMEOUT,
        retry: Retry | None = None,
        http: httpx.AsyncClient | None = None,
    ):
        super().__init__(url, key, timeout=timeout, retry=retry, http=http)
        self._transport = self
        self.analytics = AsyncAnalytics(self._transport)
        self.conflicts = AsyncConflicts(self._transport)
        self.detections = AsyncDetections(self._transport)
        self.diagnostics = AsyncDiagnostics(self._transport)
        self.gate = AsyncGate(self._transport)
        self.janitor = AsyncJanitor(self._transport)
        self.keys = AsyncKeys(self._transport)
        self.memories = AsyncMemories(self._transport)
        self.merge_suggestions = AsyncMergeSuggestions(self._transport)
        self.mutings = AsyncMutings(self._transport)
        self.notes = AsyncNotes(self._transport)
        self.prediction_errors = AsyncPredictionErrors(self._transport)
        self.predictor = AsyncPredictor(self._transport)
        self.questions = AsyncQuestions(self._transport)
        self.refusals = AsyncRefusals(self._transport)
        self.reviews = AsyncReviews(self._transport)
        self.sessions = AsyncSessions(self._transport)
        self.settings = AsyncSettings(self._transport)
        self.webhooks = AsyncWebhooks(self._transport)
        self.workspace = AsyncWorkspace(self._transport)

    async def context(
        self,
        task: str,
        *,
        k: int | Unset = UNSET,
        project: str | Unset = UNSET,
        budget_chars: int | Unset = UNSET,
        record: bool | Unset = UNSET,
    ) -> types.ContextAnswer:
        """Return the memories and the passages of notes that belong to a task."""
        return await self._transport.send(
            Call[types.ContextAnswer](
                "POST",
                "/context",
                body=given(
                    task=task, k=k, project=project, budget_chars=budget_chars, record=record
                ),
            )
        )

    def events(
        self,
        *,
        actor: str | Unset = UNSET,
        limit: int | Unset = UNSET,
        object: str | Unset = UNSET,
        since: datetime | str | Unset = UNSET,
        type: t.Literal[
            "calibration.drawn",
            "calibration.labelled",
            "calibration.reopened",
            "comparison.recorded",
            "conflict.assigned",
            "conflict.commented",
            "conflict.joined",
            "conflict.opened",
            "conflict.reopened",
            "conflict.resolved",
            "conflict.snoozed",
            "digest.daily",
            "drift.found",
            "extraction.finished",
            "extraction.queued",
            "extraction_refusal.kept",
            "extraction_refusal.left_out",
            "extraction_refusal.reopened",
            "inbox.put_off",
            "inbox.taken_up",
            "janitor.ran",
            "janitor.undone",
            "key.issued",
            "key.revoked",
            "member.added",
            "member.changed",
            "member.declined",
            "member.invitation_revoked",
            "member.invited",
            "member.removed",
            "memory.answered",
            "memory.committed",
            "memory.culled",
            "memory.demoted",
            "memory.demotion_undone",
            "memory.disputed",
            "memory.erased",
            "memory.forgotten",
            "memory.judged",
            "memory.merged",
            "memory.released",
            "memory.restored",
            "memory.retired",
            "memory.revised",
            "memory.separated",
            "memory.signalled",
            "memory.source_forgotten",
            "memory.split",
            "memory.superseded",
            "memory.suppressed",
            "memory.upheld",
            "merge.audit_undone",
            "merge.audited",
            "merge.rejected",
            "merge.reopened",
            "merge.suggested",
            "muting.accepted",
            "muting.ended",
            "muting.proposed",
            "muting.rejected",
            "muting.reopened",
            "muting.withdrawn",
            "note.changed",
            "note.created",
            "note.deleted",
            "prediction_error.reopened",
            "prediction_error.resolved",
            "predictor.cold_start_exit",
            "predictor.disabled",
            "predictor.drift_reset",
            "predictor.enabled",
            "predictor.imported",
            "predictor.reset",
            "predictor.unlearned",
            "retention.applied",
            "review.accepted",
            "review.lapsed",
            "review.opened",
            "review.rejected",
            "review.reopened",
            "session.deleted",
            "session.ended",
            "session.imported",
            "session.judged",
            "session.prompted",
            "session.reported",
            "session.started",
            "session.transcript_taken",
            "settings.changed",
            "training.finished",
            "training.started",
            "webhook.changed",
            "webhook.created",
            "webhook.deleted",
            "webhook.disabled",
            "workspace.closed",
            "workspace.imported",
            "workspace.reembedded",
            "writer.rolled_back",
        ]
        | Unset = UNSET,
    ) -> AsyncPages[types.Event, types.PaginatedEventList]:
        """The append-only history of the workspace."""
        return AsyncPages(
            self._transport.send,
            Call[types.PaginatedEventList](
                "GET",
                "/events",
                query=asked(actor=actor, limit=limit, object=object, since=since, type=type),
            ),
        )

    def inbox(
        self,
        *,
        limit: int | Unset = UNSET,
        severity: t.Literal["high", "medium", "low"] | Unset = UNSET,
        source: t.Literal[
            "conflicts", "reviews", "drift", "suggestions", "calibration", "mutings", "refusals"
        ]
        | Unset = UNSET,
    ) -> AsyncPages[types.InboxItem, types.Inbox]:
        """List the items of all kinds that wait for people, the most urgent first."""
        return AsyncPages(
            self._transport.send,
            Call[types.Inbox](
                "GET", "/inbox", query=asked(limit=limit, severity=severity, source=source)
            ),
        )

    async def job(self, job_id: str) -> types.Job:
        """Show how far a job is and what came of it, for 30 days."""
        return await self._transport.send(
            Call[types.Job]("GET", f"/jobs/{segment('job_id', job_id)}")
        )

    async def recall(
        self,
        query: str,
        *,
        k: int | Unset = UNSET,
        scope: str | Unset = UNSET,
        project: str | Unset = UNSET,
        kinds: Sequence[types.MemoryKind] | Unset = UNSET,
        min_score: float | t.Literal["auto"] | Unset | None = UNSET,
        explain: bool | Unset = UNSET,
        record: bool | Unset = UNSET,
        session_key: str | Unset | None = UNSET,
        as_of: datetime | str | Unset | None = UNSET,
        graph: bool | Unset | None = UNSET,
        rerank: bool | Unset | None = UNSET,
        weights: types.WeightsRequest | Unset | None = UNSET,
    ) -> types.RecallAnswer:
        """Return the memories that answer a query, best first."""
        return await self._transport.send(
            Call[types.RecallAnswer](
                "POST",
                "/memories/recall",
                body=given(
                    query=query,
                    k=k,
                    scope=scope,
                    project=project,
                    kinds=kinds,
                    min_score=min_score,
                    explain=explain,
                    record=record,
                    session_key=session_key,
                    as_of=as_of,
                    graph=graph,
                    rerank=rerank,
                    weights=weights,
                ),
            )
        )

    async def pipeline_status(self) -> types.Pipeline:
        """Return the processes with their counts for this workspace."""
        return await self._transport.send(Call[types.Pipeline]("GET", "/pipeline/status"))

    async def timeline(self, session_key: str) -> types.Timeline:
        """Return the session's memories, rankings, judging and errors, oldest first."""
        return await self._transport.send(
            Call[types.Timeline]("GET", f"/timeline/{segment('session_key', session_key)}")
        )
