"""The story that the examples are taken from: a billing team, its agents and its reviewers."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django.contrib.auth.models import User

from engram.kernel.models import Event, Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace
from tests.conftest import Caller, Tenant, build_tenant, issue_agent
from tests.console.examples.recorder import Call, Clock, Normaliser, Recorder, reproducible

SEED = 20260504
LONG_AGO = datetime(2025, 10, 6, 9, tzinfo=UTC)
BEGINNING = datetime(2026, 5, 4, 9, tzinfo=UTC)


class Story:
    """A workspace in which the story happens, and who acts there."""

    def __init__(self, paths: list[str], clock: Clock):
        self.clock = clock
        self.recorder = Recorder(paths, clock)
        self.tenant: Tenant = build_tenant("harbour")
        self.agent: Caller = issue_agent(self.tenant.workspace, "deploy-bot")
        self.host = self.tenant.agent  # trusted to pass on a user's own words
        self.reader, self.reviewer = self.tenant.reader, self.tenant.reviewer
        self.admin = self.tenant.admin
        self.send = self.recorder.send

    def workspace(self) -> Workspace:
        """Return the workspace as it is stored now."""
        return Workspace.objects.get(pk=self.tenant.workspace.pk)

    def add_person(self, username: str) -> None:
        """Let a person belong to the workspace."""
        person = User.objects.create_user(username, is_staff=True)
        Membership.objects.create(workspace=self.tenant.workspace, user=person, role=Role.REVIEWER)

    def commit(self, content: str, caller: Caller | None = None, **fields: Any) -> str:
        """Commit a memory that no example shows; return its id."""
        answer = self.send(
            caller or self.agent, "POST /memories", {"content": content, **fields}, status=201
        )
        return str(answer["memory"]["id"])


def record(paths: list[str]) -> list[Call]:
    """Send all calls of the examples to the test's database; return them with their answers."""
    from tests.console.examples import (
        cards,
        deletion,
        drift,
        extraction,
        learning,
        memories,
        notes,
        operations,
        problems,
    )

    clock = Clock(LONG_AGO)
    with reproducible(clock, SEED):
        story = Story(paths, clock)
        story.tenant.workspace.created_at = LONG_AGO
        story.tenant.workspace.save()
        memories.commit_unused(story)
        clock.moment = BEGINNING
        memories.record_memories(story)
        cards.record_cards(story)
        learning.record_learning(story)
        operations.record_operations(story)
        problems.record_problems(story)
        notes.record_notes(story)
        drift.record_drift(story)
        extraction.record_extraction(story)
        operations.record_webhooks(story)
        deletion.record_deletion(story)
    with in_workspace(story.tenant.workspace):
        normaliser = Normaliser(Event.objects.earliest("seq").seq)
    return [normaliser.of(call) for call in story.recorder.calls]
