"""What the API takes and answers, as typed dictionaries.

Written by generate.py from the API's description: `make client` writes it anew.
"""

from __future__ import annotations

import typing as t

Action = t.Literal["still_true", "dismiss", "updated"]
AnswerSource = t.Literal["written", "rule", "model"]
AskedByKind = t.Literal["key", "user", "system"]
BatchedOutcome = t.Literal[
    "created", "merged", "duplicate", "kept_apart", "suggested", "suppressed", "pending"
]
Code = t.Literal[
    "returned",
    "state",
    "scope",
    "project",
    "kinds",
    "nothing_asked",
    "not_embedded",
    "unrelated",
    "min_score",
    "relevance",
    "rank",
    "stage",
]
CommittedOutcome = t.Literal[
    "created", "merged", "duplicate", "kept_apart", "suggested", "suppressed"
]
ConflictKind = t.Literal["reversal", "ambiguity", "stale"]
ConflictStatus = t.Literal["open", "resolved", "dismissed", "snoozed"]
Decision = t.Literal["undecided", "kept", "left_out"]
Deed = t.Literal["demote", "cull", "report"]
DeletionStatus = t.Literal["queued", "running", "done"]
DeliveryStatus = t.Literal["waiting", "delivered", "given_up"]
DetectAnswerStatus = t.Literal["queued"]
DetectionStatusStatus = t.Literal["queued", "off"]
Detector = t.Literal["rules", "narrative", "agent", "person"]
DraftedBy = t.Literal["baseline", "predictor"]
ErrorType = t.Literal[
    "low_overlap", "contextual_mismatch", "memory_drift", "memory_external_signal"
]
Events = t.Literal[
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
    "workspace.imported",
    "workspace.reembedded",
    "writer.rolled_back",
]
FindingReason = t.Literal[
    "unused", "demoted_often", "user_stated", "pinned", "constraint", "disputed", "at_floor"
]
FurtherReasonKind = t.Literal["shared_note", "shared_entity"]
GateOutcome = t.Literal["created", "merged", "suggested", "kept_apart"]
GateRelation = t.Literal["same", "refines", "contradicts", "different"]
GivenAnswerState = t.Literal[
    "holds", "left", "disputed", "passing", "superseded", "retired", "culled", "expired"
]
Health = t.Literal["healthy", "degraded", "unhealthy"]
JobStatus = t.Literal["queued", "running", "done", "failed"]
JudgeKind = t.Literal["agent", "model", "offline"]
JudgeStatus = t.Literal["due", "done", "skipped", "failed"]
JudgedRelation = t.Literal["same", "refines", "contradicts", "replaces", "different"]
KeptForKind = t.Literal["sessions", "transcripts", "recalls", "queries"]
MemoryKind = t.Literal["semantic", "episodic", "procedural", "decision", "constraint"]
MemoryLinkKind = t.Literal[
    "superseded_by",
    "source",
    "derived",
    "note",
    "shared_note",
    "shared_entity",
    "previous",
    "next",
    "recalled_together",
]
MemoryState = t.Literal["forgotten", "culled", "retired", "superseded", "expired", "active"]
Mode = t.Literal["off", "collect", "on"]
MutingStatus = t.Literal["pending", "muted", "rejected", "unmuted"]
Narrative = t.Literal["off", "not_needed", "waiting", "done", "capped", "failed"]
NoteLinkReason = t.Literal["unresolved", "ambiguous", "self", "attachment", "heading_missing"]
Origin = t.Literal["recall", "context"]
PendingStatus = t.Literal["pending"]
Phase = t.Literal["collecting", "warming", "ramp", "active", "retraining"]
Provenance = t.Literal["user_stated", "episode_summary", "assistant_derived"]
PutNoteOutcome = t.Literal["created", "changed", "unchanged"]
Ranker = t.Literal["source", "cosine", "baseline", "linear", "model", "served"]
RefusalReason = t.Literal[
    "third_party_text",
    "procedural_fragment",
    "question",
    "too_short",
    "too_long",
    "tautology",
    "command",
    "proposal",
    "speculation",
    "quote",
    "status_chatter",
    "ephemeral_state",
    "not_lasting",
    "already_known",
    "repeated",
    "too_many",
    "credential",
    "quote_not_found",
    "not_to_be_stored",
]
RelatedOutcome = t.Literal[
    "opened",
    "joined",
    "known",
    "decided",
    "kept",
    "capped",
    "disputed",
    "replaced",
    "suggested",
    "apart",
    "noted",
]
Relation = t.Literal["same", "refines", "contradicts", "different"]
ReportItemKind = t.Literal["wrong", "missing"]
ReportKeptOutcome = t.Literal["kept", "capped"]
ReportedOutcome = t.Literal["opened", "joined", "known"]
ResolutionValue = t.Literal[
    "still_true",
    "dismissed",
    "updated",
    "memory_forgotten",
    "memory_hidden",
    "note_deleted",
    "link_gone",
    "note_agrees",
    "promoted",
    "note_near",
]
ReviewKind = t.Literal[
    "supersede", "replace", "revise", "forget", "revive", "claim", "source_forgotten"
]
ReviewStatus = t.Literal["pending", "accepted", "rejected", "lapsed"]
Role = t.Literal["reader", "agent", "reviewer", "admin"]
Said = t.Literal["apart", "same"]
SessionState = t.Literal["open", "ended", "abandoned"]
Severity = t.Literal["low", "medium", "high"]
Source = t.Literal["effective", "predictor", "both", "exploration", "fts_only"]
SuggestedBy = t.Literal["gate", "agent", "person", "split"]
SuggestionStatus = t.Literal["open", "accepted", "rejected", "lapsed"]
TrainingStatus = t.Literal["running", "promoted", "rejected", "failed", "skipped"]
Type = t.Literal["memory", "note"]
Urgency = t.Literal["high", "medium", "low"]
Verb = t.Literal["demote", "cull"]
Verdict = t.Literal["yes", "no", "keep", "both_valid", "none_valid", "dismiss"]
WalkStepKind = t.Literal["memory", "entity", "note", "query"]
Window = t.Literal["1h", "6h", "24h", "7d", "30d"]
Winner = t.Literal["predictor", "baseline", "tie", "void"]
Withheld = t.Literal["erased", "forgotten", "calibration"]


class Agent(t.TypedDict):
    """The verdicts on what one agent judged or reported."""

    decided: int
    confirmed: Share
    dismissed: Share
    both_valid: int
    agent: str


class AgentReport(t.TypedDict):
    """What the agent reported at the end of its session."""

    at: str
    used: dict[str, float]
    wrong: list[AgentReportWrong]
    missing: list[str | None]


class AgentReportWrong(t.TypedDict):
    """A memory that the agent reported as wrong."""

    memory: str
    reason: str | None


class AgentsWeight(t.TypedDict):
    """How much the word of the session's agent weighs, by its key's record with people."""

    weight: float
    agreed: int
    checked: int


class AlsoFound(t.TypedDict):
    """A card that the rules would have opened in addition."""

    kind: ConflictKind
    memories: list[str]
    confidence: float


class AnsweredErrors(t.TypedDict):
    """What one answer to several prediction errors did."""

    resolved: int
    ids: list[str]
    skipped: list[SkippedError]
    left: int


class Ask(t.TypedDict):
    """A pair whose relation was asked about in the answer to a commit, and is not …"""

    id: str
    memory: RelatedMemory
    other: RelatedMemory
    why: str
    created_at: str
    expires_at: str


