"""Models of workspaces, members, keys, history, stored responses and telemetry."""

from __future__ import annotations

import uuid
from datetime import datetime, timedelta
from functools import cached_property
from typing import ClassVar, Self

from django.conf import settings
from django.contrib.postgres.fields import ArrayField
from django.db import models

from engram.kernel import workspace_deletions  # noqa: F401  registers its model
from engram.kernel.configuration import WorkspaceSettings, valid_settings
from engram.kernel.embedding import model_name
from engram.kernel.labels import row_label
from engram.kernel.lease import Lease
from engram.kernel.tenancy import WorkspaceModel


class Role(models.TextChoices):
    """The role of a key or a member; each role includes the ones before it."""

    READER = "reader", "Reader"
    AGENT = "agent", "Agent"
    REVIEWER = "reviewer", "Reviewer"
    ADMIN = "admin", "Admin"

    @classmethod
    def in_words(cls) -> str:
        """Return what each role may do, for the forms that give one."""
        return (
            "A reader sees and asks; an agent also writes; a reviewer also answers what waits for"
            " a person; an admin also changes settings, keys and members."
        )

    def includes(self, other: Role) -> bool:
        """Return whether this role includes `other`."""
        order = list(Role)
        return order.index(self) >= order.index(other)


class Provenance(models.TextChoices):
    """The class of source of a statement, most trusted first."""

    USER_STATED = "user_stated", "Stated by a user"
    EPISODE_SUMMARY = "episode_summary", "Session summary"
    ASSISTANT_DERIVED = "assistant_derived", "Derived by an assistant"

    @property
    def trust(self) -> int:
        """Return the rank of trust; greater is more trusted."""
        return len(Provenance) - list(Provenance).index(self)


class OpenWorkspaces(models.Manager["Workspace"]):
    """The manager of workspaces without those that are being deleted."""

    def get_queryset(self) -> models.QuerySet[Workspace]:
        """Return the open workspaces."""
        return super().get_queryset().filter(closed_at=None)


class Workspace(models.Model):
    """A tenant: nothing is shared between two workspaces."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    slug = models.SlugField(unique=True, max_length=64)
    name = models.CharField(max_length=120)
    settings = models.JSONField(default=dict, blank=True)
    # The model whose vectors are compared; `reembed` changes it when all new vectors exist.
    embedding_model = models.CharField(max_length=120, default=model_name, editable=False)
    embedding_changed_at = models.DateTimeField(null=True, editable=False)
    created_at = models.DateTimeField(auto_now_add=True)
    # It is being deleted since then: nobody may enter it, and no background work begins.
    closed_at = models.DateTimeField(null=True, editable=False)

    objects: ClassVar[OpenWorkspaces] = OpenWorkspaces()
    with_closed: ClassVar[models.Manager[Self]] = models.Manager()

    class Meta:
        ordering = ["slug"]

    def __str__(self) -> str:
        return self.name

    @cached_property
    def config(self) -> WorkspaceSettings:
        """Return the validated settings; defaults where one is not stored or not valid."""
        return WorkspaceSettings.model_validate(valid_settings(self.settings))

    def read_settings(self) -> None:
        """Read the settings anew, as they are stored now."""
        self.refresh_from_db(fields=["settings"])
        self.__dict__.pop("config", None)


class Membership(models.Model):
    """A person's role in a workspace."""

    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="memberships")
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.REVIEWER)
    created_at = models.DateTimeField(auto_now_add=True)
    chosen_at = models.DateTimeField(null=True, editable=False)  # when the person last chose it
    # When the person was last here, and when the visit before the present one ended (`visits.py`).
    seen_at = models.DateTimeField(null=True, editable=False)
    seen_before_at = models.DateTimeField(null=True, editable=False)
    tour_closed_at = models.DateTimeField(null=True, editable=False)  # `engram/console/tour.py`

    class Meta:
        ordering = ["workspace__slug"]
        constraints = [
            models.UniqueConstraint(fields=["workspace", "user"], name="one_membership_a_person")
        ]

    def __str__(self) -> str:
        return f"{self.user} in {self.workspace} as {self.role}"


class KnownAddress(models.Model):
    """An IP address from which an account has signed in, as a keyed hash.

    Its owner can sign in from there while others try passwords (`engram/kernel/sign_in.py`).
    """

    user = models.ForeignKey(settings.AUTH_USER_MODEL, models.CASCADE, related_name="+")
    digest = models.CharField(max_length=64, editable=False)
    used_on = models.DateField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["user", "digest"], name="known_address_once"),
        ]

    def __str__(self) -> str:
        return f"an address of {self.user_id}"


