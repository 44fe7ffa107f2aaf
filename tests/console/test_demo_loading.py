"""Loading the recording: once, whole or not at all, at any time, into any workspace."""

from __future__ import annotations

import getpass
import json
import os
import re
import socket
from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.apps import apps
from django.db import models
from django.db.models import Sum
from django.test import Client
from pgvector.django import VectorField

from conflicts.core.rules.rule import DATE_FORMAT
from conflicts.models import Conflict
from engram.console import demo
from engram.console.demo import loading
from engram.console.demo.codec import codec
from engram.console.demo.dates import DATE, mark_dates, write_dates
from engram.console.demo.loading import load, read_recording
from engram.console.demo.recording import END, fingerprint, seeded_ids
from engram.console.demo.tables import ANY_ID, LEFT_OUT, id_tail, recorded_models
from engram.console.overview import overview
from engram.console.rows.tables import columns
from engram.kernel.models import ApiKey, Event, LatencyHour, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, PastRecall, RecallDay, Revision
from tests.conftest import NOW, Tenant
from tests.console.test_demo import empty_workspace

SHIFT = timedelta(days=412, hours=5, minutes=7)


def rows_of(workspace: Workspace) -> dict[str, list[dict[str, Any]]]:
    """Return what a workspace holds, each row by its columns, in the order of its table."""
    with in_workspace(workspace):
        return {
            model._meta.label: list(
                model.objects.order_by("pk").values(*[f.attname for f in columns(model)])
            )
            for model in recorded_models()
        }


def as_text(value: Any) -> str:
    return bytes(value).hex() if isinstance(value, memoryview) else str(value)


def test_recording_fits_the_tables_and_the_story() -> None:
    head = json.loads(read_recording().split("\n", 1)[0])
    assert head == fingerprint(), "run `make demo-record`, and commit the file that it writes"


def test_every_table_of_a_workspace_is_recorded_or_named() -> None:
    owned = {
        model._meta.label
        for model in apps.get_models()
        for field in model._meta.fields
        if isinstance(field, models.ForeignKey) and field.related_model is Workspace
    }
    recorded = {model._meta.label for model in recorded_models()}
    assert recorded | set(LEFT_OUT) == owned
    assert not recorded & set(LEFT_OUT)
    assert all(codec(field, END) for model in recorded_models() for field in columns(model))


def readable_columns() -> Iterator[str]:
    """Yield the recorded columns as JSON, but for vectors and weights, which are base64."""
    for line in read_recording().splitlines()[1:]:
        table = json.loads(line)
        for field in columns(apps.get_model(table["table"])):
            if not isinstance(field, (models.BinaryField, VectorField)):
                yield json.dumps(table["columns"][field.attname])


def test_recording_holds_nothing_of_the_machine() -> None:
    text = "\n".join(readable_columns())
    for secret in (socket.gethostname(), str(Path.home()), str(Path.cwd()), getpass.getuser()):
        assert not re.search(rf"\b{re.escape(secret)}\b", text), secret
    assert not re.search(r"egr_|/home/|/tmp/|/work/|/usr/|worker@|127\.0\.0\.1", text)
    assert not re.search(r"\b20\d\d-\d\d-\d\d", text)  # all times are distances from its end
    assert len(loading.RECORDING.read_bytes()) < 4_000_000


def test_loading_twice_doubles_nothing_and_keeps_what_people_did(db: None) -> None:
    workspace = empty_workspace()
    assert load(workspace, NOW)
    with in_workspace(workspace):
        Memory.objects.filter(is_pinned=False).update(importance=0.25)
    before = rows_of(workspace)
    assert not load(workspace, NOW + SHIFT)
    assert rows_of(workspace) == before


def test_ids_of_a_recording_are_drawn_from_a_seed() -> None:
    drawn = os.urandom
    with seeded_ids():
        ids = [uuid4() for _ in range(3)]
    with seeded_ids():
        assert [uuid4() for _ in range(3)] == ids
    with pytest.raises(ZeroDivisionError), seeded_ids():
        raise ZeroDivisionError
    assert os.urandom is drawn
    assert uuid4() not in ids


def test_workspace_in_which_something_happened_is_left_alone(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "Tea is at four."})
    before = rows_of(tenant.workspace)
    assert not load(tenant.workspace, NOW)
    assert rows_of(tenant.workspace) == before


def test_two_workspaces_have_the_same_story_and_no_row_in_common(db: None) -> None:
    one, other = empty_workspace("one"), empty_workspace("other")
    assert load(one, NOW)
    before = rows_of(one)
    assert load(other, NOW)
    assert rows_of(one) == before
    mine, theirs = (json.dumps(rows, default=as_text) for rows in (before, rows_of(other)))
    ids, others = ({found[0] for found in ANY_ID.finditer(text)} for text in (mine, theirs))
    assert len(ids) == len(others) > 900
    assert not ids & others
    moved = mine.replace(str(one.pk), str(other.pk)).replace(id_tail(one), id_tail(other))
    assert moved == theirs


@pytest.mark.parametrize("hour", [0, 7, 13, 23])
def test_recalls_of_a_day_are_those_that_the_list_has_of_it(db: None, hour: int) -> None:
    """Moments are shifted by seconds: at another time of day some lie in another day."""
    workspace, now = empty_workspace(), NOW.replace(hour=hour, minute=31)
    load(workspace, now)
    with in_workspace(workspace):
        listed = Counter(
            at.astimezone(UTC).date() for at in PastRecall.objects.values_list("at", flat=True)
        )
        assert dict(RecallDay.objects.values_list("day", "recalls")) == listed
        assert len(listed) > 25
        assert overview(workspace, now).recalls.today == listed[now.date()]
        noise = RecallDay.objects.aggregate(all=Sum("returned"), below=Sum("noise"))
        assert 0 < noise["below"] < noise["all"] / 4