class Asked(t.TypedDict):
    """What else a recall asked for; what was as by default is left out."""

    scope: t.NotRequired[str]
    project: t.NotRequired[str]
    kinds: t.NotRequired[list[MemoryKind]]
    min_score: t.NotRequired[float | None]
    graph: t.NotRequired[bool]
    rerank: t.NotRequired[bool]
    as_of: t.NotRequired[str]
    weights: t.NotRequired[dict[str, float]]


class AskedBy(t.TypedDict):
    """The requester of a review, as in history."""

    kind: AskedByKind
    label: str


class Association(t.TypedDict):
    """One of the results that links led to."""

    memory: Memory
    activation: float
    path: list[str]
    steps: list[WalkStep]


class Audit(t.TypedDict):
    """All records of a session."""

    session: AuditSession
    memories: list[Inspected]
    judgement: Judgement | None
    comparison: Comparison | None
    moved: str
    trainings: list[Training]
    is_canary: bool


class AuditSession(t.TypedDict):
    """The session."""

    id: str
    session_key: str
    project: str
    scope: str
    embedding_model: str
    started_at: str
    ended_at: str | None
    gap_hours: float | None
    prompt_count: int
    alpha: float
    phase: str
    model_version: int | None
    has_opinion: bool
    no_opinion_reason: str
    is_drafted: bool
    draft_share: float
    status_line: str


class Backlinks(t.TypedDict):
    """What links a note."""

    notes: list[NoteReference]
    notes_total: int
    memories: list[MemoryReference]
    memories_total: int


class BatchAnswer(t.TypedDict):
    """The results of a batch, in order."""

    results: list[Batched]


class Batched(t.TypedDict):
    """One result of a batch; a `pending` one waits for a reviewer, the others are written."""

    outcome: BatchedOutcome
    memory: Memory | None
    gate: Gate
    nearby: list[Nearby]
    detection: DetectionStatus
    review: str | None


class Breaker(t.TypedDict):
    """Circuit breaker: whether failures have switched scoring off."""

    is_open: bool
    until: str | None
    failures: int
    threshold: int


class CalibrationMemory(t.TypedDict):
    """A memory to be labelled, without any ranker's score and the judge's relevance."""

    id: str
    memory_id: str
    content: str
    observed_at: str


class CalibrationSession(t.TypedDict):
    """One session with the memories to be labelled in it."""

    session_key: str
    project: str
    context: str
    started_at: str
    transcript_part: str
    is_as_judged: bool
    part_words: str
    memories: list[CalibrationMemory]


class Candidate(t.TypedDict):
    """One record of a session; without the text of a memory that is hidden now."""

    rank: int | None
    baseline_rank: int | None
    baseline_score: float | None
    recall_score: float | None
    effectiveness: float | None
    predictor_rank: int | None
    predictor_score: float | None
    linear_score: float | None
    cosine: float | None
    fused_score: float | None
    feedback: float | None
    memory_id: str
    content: str | None
    hidden: bool
    revision: int
    relevance: float | None
    source: Source
    diversity: float
    final_score: float
    injected: bool
    always: bool
    drafted_by: DraftedBy | t.Literal[""]
    propensity: float | None
    hits: int


class Change(t.TypedDict):
    """One setting that would change."""

    name: str
    value: t.Any
    asked: t.Any


class Comment(t.TypedDict):
    """A comment on a card."""

    author: str
    text: str
    created_at: str


class Committed(t.TypedDict):
    """The response to a commit."""

    outcome: CommittedOutcome
    memory: Memory | None
    gate: Gate
    nearby: list[Nearby]
    detection: DetectionStatus


class Comparison(t.TypedDict):
    """Comparison of the two rankings of one session."""

    id: str
    session_key: str
    project: str
    winner: Winner
    void_reason: str
    predictor_ndcg: float | None
    baseline_ndcg: float | None
    margin: float | None
    is_drafted: bool
    drafted_margin: float | None
    drafted_void_reason: str
    judge_confidence: float | None
    ema_updated: bool
    is_out_of_sample: bool
    model_version: int | None
    alpha_served: float
    alpha: float
    phase: str
    success_rate: float
    literal_alpha: float
    is_drift_reset: bool
    is_literal_reset: bool
    fts_overlap: float | None
    created_at: str


class Conflict(t.TypedDict):
    """A card."""

    id: str
    kind: ConflictKind
    status: ConflictStatus
    question: str
    reasoning: str
    model_reasoning: str
    memories: list[Member]
    unlisted_count: int
    detected_by: list[Detector]
    rule: Rule
    further_rules: list[Rule]
    severity: Severity
    suggestion: Suggestion
    yes_keeps: list[str]
    version: int
    assignee: str | None
    comments: list[Comment]
    snoozed_until: str | None
    reopened_from: str | None
    decided_before: str | None
    created_at: str
    updated_at: str
    resolution: Resolution | None


class ConflictDetail(t.TypedDict):
    """A card with the consequences of each verdict."""

    id: str
    kind: ConflictKind
    status: ConflictStatus
    question: str
    reasoning: str
    model_reasoning: str
    memories: list[Member]
    unlisted_count: int
    detected_by: list[Detector]
    rule: Rule
    further_rules: list[Rule]
    severity: Severity
    suggestion: Suggestion
    yes_keeps: list[str]
    version: int
    assignee: str | None
    comments: list[Comment]
    snoozed_until: str | None
    reopened_from: str | None
    decided_before: str | None
    created_at: str
    updated_at: str
    resolution: Resolution | None
    aside: list[str]
    consequences: list[Consequence]
    listing: str


class Consequence(t.TypedDict):
    """What a verdict would do now; memories that it does not list are not changed."""

    verdict: Verdict
    is_possible: bool
    needs_keep: bool
    kept: list[str]
    superseded: list[str]
    superseded_by: str | None
    retired: list[str]
    reason: str


class ContextAnswer(t.TypedDict):
    """The context of a task."""

    memories: list[Recalled]
    notes: list[Passage]
    text: str
    left_out: LeftOut
    reason: str
    notes_reason: str
    took_ms: float


class Decided(t.TypedDict):
    """One conflict that people decided since the caller's last session."""

    conflict: str
    question: str
    verdict: str
    outcome: str


class Deletion(t.TypedDict):
    """The deletion of a workspace."""

    id: str
    status: DeletionStatus
    progress: float
    rows_total: int | None
    rows_deleted: int
    requested_at: str
    started_at: str | None
    error: str


class Delivery(t.TypedDict):
    """A delivery: one event for one webhook."""

    id: str
    webhook: str
    type: str
    event: int | None
    object_type: str
    object: str
    at: str
    status: DeliveryStatus
    attempts: int
    attempted_at: str | None
    next_attempt_at: str | None
    delivered_at: str | None
    status_code: int | None
    note: str


class DemotableFields(t.TypedDict):
    """The fields of a memory that the janitor may change."""

    weight_factor: float
    confidence_factor: float
    demotion_count: int
    demoted_at: str | None
    culled_at: str | None


class DetectAnswer(t.TypedDict):
    """The number of queued memories."""

    status: DetectAnswerStatus
    memories: int


class DetectionReplay(t.TypedDict):
    """The replay of detection."""

    cards: int
    is_cut: bool
    as_set: KindCounts
    as_asked: KindCounts
    dismissed_spared: list[str]
    confirmed_missed: list[str]
    undecided_gone: list[str]
    came_back: list[str]
    also: list[AlsoFound]
    also_count: int


class DetectionRun(t.TypedDict):
    """One detection run, by the rules or (reasons `answers` and `narrative`) by a model."""

    id: str
    status: str
    reason: str
    trigger_count: int
    facts_considered: int
    facts_forgotten: int
    left_unread: int
    batches: int
    narrative: Narrative
    model: str
    prompt_version: str
    tokens: int
    cost_usd: float
    survivors: list[str]
    dropped: int
    opened: int
    joined: int
    skipped: int
    lag_seconds: float | None
    duration_seconds: float | None
    error: str
    created_at: str