class Invitation(models.Model):
    """An invitation to a workspace; only the digest of its token is stored.

    Without row-level security, as `Membership`: the invited person has no workspace yet.
    """

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    workspace = models.ForeignKey(Workspace, models.CASCADE, related_name="invitations")
    username = models.CharField(max_length=150)  # the invited account, which may not exist
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.REVIEWER)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    invited_by = models.CharField(max_length=150)
    created_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    accepted_at = models.DateTimeField(null=True)
    declined_at = models.DateTimeField(null=True)
    revoked_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at"]

    def __str__(self) -> str:
        return f"{self.username} as {self.role}"

    def is_open(self, now: datetime) -> bool:
        """Return whether the link can still be used."""
        return self.condition(now) == "open"

    def condition(self, now: datetime) -> str:
        """Return its status: open, accepted, declined, revoked or expired."""
        for word in ("accepted", "declined", "revoked"):
            if getattr(self, f"{word}_at") is not None:
                return word
        return "expired" if self.expires_at <= now else "open"


class ApiKey(WorkspaceModel):
    """An API key; only its digest is stored. It can be revoked and can expire."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    name = models.CharField(max_length=120)
    role = models.CharField(max_length=10, choices=Role.choices, default=Role.AGENT)
    # What it may claim without a review: see `kernel/actors.py`.
    provenance_ceiling = models.CharField(
        max_length=20, choices=Provenance.choices, default=Provenance.ASSISTANT_DERIVED
    )
    may_relay = models.BooleanField("relay", default=False)
    may_pin = models.BooleanField(default=False)
    agent = models.CharField(max_length=200, blank=True)
    prefix = models.CharField(max_length=12, editable=False)
    digest = models.CharField(max_length=64, unique=True, editable=False)
    is_exempt_from_throttle = models.BooleanField(default=False)
    created_at = models.DateTimeField(auto_now_add=True)
    expires_at = models.DateTimeField(null=True, blank=True)
    revoked_at = models.DateTimeField(null=True, blank=True)
    last_used_at = models.DateTimeField(null=True, editable=False)
    use_count = models.BigIntegerField(default=0, editable=False)

    class Meta:
        ordering = ["-created_at"]
        verbose_name = "API key"

    def __str__(self) -> str:
        return f"{self.name} ({self.prefix}…)"


class Event(WorkspaceModel):
    """One event of the history, written in the transaction of the change and never changed.

    `data` has ids and no memory text, because that could be forgotten or erased later.
    """

    seq = models.BigAutoField(primary_key=True)
    type = models.CharField(max_length=60)
    object_type = models.CharField(max_length=40)
    object_id = models.CharField(max_length=64)
    actor_kind = models.CharField(max_length=10)
    actor_id = models.CharField(max_length=64, blank=True)
    actor_label = models.CharField(max_length=150, blank=True)
    session_key = models.CharField(max_length=200, blank=True)
    data = models.JSONField(default=dict)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-seq"]
        indexes = [
            models.Index(fields=["workspace", "-seq"], name="event_newest"),
            models.Index(fields=["workspace", "object_id", "-seq"], name="event_object"),
            models.Index(fields=["workspace", "type", "-seq"], name="event_type"),
            models.Index(fields=["workspace", "type", "at"], name="event_time"),
            models.Index(
                fields=["workspace", "session_key", "-seq"],
                condition=~models.Q(session_key=""),
                name="event_session",
            ),
        ]

    def __str__(self) -> str:
        return row_label(self, self.at)


class IdempotentAnswer(WorkspaceModel):
    """The first response to a POST with an Idempotency-Key, stored for 24 hours.

    Written in the transaction of the work, so that both exist or neither.
    """

    caller = models.CharField(
        max_length=80
    )  # the id of the API key or person; Idempotency-Keys are per caller
    key = models.CharField(max_length=255)
    path = models.CharField(max_length=300)
    digest = models.CharField(max_length=64)  # of path and body
    status = models.PositiveSmallIntegerField()
    # JSON; null when it contained a secret, or something forgotten since.
    body = models.TextField(null=True)  # noqa: DJ001
    created_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "caller", "key"], name="idempotency_key")
        ]
        indexes = [models.Index(fields=["workspace", "created_at"], name="idempotency_age")]

    def __str__(self) -> str:
        return f"{self.path} {self.status}"


class AnsweredThing(WorkspaceModel):
    """An object shown in a stored response, to find the responses about a forgotten object."""

    answer = models.ForeignKey(IdempotentAnswer, models.CASCADE, related_name="things")
    thing_id = models.UUIDField()

    class Meta:
        indexes = [models.Index(fields=["workspace", "thing_id"], name="answered_thing")]

    def __str__(self) -> str:
        return f"{self.thing_id} in {self.answer_id}"


class JobStatus(models.TextChoices):
    """The status of a job."""

    QUEUED = "queued", "Queued"
    RUNNING = "running", "Running"
    DONE = "done", "Done"
    FAILED = "failed", "Failed"


class Job(WorkspaceModel, Lease):
    """Work in the background that a caller asked for and may look after, until some days later.

    `result` is of the kind's own shape. It may quote texts: whoever erases a text changes it.
    """

    silence = timedelta(seconds=30)  # the sweep comes every ten seconds
    planned_ahead = timedelta(days=2)  # after a failure, or until the next day's budget

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    kind = models.CharField(max_length=40)
    status = models.CharField(max_length=7, choices=JobStatus.choices, default=JobStatus.QUEUED)
    progress = models.FloatField(default=0.0)  # 0..1
    result = models.JSONField(default=dict)
    error = models.CharField(max_length=300, blank=True)
    due_at = models.DateTimeField(null=True)  # null: ended
    attempts = models.PositiveSmallIntegerField(default=0)
    caller = models.CharField(max_length=80)  # "key:" or "user:" and the id
    label = models.CharField(max_length=150, blank=True)  # the caller's name
    role = models.CharField(max_length=10, choices=Role.choices)
    key = models.ForeignKey(ApiKey, models.SET_NULL, null=True, related_name="+")
    created_at = models.DateTimeField()
    started_at = models.DateTimeField(null=True)
    finished_at = models.DateTimeField(null=True)

    class Meta:
        ordering = ["-created_at", "-id"]
        indexes = [
            models.Index(
                fields=["workspace", "kind", "due_at"],
                condition=models.Q(due_at__isnull=False),
                name="job_due",
            ),
            models.Index(fields=["workspace", "finished_at"], name="job_finished"),
        ]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(progress__gte=0, progress__lte=1), name="job_progress_range"
            )
        ]

    def __str__(self) -> str:
        return row_label(self, self.created_at)


class ModelSpend(WorkspaceModel):
    """The cost of a workspace's language model calls on one day (UTC)."""

    day = models.DateField()
    calls = models.PositiveIntegerField(default=0)
    tokens = models.PositiveIntegerField(default=0)
    cost_usd = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "day"], name="spend_once_a_day")
        ]

    def __str__(self) -> str:
        return f"{self.day}: {self.cost_usd:.4f} USD"