def test_all_times_are_shifted_so_that_the_story_ends_now(db: None) -> None:
    one, other = empty_workspace("one"), empty_workspace("other")
    load(one, NOW)
    load(other, NOW + SHIFT)
    count, rows = 0, [rows_of(workspace) for workspace in (one, other)]
    for model in recorded_models():
        names = [f.attname for f in columns(model) if isinstance(f, models.DateTimeField)]
        for name in names:
            mine, theirs = ([row[name] for row in found[model._meta.label]] for found in rows)
            moved = [at and at + SHIFT for at in mine]
            if model is LatencyHour:  # whole hours, wherever the story ends
                moved = [at and at.replace(minute=0) for at in moved]
            assert sorted(moved, key=str) == sorted(theirs, key=str), (model, name)
            count += sum(at is not None for at in mine)
    assert count > 10_000


def test_nothing_of_the_story_lies_ahead_but_what_is_to_come(db: None) -> None:
    workspace = empty_workspace()
    load(workspace, NOW)
    ahead = {
        f"{label}.{name}"
        for label, rows in rows_of(workspace).items()
        for row in rows
        for name, value in row.items()
        if isinstance(value, datetime) and value > NOW
    }
    assert ahead <= {"memories.Memory.expires_at", "conflicts.Conflict.snoozed_until"}


def test_moments_within_json_are_shifted_too(db: None) -> None:
    workspace = empty_workspace()
    load(workspace, NOW)
    with in_workspace(workspace):
        written = [
            (memory.expires_at, observation.fields["expires_at"])
            for memory in Memory.objects.exclude(expires_at=None).filter(revision=1)
            for observation in memory.observations.filter(outcome="created")
        ]
    assert written
    assert all(at == datetime.fromisoformat(text) for at, text in written)


def dates_by_card(workspace: Workspace) -> dict[str, tuple[set[str], set[str]]]:
    """Return by question the dates that a card's reasoning names, and those of its memories."""
    with in_workspace(workspace):
        return {
            card.question: (
                set(DATE.findall(card.reasoning)),
                {f"{m.memory.observed_at:{DATE_FORMAT}}" for m in card.members.all()},
            )
            for card in Conflict.objects.prefetch_related("members__memory")
        }


@pytest.mark.parametrize("hour", [0, 23])
def test_dates_of_generated_texts_are_shifted_with_their_memories(db: None, hour: int) -> None:
    workspace = empty_workspace()
    load(workspace, (NOW + SHIFT).replace(hour=hour))
    cards = dates_by_card(workspace)
    assert sum(len(named) for named, _ in cards.values()) >= 3
    assert all(named <= observed for named, observed in cards.values())


def test_dates_in_contents_of_memories_are_not_shifted(db: None) -> None:
    one, other = empty_workspace("one"), empty_workspace("other")
    load(one, NOW)
    load(other, NOW + SHIFT)
    contents = [[row["content"] for row in rows_of(w)["memories.Memory"]] for w in (one, other)]
    assert contents[0] == contents[1]


def test_a_date_of_another_moment_stays_as_it_is_written() -> None:
    text = "From 4 Feb 2026 the room is closed; noted on 1 Mar 2026."
    noted = datetime(2026, 3, 1, 9, tzinfo=UTC)
    marked = mark_dates(text, [noted], END)
    assert "March" not in marked
    assert write_dates(marked, END) == text
    later = write_dates(marked, END + timedelta(days=31))
    assert later == "From 4 Feb 2026 the room is closed; noted on 1 Apr 2026."


def test_who_is_killed_while_loading_leaves_nothing(
    db: None, settings: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.ENGRAM_HOME = tmp_path
    insert, left = loading._insert, [12]

    def killed(*arguments: Any) -> None:
        left[0] -= 1
        if not left[0]:
            raise SystemExit
        insert(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(loading, "_insert", killed)
        with pytest.raises(SystemExit):
            demo.ensure_demo(NOW)
    workspace = Workspace.objects.get(slug="demo")
    assert not any(rows_of(workspace).values())
    demo.ensure_demo(NOW)
    with in_workspace(workspace):
        assert Memory.objects.recallable(NOW).count() > 200


def test_demo_is_made_with_its_story_and_people_find_their_changes_again(
    db: None, settings: Any, tmp_path: Path
) -> None:
    settings.ENGRAM_HOME = tmp_path
    file = demo.ensure_demo(NOW)
    made = json.loads(file.read_text())
    assert set(made) == {
        "url", "username", "password", "api_key", "agent_key", "reviewer_key", "workspace",
    }  # fmt: skip
    workspace = Workspace.objects.get(slug="demo")
    signed_in = Client().post(
        "/admin/login/", {name: made[name] for name in ("username", "password")}
    )
    assert signed_in.status_code == 302
    with in_workspace(workspace):
        assert ApiKey.objects.count() == 3
        Memory.objects.all().delete()
        left = Event.objects.count()
    assert demo.ensure_demo(NOW + SHIFT) == file
    assert json.loads(file.read_text()) == made
    with in_workspace(workspace):
        assert (Memory.objects.count(), Event.objects.count()) == (0, left)
        assert not Merge.objects.exists()
        assert not Revision.objects.exists()