class DetectionStatus(t.TypedDict):
    """Return whether conflict detection will read the memory."""

    status: DetectionStatusStatus


class Detectors(t.TypedDict):
    """The verdicts on what each detector found; a card that two found counts for both."""

    rules: Judged
    narrative: Judged
    agent: Judged
    person: Judged


class Diagnostics(t.TypedDict):
    """The health of all parts; the overall status is the worst."""

    at: str
    score: float
    status: Health
    domains: Domains


class Domain(t.TypedDict):
    """The health of one part; the names in `fields` depend on the part."""

    score: float
    status: Health
    says: str
    fields: dict[str, t.Any]


class Domains(t.TypedDict):
    """Every part by its name."""

    predictor: PredictorDomain
    queue: Domain
    storage: Domain
    index: Domain
    provider: Domain
    detection: Domain
    duplicates: Domain
    gate: Domain


class DraftRequest(t.TypedDict):
    """The body of a commit."""

    content: str
    scope: t.NotRequired[str]
    project: t.NotRequired[str]
    kind: t.NotRequired[MemoryKind]
    confidence: t.NotRequired[float | None]
    importance: t.NotRequired[float]
    tags: t.NotRequired[list[str]]
    pinned: t.NotRequired[bool]
    metadata: t.NotRequired[dict[str, t.Any]]
    expires_at: t.NotRequired[str | None]
    ttl_seconds: t.NotRequired[int | None]
    source: t.NotRequired[str | None]
    answers: t.NotRequired[list[MemoryAnswerRequest]]
    provenance: t.NotRequired[Provenance]
    agent: t.NotRequired[str]
    session_key: t.NotRequired[str]
    supersedes: t.NotRequired[str | None]
    observed_at: t.NotRequired[str | None]
    derived_from: t.NotRequired[list[str]]
    revive: t.NotRequired[bool]


class DraftedLists(t.TypedDict):
    """Both rankings side by side since the last reset, and how far adoption is."""

    drafted: Measured
    others: Measured
    void: list[VoidSessions]
    adopted_at: int
    missing_sessions: int | None
    draft_share: float
    says: str


class Drift(t.TypedDict):
    """The served and the literal drift rule over time, oldest first, and the judge's drift."""

    limit: float
    drift_resets: int
    literal_resets: int
    points: list[DriftPoint]
    judge: JudgeDrift


class DriftPoint(t.TypedDict):
    """State of the drift rules after one session."""

    comparison: str
    session_key: str
    at: str
    margin: float | None
    drift_sum: float
    phase: str
    alpha: float
    success_rate: float
    literal_alpha: float
    is_drift_reset: bool
    is_literal_reset: bool


class Ended(t.TypedDict):
    """An ended session; it is judged in the background."""

    session_key: str
    ended_at: str
    job: str | None


class Entry(t.TypedDict):
    """One entry of a timeline."""

    at: str
    source: str
    event: str
    details: dict[str, t.Any]
    actor: str
    object: str
    text: str | None


class Error(t.TypedDict):
    """One failure of one stage."""

    id: int
    at: str
    stage: str
    code: str
    detail: str
    session_key: str


class ErrorMemory(t.TypedDict):
    """The memory of a prediction error."""

    content: str
    tags: list[str]
    created_at: str


class Event(t.TypedDict):
    """One event."""

    seq: int
    type: str
    object_type: str
    object: str
    actor_kind: str
    actor_id: str
    actor: str
    session_key: str
    data: t.Any
    at: str


class Evidence(t.TypedDict):
    """Evidence from the margins of recent drafted lists, discounted by age."""

    mean_margin: float
    z: float
    n_eff: float
    wealth: float
    drift_sum: float
    draft_share: float
    out_of_sample: int
    active_sessions: int


class FeedbackGiven(t.TypedDict):
    """The stored feedback."""

    session_key: str
    memory_id: str
    value: float


class Figure(t.TypedDict):
    """A figure with its 95 % interval; null without labels."""

    value: float | None
    low: float
    high: float


class Finding(t.TypedDict):
    """The action that a run would take on one memory, and the reason."""

    memory: Memory
    deed: Deed
    reason: FindingReason
    weight_factor: float
    confidence_factor: float


class ForgetAnswer(t.TypedDict):
    """The forgotten memories or a preview; `status` and the first `review` when all are …"""

    would_forget: t.NotRequired[list[Forgettable]]
    would_wait: t.NotRequired[list[str]]
    status: t.NotRequired[str]
    review: t.NotRequired[str]
    forgotten: t.NotRequired[int]
    ids: t.NotRequired[list[str]]
    pending: t.NotRequired[list[Waiting]]
    capped: t.NotRequired[bool]
    reason: t.NotRequired[str]


class Forgettable(t.TypedDict):
    """A memory that would be forgotten."""

    id: str
    lineage: str
    content: str
    scope: str
    project: str
    kind: MemoryKind
    provenance: Provenance
    confidence: float
    importance: float
    tags: list[str]
    agent: str
    session_key: str
    pinned: bool
    metadata: dict[str, t.Any]
    source: str | None
    state: MemoryState
    revision: int
    supersedes: str | None
    superseded_by: str | None
    derived_from: list[str]
    answers: list[ShownAnswer]
    observed_at: str
    expires_at: str | None
    created_at: str
    updated_at: str
    forgotten_at: str | None
    recall_count: int
    injected_count: int
    hit_count: int
    used_count: int
    last_recalled_at: str | None
    embedding_pending: bool
    disputed: bool
    conflicts: list[str]
    cosine: float | None


class FurtherReason(t.TypedDict):
    """A further reason for a link."""

    kind: FurtherReasonKind
    name: str


class Gate(t.TypedDict):
    """The report of the redundancy gate."""

    nearest_id: str | None
    similarity: float | None
    relation: GateRelation | None
    reasons: list[str]


class GateMetrics(t.TypedDict):
    """The gate's metrics."""

    since: str
    until: str
    commits: int
    trigger_rate: Share
    merged: int
    kept_apart: int
    suggested: int
    duplicates: int
    splits: int
    suggestions_open: int
    suggestions_accepted: int
    suggestions_rejected: int
    redundant_a_week: float
    noise_share: Share
    false_merge_rate: Share
    judged_wrong: int
    weeks: list[Week]


class GateReplay(t.TypedDict):
    """The replay of the gate."""

    commits: int
    replayed: int
    left_out: NotReplayed
    is_cut: bool
    as_set: Outcomes
    as_asked: Outcomes
    moves: list[Move]
    examples: list[Moved]
    merged_against_people: int
    unmerged_against_people: int


class GivenAnswer(t.TypedDict):
    """An answer, with the memory that gives it, or gave it."""

    answer: str
    was: str | None
    question: str
    memory: str
    content: str
    scope: str
    agent: str
    source: AnswerSource
    observed_at: str
    state: GivenAnswerState
    until: str | None
    replaced_by: str | None


class HistoryEntry(t.TypedDict):
    """One event of a memory, with the wording that it refers to, if any."""

    seq: int
    type: str
    at: str
    actor: str
    session_key: str
    data: dict[str, t.Any]
    content: str | None


class Hit(t.TypedDict):
    """One memory that a prompt matched."""

    id: str
    content: str
    disputed: bool
    conflicts: list[str]
    contradicted_by: Opposite | None
    score: float
    relevance: float
    source: Source | None
    injected: bool
    hits: int


class Inbox(t.TypedDict):
    """Counts of waiting items, and one page of them, the most urgent first."""

    count: int
    sources: list[InboxSource]
    results: list[InboxItem]
    next: str | None
    previous: str | None