class LatencyHour(WorkspaceModel):
    """The latency histogram of one stage in one hour (UTC); see `kernel/latency.py`."""

    stage = models.CharField(max_length=40)
    hour = models.DateTimeField()
    counts = ArrayField(models.PositiveIntegerField())
    total_seconds = models.FloatField(default=0)

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "stage", "hour"], name="latency_once")
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.hour:%Y-%m-%d %H}h"


class WorkerTally(WorkspaceModel):
    """The number of runs of one stage by one process for the workspace, and the last duration."""

    worker = models.CharField(max_length=120)  # as in `WorkerPulse`
    stage = models.CharField(max_length=40)
    count = models.PositiveBigIntegerField(default=0)
    last_seconds = models.FloatField()
    last_at = models.DateTimeField()

    class Meta:
        constraints = [
            models.UniqueConstraint(fields=["workspace", "worker", "stage"], name="tally_once")
        ]

    def __str__(self) -> str:
        return f"{self.worker} {self.stage}: {self.count}"


class StageError(WorkspaceModel):
    """One failure of one stage, without memory text; the last 500 of a workspace are kept."""

    id = models.BigAutoField(primary_key=True)
    stage = models.CharField(max_length=40)
    code = models.CharField(max_length=60)
    detail = models.CharField(max_length=300, blank=True)
    session_key = models.CharField(max_length=200, blank=True)
    at = models.DateTimeField()

    class Meta:
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["workspace", "-id"], name="stage_error_newest"),
            models.Index(fields=["workspace", "stage", "at"], name="stage_error_time"),
        ]

    def __str__(self) -> str:
        return f"{self.stage} {self.code}"


class WorkerPulse(models.Model):
    """A running process and its counters, without any text.

    Without row-level security, as `Workspace`.
    """

    name = models.CharField(max_length=120, primary_key=True)
    started_at = models.DateTimeField()
    beat_at = models.DateTimeField()
    is_busy = models.BooleanField(default=False)
    counts = models.JSONField(default=dict)  # task name → how often it ended well or failed
    last_ms = models.FloatField(null=True)

    def __str__(self) -> str:
        return f"{self.name} {self.beat_at:%H:%M:%S}"