class InboxItem(t.TypedDict):
    """A waiting item; `id` is that of the conflict, review, suggestion or another kind."""

    source: str
    id: str
    kind: str
    severity: Urgency
    title: str
    since: str
    size: int


class InboxSource(t.TypedDict):
    """A source of items that wait for people."""

    name: str
    title: str
    count: int
    oldest: str | None


class Inspected(t.TypedDict):
    """One memory of a session with its ranks, judgement and label."""

    rank: int | None
    baseline_rank: int | None
    baseline_score: float | None
    recall_score: float | None
    effectiveness: float | None
    predictor_rank: int | None
    predictor_score: float | None
    linear_score: float | None
    cosine: float | None
    fused_score: float | None
    feedback: float | None
    id: str
    content: str | None
    state: MemoryState
    source: Source | None
    diversity: float | None
    final_score: float | None
    was_injected: bool
    is_always: bool
    is_relevant: bool
    drafted_by: DraftedBy | t.Literal[""]
    propensity: float | None
    fts_hit_count: int
    signals: list[float]
    relevance: float | None
    raw: float | None
    final: float | None
    reasons: list[str]
    chance: float | None
    is_sampled: bool
    is_blind: bool


class InspectedComparison(t.TypedDict):
    """A comparison with the records it was computed from."""

    id: str
    session_key: str
    project: str
    winner: Winner
    void_reason: str
    predictor_ndcg: float | None
    baseline_ndcg: float | None
    margin: float | None
    is_drafted: bool
    drafted_margin: float | None
    drafted_void_reason: str
    judge_confidence: float | None
    ema_updated: bool
    is_out_of_sample: bool
    model_version: int | None
    alpha_served: float
    alpha: float
    phase: str
    success_rate: float
    literal_alpha: float
    is_drift_reset: bool
    is_literal_reset: bool
    fts_overlap: float | None
    created_at: str
    moved: str
    baseline: list[Inspected]
    predictor: list[Inspected]
    others: list[Inspected]
    judgement: Judgement | None
    evidence_before: StateOfEvidence | None
    evidence_after: StateOfEvidence


class IssuedKey(t.TypedDict):
    """A new key with its secret, which is shown only once."""

    id: str
    name: str
    role: Role
    provenance_ceiling: Provenance
    relay: bool
    may_pin: bool
    agent: str
    prefix: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    use_count: int
    key: str


class JanitorAction(t.TypedDict):
    """One action of a run."""

    id: str
    run_id: str
    memory_id: str
    verb: Verb
    before: DemotableFields
    after: DemotableFields
    at: str
    undone_at: str | None


class JanitorPreview(t.TypedDict):
    """The preview of a run: the counts of the whole run, and one page, oldest memories …"""

    cull: bool
    examined: int
    demoted: int
    culled: int
    reported: int
    results: list[Finding]
    next: str | None
    previous: str | None


class JanitorRun(t.TypedDict):
    """One run."""

    cull: bool
    examined: int
    demoted: int
    culled: int
    reported: int
    id: str
    started_at: str
    actor: str
    undone_at: str | None


class Job(t.TypedDict):
    """A job in the background."""

    id: str
    kind: str
    status: JobStatus
    progress: float
    result: dict[str, t.Any]
    error: str
    created_at: str
    started_at: str | None
    finished_at: str | None


class Judge(t.TypedDict):
    """Agreement of one judge, by kind and version, in total and by month."""

    n: int
    mae: Figure
    bias: Figure
    agreement: Figure
    is_flagged: bool
    kind: JudgeKind
    version: str
    months: list[MonthOfJudge]


class JudgeCalibration(t.TypedDict):
    """Agreement of the judge with people, over the newest 5,000 blind labels."""

    n: int
    mae: Figure
    bias: Figure
    agreement: Figure
    is_flagged: bool
    threshold: float
    judges: list[Judge]
    waiting: int
    unsure: int
    relabelled: int
    last_drawn_at: str | None


class JudgeDrift(t.TypedDict):
    """Return whether the judge's preference for new or old memories exceeds the threshold."""

    threshold: float
    latest: float | None
    is_drifting: bool
    windows: list[JudgeWindow]


class JudgeDriftSign(t.TypedDict):
    """Mean relevance of memories younger than 7 days minus that of ones older than 30."""

    signal: float | None
    threshold: float
    is_over: bool


class JudgeError(t.TypedDict):
    """The judge's error against people."""

    labels: int
    mean_absolute_error: float | None
    threshold: float
    is_over: bool
    waiting: int


class JudgeFigures(t.TypedDict):
    """Every ranker over the sessions that one kind of judge judged."""

    sessions: int
    since: str | None
    standings: list[Standing]
    judge: str


class JudgeWindow(t.TypedDict):
    """One week of the judge: mean relevance of memories under 7 and over 30 days old."""

    since: str
    until: str
    young: float | None
    old: float | None
    young_count: int
    old_count: int
    drift: float | None


class Judged(t.TypedDict):
    """Counts of people's verdicts on some of the cards."""

    decided: int
    confirmed: Share
    dismissed: Share
    both_valid: int


class JudgedBy(t.TypedDict):
    """The sessions that one kind of judge has judged."""

    judge: JudgeKind
    sessions: int
    void: int


class JudgedOrders(t.TypedDict):
    """In how many orders a language model was shown the memories; its mean counts."""

    read: int
    left_out: str


class Judgement(t.TypedDict):
    """The judge's answer for the session."""

    status: JudgeStatus
    kind: JudgeKind | t.Literal[""]
    version: str
    model: str
    overall: float | None
    confidence: float | None
    is_flat: bool
    void_reason: str
    missing_topics: list[str]
    novel_context_count: int
    reasoning: str
    agent: AgentsWeight | None
    orders: JudgedOrders | None
    withheld: Withheld | t.Literal[""]
    judged_at: str | None
    due_since: str
    error: str


class Kept(t.TypedDict):
    """A memory of the writer that is not forgotten, and the reason."""

    id: str
    reason: str


class KeptFor(t.TypedDict):
    """One limit."""

    kind: KeptForKind
    setting: str
    days: int | None
    keeps_since: str | None
    due: int


class Key(t.TypedDict):
    """A key without its secret, with its claims."""

    id: str
    name: str
    role: Role
    provenance_ceiling: Provenance
    relay: bool
    may_pin: bool
    agent: str
    prefix: str
    created_at: str
    expires_at: str | None
    revoked_at: str | None
    last_used_at: str | None
    use_count: int


class KindCounts(t.TypedDict):
    """The number of cards by kind."""

    reversal: int
    ambiguity: int
    stale: int


class Kinds(t.TypedDict):
    """The verdicts of each kind."""

    reversal: Judged
    ambiguity: Judged
    stale: Judged


class KnownQuestion(t.TypedDict):
    """A question that memories answer, in the wording of its newest answer."""

    id: str
    question: str
    answer: str
    since: str
    agent: str
    memory: str
    source: AnswerSource
    scope: str
    disputed: bool
    conflicts: list[str]
    also: list[str]
    answers_count: int


class Labelled(t.TypedDict):
    """A labelled item with the judge's relevance."""

    id: str
    label: float | None
    unsure: bool
    relabelled: bool
    labelled_by: str
    labelled_at: str
    judge_relevance: float | None
    judge_kind: JudgeKind
    judge_version: str
    waiting: int


class LastTraining(t.TypedDict):
    """The last finished training."""

    status: str
    reason: str
    finished_at: str | None
    loss: float | None
    version: int | None
    error: str


class Latencies(t.TypedDict):
    """The stages of a window from a full hour on; percentiles have an error of at most 5 %."""

    window: Window
    since: str
    stages: list[Latency]


class Latency(t.TypedDict):
    """The latency of one stage; null if it never ran."""

    stage: str
    count: int
    mean_ms: float | None
    p50_ms: float | None
    p95_ms: float | None
    p99_ms: float | None
    last_ms: float | None
    last_at: str | None


class LeftOut(t.TypedDict):
    """How much was found and does not fit into the budget."""

    memories: int
    notes: int


class Literal(t.TypedDict):
    """Figures of the source document's rules, shown for comparison only."""

    alpha: float
    success_rate: float
    resets: int


class Mean(t.TypedDict):
    """A mean over sessions with its bootstrap 95 % interval."""

    mean: float
    low: float
    high: float
    sessions: int


class Measured(t.TypedDict):
    """Mean nDCG@10 of both rankings, and their mean margin with its 95 % interval."""

    sessions: int
    baseline: float | None
    predictor: float | None
    margin: float | None
    low: float | None
    high: float | None


class Member(t.TypedDict):
    """A memory of a card; a forgotten one keeps its position, not its text."""

    id: str
    content: str | None
    scope: str
    agent: str
    provenance: str
    observed_at: str
    created_at: str
    state: MemoryState
    position: int


class Memory(t.TypedDict):
    """Every stored field of a memory, as `present` returns it."""

    id: str
    lineage: str
    content: str
    scope: str
    project: str
    kind: MemoryKind
    provenance: Provenance
    confidence: float
    importance: float
    tags: list[str]
    agent: str
    session_key: str
    pinned: bool
    metadata: dict[str, t.Any]
    source: str | None
    state: MemoryState
    revision: int
    supersedes: str | None
    superseded_by: str | None
    derived_from: list[str]
    answers: list[ShownAnswer]
    observed_at: str
    expires_at: str | None
    created_at: str
    updated_at: str
    forgotten_at: str | None
    recall_count: int
    injected_count: int
    hit_count: int
    used_count: int
    last_recalled_at: str | None
    embedding_pending: bool
    disputed: bool
    conflicts: list[str]


class MemoryAnswerRequest(t.TypedDict):
    """One question that a memory answers."""

    question: str
    answer: str
    was: t.NotRequired[str | None]
    source: t.NotRequired[str]


class MemoryLink(t.TypedDict):
    """One link of a memory."""

    kind: MemoryLinkKind
    other: Other
    name: str
    weight: float
    since: str
    also: list[FurtherReason]


class MemoryLinks(t.TypedDict):
    """The links of a memory to notes."""

    links: list[NoteLink]


class MemoryReference(t.TypedDict):
    """A recallable memory that links a note."""

    id: str
    content: str


class Merge(t.TypedDict):
    """One merge in the audit; texts of a forgotten memory are null."""

    id: str
    memory_id: str
    observation_id: str | None
    statement: str | None
    before: str | None
    after: str | None
    similarity: float | None
    relation: Relation
    reasons: list[str]
    merged_by: str
    created_at: str
    split_at: str | None
    correct: bool | None
    audited_by: str
    audited_at: str | None


class MergeSuggestion(t.TypedDict):
    """Two memories that are probably duplicates."""

    id: str
    status: SuggestionStatus
    relation: Relation
    similarity: float | None
    reasons: list[str]
    detected_by: SuggestedBy
    memories: list[SuggestionMember]
    conflicts: list[str]
    created_at: str
    decided_at: str | None
    decided_by: str


class MergeSuggestionDetail(t.TypedDict):
    """One suggestion with what a merge would drop."""

    id: str
    status: SuggestionStatus
    relation: Relation
    similarity: float | None
    reasons: list[str]
    detected_by: SuggestedBy
    memories: list[SuggestionMember]
    conflicts: list[str]
    created_at: str
    decided_at: str | None
    decided_by: str
    merges: list[SuggestionMerge]


class Month(t.TypedDict):
    """One month (UTC)."""

    decided: int
    confirmed: Share
    dismissed: Share
    both_valid: int
    month: str


class MonthOfJudge(t.TypedDict):
    """Agreement with the labels of one month (UTC)."""

    n: int
    mae: Figure
    bias: Figure
    agreement: Figure
    is_flagged: bool
    month: str


class Move(t.TypedDict):
    """The number of commits that would change from one outcome to another."""

    before: GateOutcome
    after: GateOutcome
    commits: int


class Moved(t.TypedDict):
    """One commit whose outcome would change."""

    observation: str
    memory: str
    nearest: str | None
    similarity: float | None
    before: GateOutcome
    after: GateOutcome
    said: Said | None


class Muting(t.TypedDict):
    """A proposal to mute a rule or a tier that people keep dismissing."""

    id: str
    rule: Rule
    status: MutingStatus
    confirmed: Share
    settled_by: str
    settled_at: str | None
    created_at: str


class Nearby(t.TypedDict):
    """A memory on the same subject that the rules could not judge: whose, since when, …"""

    id: str
    content: str
    scope: str
    agent: str
    observed_at: str
    why: str


class NextTraining(t.TypedDict):
    """When the next training is due, and why."""

    is_running: bool
    due_since: str | None
    reason: str
    missing_sessions: int | None
    says: str


class NotReplayed(t.TypedDict):
    """The commits that are not replayed, by why."""

    forgotten: int
    replacing: int
    not_compared: int
    beyond: int


class Note(t.TypedDict):
    """A note with its text and its links."""

    path: str
    title: str
    version: int
    aliases: list[str]
    tags: list[str]
    agent: str
    chunks: int
    pending: int
    created_at: str
    updated_at: str
    content: str
    properties: dict[str, t.Any]
    links: list[NoteLink]
    backlinks: Backlinks


class NoteLink(t.TypedDict):
    """One link of a note."""

    target: str
    heading: str
    label: str
    embed: bool
    path: str | None
    renamed_to: str | None
    reason: NoteLinkReason | None


class NoteReference(t.TypedDict):
    """A note that links another."""

    path: str
    title: str


class NoteSummary(t.TypedDict):
    """A note in a list, without its text."""

    path: str
    title: str
    version: int
    aliases: list[str]
    tags: list[str]
    agent: str
    chunks: int
    pending: int
    created_at: str
    updated_at: str


class Offered(t.TypedDict):
    """One memory injected into a session."""

    id: str
    content: str
    disputed: bool
    conflicts: list[str]
    contradicted_by: Opposite | None
    kind: str
    rank: int
    score: float
    relevance: float | None
    source: Source
    always: bool


class Opposite(t.TypedDict):
    """A memory that contradicts another in an open conflict."""

    id: str
    content: str


class Other(t.TypedDict):
    """Where a link leads."""

    type: Type
    id: str


class Outcomes(t.TypedDict):
    """The number of commits by outcome."""

    created: int
    merged: int
    suggested: int
    kept_apart: int


class PaginatedAskList(t.TypedDict):
    """PaginatedAskList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Ask]


class PaginatedComparisonList(t.TypedDict):
    """PaginatedComparisonList."""

    count: int
    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Comparison]


class PaginatedConflictList(t.TypedDict):
    """PaginatedConflictList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Conflict]


class PaginatedDeliveryList(t.TypedDict):
    """PaginatedDeliveryList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Delivery]


class PaginatedDetectionRunList(t.TypedDict):
    """PaginatedDetectionRunList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[DetectionRun]


class PaginatedErrorList(t.TypedDict):
    """PaginatedErrorList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Error]


class PaginatedEventList(t.TypedDict):
    """PaginatedEventList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Event]


class PaginatedHistoryEntryList(t.TypedDict):
    """PaginatedHistoryEntryList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[HistoryEntry]


class PaginatedJanitorActionList(t.TypedDict):
    """PaginatedJanitorActionList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[JanitorAction]


class PaginatedJanitorRunList(t.TypedDict):
    """PaginatedJanitorRunList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[JanitorRun]


class PaginatedKeyList(t.TypedDict):
    """PaginatedKeyList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Key]


class PaginatedKnownQuestionList(t.TypedDict):
    """PaginatedKnownQuestionList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[KnownQuestion]


class PaginatedMemoryLinkList(t.TypedDict):
    """PaginatedMemoryLinkList."""

    count: int
    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[MemoryLink]


class PaginatedMemoryList(t.TypedDict):
    """PaginatedMemoryList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Memory]


class PaginatedMergeList(t.TypedDict):
    """PaginatedMergeList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Merge]


class PaginatedMergeSuggestionList(t.TypedDict):
    """PaginatedMergeSuggestionList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[MergeSuggestion]


class PaginatedMutingList(t.TypedDict):
    """PaginatedMutingList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Muting]


class PaginatedNoteSummaryList(t.TypedDict):
    """PaginatedNoteSummaryList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[NoteSummary]


class PaginatedPastResultList(t.TypedDict):
    """PaginatedPastResultList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[PastResult]


class PaginatedPredictionErrorList(t.TypedDict):
    """PaginatedPredictionErrorList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[PredictionError]
    total: int


class PaginatedRefusalList(t.TypedDict):
    """PaginatedRefusalList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Refusal]


class PaginatedReportItemList(t.TypedDict):
    """PaginatedReportItemList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[ReportItem]


class PaginatedReviewList(t.TypedDict):
    """PaginatedReviewList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Review]


class PaginatedSessionList(t.TypedDict):
    """PaginatedSessionList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Session]


class PaginatedTrainingList(t.TypedDict):
    """PaginatedTrainingList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Training]


class PaginatedWebhookList(t.TypedDict):
    """PaginatedWebhookList."""

    next: t.NotRequired[str | None]
    previous: t.NotRequired[str | None]
    results: list[Webhook]


class Passage(t.TypedDict):
    """One passage of a note."""

    path: str
    heading: str
    text: str
    cosine: float


class PastResult(t.TypedDict):
    """One recall or context that returned the memory."""

    recall: str
    origin: Origin
    at: str
    query: str | None
    k: int
    asked: Asked
    returned: int
    by: str
    session_key: str
    rank: int
    score: float
    relevance: float
    factors: dict[str, t.Any]


class Pending(t.TypedDict):
    """The response to a request that waits for a reviewer; nothing has changed yet."""

    status: PendingStatus
    review: str


class Pipeline(t.TypedDict):
    """The processes; one is listed for an hour after its last heartbeat, running for a …"""

    at: str
    running: bool
    model_ready: bool
    workers: list[Worker]


class PredictionError(t.TypedDict):
    """A sign that something which was retrieved is out of date, or that nothing fits."""

    id: str
    error_type: ErrorType
    note_path: str | None
    note_version: int | None
    memory_id: str | None
    query: str
    cosine_distance: float | None
    context: dict[str, t.Any]
    weight: float
    source: str
    occurrences: int
    detected_at: str
    last_seen_at: str
    resolved_at: str | None
    resolution: ResolutionValue | None
    resolved_by: str
    note: str
    memory: ErrorMemory | None


class PredictorDomain(t.TypedDict):
    """The health of the predictor."""

    score: float
    status: Health
    says: str
    fields: PredictorFields


class PredictorFields(t.TypedDict):
    """The figures of the predictor's health."""

    mode: Mode
    phase: str
    worker_alive: bool
    last_ms: float | None
    mean_ms: float | None
    p95_ms: float | None
    timeout_ms: int
    failures_last_hour: int
    failures_allowed: int
    disabled_until: str | None
    model_version: int | None
    scored_sessions: int
    min_sessions: int
    success_rate: float
    comparisons: int
    judged_by: dict[str, int]
    alpha: float
    drift_resets: int
    last_training: LastTraining | None
    training_due: TrainingDue | None
    judge_drift: JudgeDriftSign
    calibration: JudgeError
    slices: Slices
    drafted_lists: DraftedLists
    scoreboard: Scoreboard | None


class PredictorReset(t.TypedDict):
    """Status of the predictor after a reset."""

    mode: Mode
    phase: Phase
    alpha: float
    alpha_served: float
    reason: str
    status_line: str
    success_rate: float
    comparisons: int
    literal: Literal
    evidence: Evidence
    scored_sessions: int
    label_count: int
    judged_by: list[JudgedBy]
    drift_resets: int
    model: ServedModel | None
    trained_at: str | None
    fully_trained_at: str | None
    last_training: LastTraining | None
    next_training: NextTraining
    breaker: Breaker
    drafted_lists: DraftedLists
    scoreboard: Scoreboard
    thresholds: Thresholds
    settings: PredictorSettings
    detail: str


class PredictorSettings(t.TypedDict):
    """The workspace's settings of the predictor."""

    train_interval_sessions: int
    min_training_sessions: int
    score_timeout_ms: int
    disable_threshold: int
    rrf_k: int
    exploration_rate: float
    drift_reset_window: int


class PredictorStatus(t.TypedDict):
    """Status of the predictor."""

    mode: Mode
    phase: Phase
    alpha: float
    alpha_served: float
    reason: str
    status_line: str
    success_rate: float
    comparisons: int
    literal: Literal
    evidence: Evidence
    scored_sessions: int
    label_count: int
    judged_by: list[JudgedBy]
    drift_resets: int
    model: ServedModel | None
    trained_at: str | None
    fully_trained_at: str | None
    last_training: LastTraining | None
    next_training: NextTraining
    breaker: Breaker
    drafted_lists: DraftedLists
    scoreboard: Scoreboard
    thresholds: Thresholds
    settings: PredictorSettings


class Prompted(t.TypedDict):
    """The response to a prompt."""

    session_key: str
    memories: list[Hit]
    counted: bool
    prompts: int


class PutNote(t.TypedDict):
    """A stored note; without its text, which the caller has."""

    path: str
    title: str
    version: int
    aliases: list[str]
    tags: list[str]
    agent: str
    chunks: int
    pending: int
    created_at: str
    updated_at: str
    outcome: PutNoteOutcome
    credentials_removed: int
    unresolved_links: list[NoteLink]


class Quality(t.TypedDict):
    """The verdicts of a period that were not undone."""

    decided: int
    confirmed: Share
    dismissed: Share
    both_valid: int
    since: str | None
    until: str
    kinds: Kinds
    detectors: Detectors
    rules: list[RuleJudged]
    agents: list[Agent]
    months: list[Month]
    undone: int
    lapsed: int
    waiting: int


class QuestionDetail(t.TypedDict):
    """A question with its history."""

    id: str
    question: str
    answer: str
    since: str
    agent: str
    memory: str
    source: AnswerSource
    scope: str
    disputed: bool
    conflicts: list[str]
    also: list[str]
    answers_count: int
    history: list[GivenAnswer]


class Queued(t.TypedDict):
    """A queued job."""

    job: str


class RankerFigures(t.TypedDict):
    """Every ranker over some judged sessions."""

    sessions: int
    since: str | None
    standings: list[Standing]


class Reason(t.TypedDict):
    """One reason: a code for programs and a sentence for people."""

    code: Code
    message: str


class RecallAnswer(t.TypedDict):
    """The answer to a recall."""

    results: list[Recalled]
    associations: list[Association]
    took_ms: float
    reason: t.NotRequired[str]


class Recalled(t.TypedDict):
    """One recalled memory."""

    memory: Memory
    score: float
    cosine: float | None
    relevance: float
    rank: int
    disputed: bool
    conflicts: list[str]
    explain: t.NotRequired[dict[str, t.Any]]


class Refusal(t.TypedDict):
    """A statement of a transcript that was not kept."""

    id: str
    job: str
    text: str
    fact: str
    before: str
    after: str
    reason: RefusalReason
    why: str
    worth: float
    speaker: str
    provenance: Provenance
    borderline: bool
    decision: Decision
    memory: str | None
    session_key: str
    project: str
    scope: str
    created_at: str
    decided_at: str | None
    decided_by: str


class Related(t.TypedDict):
    """The stored relation and its outcome."""

    id: str
    memory: str
    other: str
    relation: JudgedRelation
    reason: str
    weight: float
    outcome: RelatedOutcome
    detail: str
    conflict: str | None
    suggestion: str | None
    created_at: str


class RelatedMemory(t.TypedDict):
    """A memory as far as a relation needs it: what it says, where, whose, since when."""

    id: str
    content: str
    scope: str
    agent: str
    observed_at: str


class ReplayAnswer(t.TypedDict):
    """A period under the present and under the proposed settings; nothing is changed."""

    since: str
    until: str
    changed: list[Change]
    not_followed: list[str]
    gate: GateReplay
    detection: DetectionReplay
    stored: list[StoredCount]


class ReportItem(t.TypedDict):
    """What one agent reported as wrong or missing."""

    id: str
    kind: ReportItemKind
    text: str | None
    memory_id: str | None
    session_key: str
    project: str
    scope: str
    agent: str
    created_at: str


class ReportKept(t.TypedDict):
    """A report that opens no card: until somebody else reports the same (`kept`), or …"""

    outcome: ReportKeptOutcome


class Reported(t.TypedDict):
    """The card of a report, and whether the report opened it, joined it, or was known."""

    id: str
    kind: ConflictKind
    status: ConflictStatus
    question: str
    reasoning: str
    model_reasoning: str
    memories: list[Member]
    unlisted_count: int
    detected_by: list[Detector]
    rule: Rule
    further_rules: list[Rule]
    severity: Severity
    suggestion: Suggestion
    yes_keeps: list[str]
    version: int
    assignee: str | None
    comments: list[Comment]
    snoozed_until: str | None
    reopened_from: str | None
    decided_before: str | None
    created_at: str
    updated_at: str
    resolution: Resolution | None
    aside: list[str]
    consequences: list[Consequence]
    listing: str
    outcome: ReportedOutcome


class Resolution(t.TypedDict):
    """What a person decided; `verdict` is null when the card closed by itself."""

    verdict: Verdict | None
    kept: list[str]
    answer_memory: str | None
    note: str
    decided_by: str
    decided_at: str


class RestoreAnswer(t.TypedDict):
    """The restored memories; `status` and the first `review` when all are pending."""

    status: t.NotRequired[str]
    review: t.NotRequired[str]
    restored: int
    ids: list[str]
    still_hidden: list[StillHidden]
    pending: list[Waiting]


class Retention(t.TypedDict):
    """What is deleted by age."""

    time_zone: str
    limits: list[KeptFor]


class Review(t.TypedDict):
    """One request that changes nothing until a reviewer accepts it."""

    id: str
    kind: ReviewKind
    status: ReviewStatus
    reason: str
    memory: Memory | None
    request: dict[str, t.Any]
    asked_by: AskedBy
    created_at: str
    decided_at: str | None
    decided_by: str
    note: str
    result: str | None


class RollbackAnswer(t.TypedDict):
    """The result of a rollback, or its preview."""

    would_forget: t.NotRequired[list[Memory]]
    total: t.NotRequired[int]
    would_bring_back: t.NotRequired[int]
    would_reword: t.NotRequired[int]
    would_take_out: t.NotRequired[int]
    rollback: t.NotRequired[str]
    forgotten: t.NotRequired[int]
    brought_back: t.NotRequired[int]
    reworded: t.NotRequired[int]
    taken_out: t.NotRequired[int]
    kept: list[Kept]


class Rule(t.TypedDict):
    """Why a card was opened; `/rules/` lists all rules with an example each."""

    id: str
    meaning: str


class RuleJudged(t.TypedDict):
    """The verdicts on what one rule found; a card that two found counts for both."""

    decided: int
    confirmed: Share
    dismissed: Share
    both_valid: int
    rule: Rule


class Sample(t.TypedDict):
    """The items that wait for labels, by session."""

    waiting: int
    sessions: list[CalibrationSession]


class Scoreboard(t.TypedDict):
    """Every ranker over the newest well judged sessions: a description that decides …"""

    sessions: int
    since: str | None
    standings: list[Standing]
    drafted: RankerFigures
    by_judge: list[JudgeFigures]


class ServedModel(t.TypedDict):
    """The model that is served."""

    version: int
    origin: str
    sha256: str
    embedding_model: str
    feature_version: int
    parameter_count: int
    is_fitting: bool
    created_at: str
    promoted_at: str | None


class Session(t.TypedDict):
    """A session in a list, with the counts of its records."""

    session_key: str
    project: str
    scope: str
    agent: str
    state: SessionState
    started_at: str
    ended_at: str | None
    judged_at: str | None
    prompts: int
    candidates: int
    injected: int
    matched: int
    transcript_chars: int
    status_line: str


class SessionDetail(t.TypedDict):
    """A session with all its records."""

    session_key: str
    project: str
    scope: str
    agent: str
    state: SessionState
    started_at: str
    ended_at: str | None
    judged_at: str | None
    prompts: int
    candidates: int
    injected: int
    matched: int
    transcript_chars: int
    status_line: str
    context: str
    k: int
    budget_chars: int
    gap_hours: float | None
    alpha: float
    phase: str
    model_version: int | None
    no_opinion_reason: str
    is_drafted: bool
    draft_share: float
    report: AgentReport | None
    records: list[Candidate]


class Setting(t.TypedDict):
    """One setting with its meaning and range."""

    name: str
    value: t.Any
    default: t.Any
    meaning: str
    range: dict[str, t.Any]


class Settings(t.TypedDict):
    """The settings of a workspace."""

    workspace: str
    settings: dict[str, t.Any]
    describe: list[Setting]


class Share(t.TypedDict):
    """A share of `n` with its 95 % interval; null with the interval 0..1 when `n` is 0."""

    share: float | None
    low: float
    high: float
    n: int


class ShownAnswer(t.TypedDict):
    """One question that a memory answers, and who says so."""

    question: str
    answer: str
    was: t.NotRequired[str | None]
    source: AnswerSource


class SkippedError(t.TypedDict):
    """An error that an answer left as it was."""

    id: str
    resolution: ResolutionValue


class Slice(t.TypedDict):
    """The success rate of the sessions of one place."""

    name: str
    sessions: int
    success_rate: float


class Slices(t.TypedDict):
    """The places with the most compared sessions; for information only."""

    projects: list[Slice]
    scopes: list[Slice]


class SplitAnswer(t.TypedDict):
    """Both memories after a split."""

    memory: Memory
    survivor: Memory
    kept: list[str]


class Standing(t.TypedDict):
    """How one ranker orders the candidates of judged sessions, by nDCG@10."""

    ranker: Ranker
    ndcg: Mean
    gain: Mean | None
    judged_share: float
    is_known: bool
    is_enough: bool


class Started(t.TypedDict):
    """The response to a session start."""

    session_key: str
    memories: list[Offered]
    constraints_left_out: list[str]
    status_line: str
    is_drafted: bool
    reason: str
    decided_since: list[Decided]
    at_end: str
    text: str
    took_ms: float


class StateOfEvidence(t.TypedDict):
    """The governor's state after a comparison."""

    phase: str
    alpha: float
    mean_margin: float | None
    z: float | None
    n_eff: float | None
    wealth: float | None
    drift_sum: float | None
    success_rate: float
    literal_alpha: float


class StillHidden(t.TypedDict):
    """A restored memory that is still hidden for another reason."""

    id: str
    state: MemoryState


class StoredCount(t.TypedDict):
    """What is stored, counted by the present and by the proposed value of a setting."""

    name: str
    counts: str
    as_set: int
    as_asked: int


class Suggestion(t.TypedDict):
    """The verdict that the detector suggests, and its confidence."""

    verdict: str | None
    confidence: float


class SuggestionMember(t.TypedDict):
    """One of the two memories of a suggestion; the text of a forgotten one is null."""

    id: str
    content: str | None
    scope: str
    project: str
    provenance: Provenance
    confidence: float
    agent: str
    state: MemoryState
    observed_at: str
    created_at: str


class SuggestionMerge(t.TypedDict):
    """What a merge that keeps one of the two wordings would drop."""

    keep: str
    is_default: bool
    drops: list[str]


class Thresholds(t.TypedDict):
    """Thresholds of the predictor's influence."""

    min_scored_sessions: int
    min_out_of_sample: int
    enough_wealth: float
    least_alpha: float
    drift_limit: float


class Timeline(t.TypedDict):
    """The timeline of a session, oldest first."""

    session_key: str
    session: TimelineSession | None
    entries: list[Entry]
    is_truncated: bool


class TimelineSession(t.TypedDict):
    """The session itself."""

    id: str
    project: str
    scope: str
    started_at: str
    ended_at: str | None


class Training(t.TypedDict):
    """One training: its data, its canary results and its gates."""

    id: str
    status: TrainingStatus
    reason: str
    started_at: str
    finished_at: str | None
    progress: float
    base_version: int | None
    version: int | None
    loss: float | None
    session_count: int
    replay_count: int
    skipped_count: int
    label_count: int
    canary_count: int
    canary_ndcg: float | None
    canary_ndcg_before: float | None
    canary_ndcg_delta: float | None
    canary_score_variance: float | None
    canary_topk_churn: float | None
    gates: list[TrainingGate]
    error: str
    cpu_ms: int | None
    duration_ms: int | None


class TrainingDue(t.TypedDict):
    """The training that is due or running."""

    since: str
    reason: str


class TrainingGate(t.TypedDict):
    """One gate of a training."""

    name: str
    is_passed: bool
    detail: str


class VoidSessions(t.TypedDict):
    """Sessions that said nothing of the rankings, and what to do about it."""

    reason: str
    sessions: int
    advice: str


class Waiting(t.TypedDict):
    """A memory that needs a review first."""

    id: str
    review: str


class WalkStep(t.TypedDict):
    """One step of a walk: a memory, an entity, a note, or the query."""

    kind: WalkStepKind
    id: str | None
    name: str | None


class Webhook(t.TypedDict):
    """A webhook without its secret."""

    id: str
    url: str
    events: list[str]
    enabled: bool
    disabled_reason: str
    failures: int
    failing_since: str | None
    rests_until: str | None
    attempted_at: str | None
    created_by: str
    created_at: str


class WebhookWithSecret(t.TypedDict):
    """A webhook with its secret, which is shown only once."""

    id: str
    url: str
    events: list[str]
    enabled: bool
    disabled_reason: str
    failures: int
    failing_since: str | None
    rests_until: str | None
    attempted_at: str | None
    created_by: str
    created_at: str
    secret: str


class Week(t.TypedDict):
    """One week, from Monday (UTC)."""

    start: str
    commits: int
    triggered: int
    merged: int
    kept_apart: int
    suggested: int
    duplicates: int
    redundant: int
    returned: int
    noise: int


class WeightsRequest(t.TypedDict):
    """Provenance weights for one call; a class that is left out keeps the workspace's …"""

    user_stated: t.NotRequired[float]
    episode_summary: t.NotRequired[float]
    assistant_derived: t.NotRequired[float]


class WhyNot(t.TypedDict):
    """Why a recall returns a memory, or does not."""

    memory: str
    returned: bool
    state: MemoryState
    reasons: list[Reason]
    rank: int | None
    score: float | None
    cosine: float | None
    relevance: float | None
    threshold: float | None
    explain: dict[str, t.Any] | None


class Worker(t.TypedDict):
    """One process; its counts are of this workspace's work since it started."""

    name: str
    kind: str
    running: bool
    model_ready: bool
    scores_processed: int
    trainings_completed: int
    last_score_latency_ms: float | None
    uptime_seconds: float
    started_at: str
    heard_at: str
    stages: dict[str, int]


class WorkspaceSettingsReplayCreateSettings(t.TypedDict):
    """The settings to try, by name; none is stored."""

    gate_policy: t.NotRequired[t.Literal["merge", "suggest", "off"]]
    gate_threshold: t.NotRequired[float]
    weight_user_stated: t.NotRequired[float]
    weight_episode_summary: t.NotRequired[float]
    weight_assistant_derived: t.NotRequired[float]
    min_relevance: t.NotRequired[float]
    session_min_relevance: t.NotRequired[float]
    context_min_cosine: t.NotRequired[float]
    forget_min_relevance: t.NotRequired[float]
    noise_score: t.NotRequired[float]
    rerank_enabled: t.NotRequired[bool]
    graph_enabled: t.NotRequired[bool]
    diversity: t.NotRequired[float]
    janitor_enabled: t.NotRequired[bool]
    janitor_culls: t.NotRequired[bool]
    janitor_assistant_days: t.NotRequired[int]
    janitor_summary_days: t.NotRequired[int]
    writes_per_minute: t.NotRequired[int]
    reads_per_minute: t.NotRequired[int]
    pending_reviews_per_key: t.NotRequired[int]
    ask_days: t.NotRequired[int]
    detection_enabled: t.NotRequired[bool]
    detection_min_confidence: t.NotRequired[float]
    muted_rules: t.NotRequired[list[str]]
    language_model: t.NotRequired[str]
    narrative_enabled: t.NotRequired[bool]
    answers_by_model: t.NotRequired[bool]
    extraction_enabled: t.NotRequired[bool]
    extraction_by_model: t.NotRequired[bool]
    narrative_daily_usd: t.NotRequired[float]
    story_budget_tokens: t.NotRequired[int]
    judgements_per_hour: t.NotRequired[int]
    undecided_cards_per_key: t.NotRequired[int]
    drift_enabled: t.NotRequired[bool]
    drift_threshold: t.NotRequired[float]
    predictor_mode: t.NotRequired[t.Literal["off", "collect", "on"]]
    judge_by_model: t.NotRequired[bool]
    judge_two_orders: t.NotRequired[bool]
    train_interval_sessions: t.NotRequired[int]
    min_training_sessions: t.NotRequired[int]
    score_timeout_ms: t.NotRequired[int]
    disable_threshold: t.NotRequired[int]
    rrf_k: t.NotRequired[int]
    exploration_rate: t.NotRequired[float]
    drift_reset_window: t.NotRequired[int]
    time_zone: t.NotRequired[str]
    digest_hour: t.NotRequired[int]
    digest_texts: t.NotRequired[bool]
    retention_transcript_days: t.NotRequired[int | None]
    retention_session_days: t.NotRequired[int | None]
    retention_recall_days: t.NotRequired[int | None]
    recalls_kept: t.NotRequired[bool]
    retention_query_days: t.NotRequired[int | None]


class WrongRequest(t.TypedDict):
    """A memory that turned out false or outdated."""

    memory: str
    reason: t.NotRequired[str]
