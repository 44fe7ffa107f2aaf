"""Actions on all memories that match the filters: counted, confirmed, done by a worker, undone."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from datetime import datetime, timedelta
from html import unescape
from threading import Thread
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import User
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict, ConflictMember
from conflicts.models.card import ConflictStatus
from engram.console.memories import change_batch, change_pages, change_run, changes
from engram.console.memories.change_run import BATCH, change_turn
from engram.console.models import ItemStatus, MemoryChange, MemoryChangeItem
from engram.kernel import job_queue
from engram.kernel.actors import SYSTEM, Actor
from engram.kernel.models import Event, Job, JobStatus, Membership, Role
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, MemoryTag, Merge, Relation
from memories.services.lifecycle import forget as forgetting
from tests.conftest import Tenant, build_tenant
from tests.killing import kill_at

Member = Callable[[str], Client]
LIST = "/console/memories/"
ACT = f"{LIST}act/"
MANY = 105  # more than the rows that the page changes by itself


def fill(tenant: Tenant, number: int = MANY, *, scope: str = "wharf", name: str = "Crate") -> None:
    """Write memories without their vectors: what is tested here reads none."""
    now = timezone.now() - timedelta(minutes=5)
    with in_workspace(tenant.workspace):
        Memory.objects.bulk_create(
            Memory(
                content=f"{name} {n} stands by pillar {n}.", content_hash=f"{name} {n} {scope}",
                scope=scope, observed_at=now, created_at=now, updated_at=now,
            )
            for n in range(number)
        )  # fmt: skip


def fields_of(page: str) -> dict[str, str]:
    """Return what the form of the confirmation sends."""
    part = page[page.index('class="panel plain-card"') :]
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', part)
    return {name: unescape(value) for name, value in found if name != "csrfmiddlewaretoken"}


def ask(client: Client, do: str, filters: str = "scope=wharf", **more: str) -> str:
    """Choose all that match, and return the question."""
    body = {"do": do, "across": "1", "filters": filters, "back": f"{LIST}?{filters}", **more}
    answer = client.post(ACT, body)
    assert answer.status_code == 200, answer["Location"]
    return str(answer.content.decode())


def confirm(client: Client, page: str, **more: str) -> UUID:
    """Confirm a question, and return the id of the change."""
    address = client.post(ACT, fields_of(page) | more)["Location"]
    found = re.match(rf"{LIST}changes/([0-9a-f-]{{36}})/", address)
    assert found, address
    return UUID(found[1])


def work(tenant: Tenant, *, at: datetime | None = None) -> bool:
    return change_turn(tenant.workspace.pk, clock=lambda: at or timezone.now(), seconds=60)


def page_of(client: Client, change: UUID) -> str:
    answer = client.get(f"{LIST}changes/{change}/")
    assert answer.status_code == 200
    return " ".join(answer.content.decode().split())


def rows(tenant: Tenant, **wanted: Any) -> int:
    with in_workspace(tenant.workspace):
        return int(Memory.objects.filter(**wanted).count())


def statuses(tenant: Tenant, change: UUID) -> dict[str, int]:
    with in_workspace(tenant.workspace):
        found = MemoryChangeItem.objects.filter(change=change).values_list("status", flat=True)
        return {status: list(found).count(status) for status in set(found)}


def test_all_that_match_are_offered_only_where_the_page_has_fewer(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant, 49)
    client = member("reviewer")
    assert 'name="across"' not in client.get(LIST).content.decode()
    fill(tenant, 53, name="Barrel")
    page = client.get(LIST, {"scope": "wharf", "columns": "kind"}).content.decode()
    assert "Choose all 102 that match" in page
    assert 'name="filters" value="scope=wharf"' in page
    assert 'name="across"' not in member("reader").get(LIST).content.decode()


def test_all_that_match_are_forgotten_and_brought_back(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    fill(tenant, 3, scope="attic", name="Trunk")
    client = member("reviewer")
    page = ask(client, "forget")
    assert "Forget 105 memories?" in page
    assert "and 95 more" in page
    assert rows(tenant, forgotten_at=None) == MANY + 3
    change = confirm(client, page)
    waiting = page_of(client, change)
    assert "Forgetting 105 memories" in waiting
    assert 'http-equiv="refresh"' in waiting
    assert "Undo for all" not in waiting
    assert "Forgetting 105 memories…" in client.get(LIST).content.decode()
    assert work(tenant)

    assert rows(tenant, forgotten_at=None) == rows(tenant, scope="attic") == 3
    with in_workspace(tenant.workspace):
        events = Event.objects.filter(type="memory.forgotten")
        assert events.count() == MANY
        assert set(events.values_list("actor_kind", flat=True)) == {"user"}
    ended = page_of(client, change)
    assert "<h1>105 memories forgotten</h1>" in ended
    assert 'http-equiv="refresh"' not in ended
    assert "Undo for all 105" in ended
    assert "Forgetting" not in client.get(LIST).content.decode()

    answer = client.post(f"{LIST}changes/{change}/undo/", {"filters": "scope=wharf"})
    assert work(tenant)
    assert rows(tenant, forgotten_at=None) == MANY + 3
    assert (
        "<h1>Undone: 105 memories brought back</h1>"
        in client.get(answer["Location"]).content.decode()
    )
    again = client.post(f"{LIST}changes/{change}/undo/")
    assert again["Location"] in answer["Location"]  # once only
    assert "It was undone" in page_of(client, change)
    with in_workspace(tenant.workspace):
        assert MemoryChange.objects.count() == 2


def test_each_memory_gets_a_revision_of_its_own_and_keeps_its_tags(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant)
    with in_workspace(tenant.workspace):
        old = Memory.objects.order_by("pk")[0]
        MemoryTag.objects.create(memory=old, tag="fragile")
    client = member("reviewer")
    change = confirm(client, ask(client, "tag", tag="harbour"))
    assert work(tenant)
    assert rows(tenant, revision=2) == MANY
    with in_workspace(tenant.workspace):
        assert set(MemoryTag.objects.filter(memory=old).values_list("tag", flat=True)) == {
            "fragile",
            "harbour",
        }
        assert Event.objects.filter(type="memory.revised").count() == MANY
    client.post(f"{LIST}changes/{change}/undo/")
    assert work(tenant)
    with in_workspace(tenant.workspace):
        assert list(MemoryTag.objects.values_list("tag", flat=True)) == ["fragile"]
    assert rows(tenant, revision=3) == MANY


def test_what_changes_between_the_question_and_the_work_is_left_and_counted(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant)
    client, other = member("reviewer"), tenant.reviewer
    page = ask(client, "forget")
    with in_workspace(tenant.workspace):
        ids = [str(pk) for pk in Memory.objects.order_by("pk").values_list("pk", flat=True)]
    other.patch(f"memories/{ids[0]}", {"importance": 0.9})  # before the confirmation
    fill(tenant, 2, name="Anchor")  # nobody was asked about these
    with in_workspace(tenant.workspace):
        Memory.objects.filter(content__startswith="Anchor").update(created_at=timezone.now())
    change = confirm(client, page)
    other.patch(f"memories/{ids[1]}", {"importance": 0.9})  # after it
    forgetting.forget(tenant.workspace, [UUID(ids[2])], actor=SYSTEM, now=timezone.now())
    assert work(tenant)

    assert statuses(tenant, change) == {"done": MANY - 3, "changed": 2}
    told = page_of(client, change)
    assert "<h1>102 memories forgotten</h1>" in told
    assert 'no longer matching</dt><dd class="num">3</dd>' in told
    assert "Left as they are: changed meanwhile" in told
    assert rows(tenant, forgotten_at=None, content__startswith="Anchor") == 2
    assert rows(tenant, forgotten_at=None, pk__in=ids[:2]) == 2


@pytest.mark.parametrize("do", ["forget", "pin"])
def test_a_change_before_the_lock_is_left_too(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch, do: str
) -> None:
    fill(tenant)
    client = member("reviewer")
    change = confirm(client, ask(client, do))
    with in_workspace(tenant.workspace):
        first = Memory.objects.order_by("pk")[0]
    real, calls = change_batch.lock, []

    def late(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            tenant.reviewer.patch(f"memories/{first.pk}", {"importance": 0.9})
        return real(*args, **kwargs)

    monkeypatch.setattr(change_batch, "lock", late)
    assert work(tenant)
    assert statuses(tenant, change) == {"done": MANY - 1, "changed": 1}
    assert rows(tenant, pk=first.pk, importance=0.9, forgotten_at=None, is_pinned=False) == 1


@pytest.mark.parametrize("do", ["forget", "pin"])
def test_what_is_looked_at_stays_locked_until_it_is_changed(
    transactional_db: None, monkeypatch: pytest.MonkeyPatch, do: str
) -> None:
    tenant = build_tenant("busy")
    fill(tenant, 3)
    start_by_member(tenant, do, 3)
    real, locked = change_batch.perform, []

    def try_to_lock(ids: Collection[UUID]) -> None:
        try:
            with in_workspace(tenant.workspace):
                rows = Memory.objects.filter(pk__in=ids)
                list(rows.select_for_update(no_key=True, nowait=True))
        except OperationalError:
            locked.append(len(ids))
        finally:
            connection.close()

    def watched(*args: Any, **kwargs: Any) -> Any:
        other = Thread(target=try_to_lock, args=[list(args[2])])
        other.start()
        other.join()
        return real(*args, **kwargs)

    monkeypatch.setattr(change_batch, "perform", watched)
    assert work(tenant)
    assert locked == [3]


def merge(tenant: Tenant, survivor: UUID, absorbed: UUID) -> None:
    """Write that a memory absorbed another by an accepted suggestion, some time ago."""
    at = timezone.now() - timedelta(minutes=4)
    with in_workspace(tenant.workspace):
        Merge.objects.create(
            memory_id=survivor, absorbed_id=absorbed, relation=Relation.SAME, created_at=at
        )
        Memory.objects.filter(pk=absorbed).update(superseded_at=at, superseded_by=survivor)


def first_two(tenant: Tenant) -> tuple[UUID, UUID]:
    with in_workspace(tenant.workspace):
        one, two = Memory.objects.order_by("pk").values_list("pk", flat=True)[:2]
        return one, two


@pytest.mark.parametrize("edited", [0, 1])
def test_what_is_forgotten_with_a_merged_memory_is_noted_and_comes_back(
    tenant: Tenant, member: Member, edited: int
) -> None:
    fill(tenant)
    ids = first_two(tenant)
    merge(tenant, survivor=ids[1], absorbed=ids[0])
    client = member("reviewer")
    change = confirm(client, ask(client, "forget", "scope=wharf&state=all"))
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=ids[edited]).update(updated_at=timezone.now())
    assert work(tenant)
    gone = rows(tenant, forgotten_at__isnull=False)
    assert gone == MANY - 2 * edited  # of a changed survivor both are left
    assert statuses(tenant, change)["done"] == gone
    client.post(f"{LIST}changes/{change}/undo/")
    assert work(tenant)
    assert rows(tenant, forgotten_at=None) == MANY


@pytest.mark.parametrize("do", ["pin", "forget"])
def test_a_tag_that_an_action_does_not_use_is_not_kept(
    tenant: Tenant, member: Member, do: str
) -> None:
    fill(tenant)
    client = member("reviewer")
    page = ask(client, do, tag="x" * 200)
    answer = client.post(ACT, fields_of(page) | {"tag": "x" * 200})
    assert answer.status_code == 302
    with in_workspace(tenant.workspace):
        assert MemoryChange.objects.get().tag == ""


def test_a_turn_wakes_one_worker(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tenant)
    client = member("reviewer")
    confirm(client, ask(client, "pin"))
    woken: list[UUID] = []
    monkeypatch.setattr(job_queue, "wake", lambda _, workspace_id: woken.append(workspace_id))
    assert not change_turn(tenant.workspace.pk, clock=timezone.now, seconds=0)
    assert len(woken) == 1
    assert work(tenant)
    assert len(woken) == 2


def test_a_refusal_leaves_the_others_brought_back(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    confirm(client, ask(client, "forget"))
    assert work(tenant)
    with in_workspace(tenant.workspace):
        twin = Memory.objects.order_by("pk")[0]
        now = timezone.now() - timedelta(minutes=1)
        Memory.objects.create(
            content=twin.content, content_hash=twin.content_hash, scope=twin.scope,
            observed_at=now, created_at=now, updated_at=now,
        )  # fmt: skip
    page = ask(client, "restore", "scope=wharf&state=forgotten")
    assert "Bring 105 memories back?" in page
    change = confirm(client, page)
    assert work(tenant)
    assert statuses(tenant, change) == {"done": MANY - 1, "refused": 1}
    assert "Left as they are" in page_of(client, change)


@pytest.mark.parametrize(
    ("filters", "says"),
    [
        ("scope=nowhere", "No memory matches any more."),
        ("kind=nonsense", "No memory matches any more."),
        ("as_of=2026-01-01", "No memory matches any more."),
        ("%ff%00=&scope=%00", "No memory matches any more."),
    ],
)
def test_filters_that_match_nothing_or_are_wrong_change_nothing(
    tenant: Tenant, member: Member, filters: str, says: str
) -> None:
    fill(tenant)
    body = {"do": "forget", "across": "1", "filters": filters, "confirmed": "yes"}
    answer = member("reviewer").post(ACT, body, follow=True)
    assert says in answer.content.decode()
    with in_workspace(tenant.workspace):
        assert not Job.objects.exists()


@pytest.mark.parametrize(
    ("asked", "asked_at"),
    [("x", "yesterday"), ("-1", ""), ("0" * 30, "2999-01-01T00:00:00Z")],
)
def test_wrong_figures_of_the_question_ask_again_or_count_as_now(
    tenant: Tenant, member: Member, asked: str, asked_at: str
) -> None:
    fill(tenant)
    client = member("reviewer")
    sent = fields_of(ask(client, "pin")) | {"asked": asked, "asked_at": asked_at}
    again = client.post(ACT, sent)
    assert again.status_code == 200
    assert "More match than you were asked about." in again.content.decode()
    with in_workspace(tenant.workspace):
        assert not MemoryChange.objects.exists()
    confirm(client, ask(client, "pin"), asked_at=asked_at)
    assert work(tenant)
    assert rows(tenant, is_pinned=True) == MANY
    with in_workspace(tenant.workspace):
        assert MemoryChange.objects.get().missed == 0


def test_more_that_match_at_the_confirmation_are_asked_about_again(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant, MANY + 20)
    with in_workspace(tenant.workspace):
        ids = list(Memory.objects.order_by("pk").values_list("pk", flat=True)[:20])
        Memory.objects.filter(pk__in=ids).update(recall_count=1)
    client = member("reviewer")
    page = ask(client, "forget", "use=never")
    assert "Forget 105 memories?" in page
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk__in=ids).update(recall_count=0)  # moves no `updated_at`
    again = client.post(ACT, fields_of(page))
    assert again.status_code == 200
    told = again.content.decode()
    assert "More match than you were asked about." in told
    assert "Forget 125 memories?" in told
    with in_workspace(tenant.workspace):
        assert not Job.objects.exists()
    confirm(client, told)
    assert work(tenant)
    assert rows(tenant, forgotten_at=None) == 0


def test_what_no_longer_matches_when_its_turn_comes_is_left(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    change = confirm(client, ask(client, "forget", "use=never&scope=wharf"))
    with in_workspace(tenant.workspace):
        ids = list(Memory.objects.order_by("pk").values_list("pk", flat=True)[:3])
        Memory.objects.filter(pk__in=ids).update(recall_count=1)
    assert work(tenant)
    assert statuses(tenant, change) == {"done": MANY - 3, "changed": 3}
    assert "Changed or no longer matching" in page_of(client, change)
    assert rows(tenant, forgotten_at=None, pk__in=ids) == 3
    client.post(f"{LIST}changes/{change}/undo/")
    assert work(tenant)
    assert rows(tenant, forgotten_at=None) == MANY


def open_card(tenant: Tenant, *ids: UUID) -> Conflict:
    """Write a card that waits about memories."""
    now = timezone.now()
    with in_workspace(tenant.workspace):
        card = Conflict.objects.create(
            question="Which?", severity="low", created_at=now, updated_at=now
        )
        ConflictMember.objects.bulk_create(
            ConflictMember(conflict=card, memory_id=one, lineage=one, revision=1, position=0)
            for one in ids
        )
        return card


def fill_two_halves(tenant: Tenant) -> list[UUID]:
    """Write 104 memories, more than two batches; return their ids in the order of the work."""
    fill(tenant, 2 * 52)
    with in_workspace(tenant.workspace):
        return list(Memory.objects.order_by("pk").values_list("pk", flat=True))


def test_a_dispute_that_the_change_itself_ends_saves_no_memory(
    tenant: Tenant, member: Member
) -> None:
    ids = fill_two_halves(tenant)
    # Of each two one is in the first half of the work, and one in the second.
    cards = [open_card(tenant, *pair) for pair in zip(ids[:50], ids[52:102], strict=True)]
    cards.append(open_card(tenant, ids[50], ids[102], ids[51], ids[103]))
    client = member("reviewer")
    change = confirm(client, ask(client, "forget", "disputed=on"))
    with in_workspace(tenant.workspace):
        assert Conflict.objects.filter(status=ConflictStatus.OPEN).count() == len(cards)
    assert work(tenant)
    with in_workspace(tenant.workspace):
        assert not Conflict.objects.filter(status=ConflictStatus.OPEN).exists()
    assert statuses(tenant, change) == {"done": 104}


def test_what_a_person_settled_meanwhile_is_disputed_no_longer(
    tenant: Tenant, member: Member
) -> None:
    ids = fill_two_halves(tenant)
    cards = [open_card(tenant, *pair) for pair in zip(ids[:52], ids[52:], strict=True)]
    client = member("reviewer")
    change = confirm(client, ask(client, "forget", "disputed=on"))
    for card in cards[:2]:
        answer = tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": "dismiss"})
        assert answer.status_code == 200, answer.content
    assert work(tenant)
    assert statuses(tenant, change) == {"done": 100, "changed": 4}
    assert rows(tenant, forgotten_at=None) == 4
    assert rows(tenant, forgotten_at=None, pk__in=[*ids[:2], *ids[52:54]]) == 4


def test_survivors_that_go_along_are_counted_and_left_once_they_are_changed(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant)
    fill(tenant, 2, scope="attic", name="Trunk")
    with in_workspace(tenant.workspace):
        absorbed = list(Memory.objects.filter(scope="wharf").values_list("pk", flat=True))
        survivors = list(Memory.objects.filter(scope="attic").values_list("pk", flat=True))
    for pk in absorbed:
        merge(tenant, survivor=survivors[pk == absorbed[0]], absorbed=pk)
    client = member("reviewer")
    page = ask(client, "forget", "scope=wharf&state=superseded")
    assert "Forget 105 memories?" in page
    assert "With them 2 memories that were merged with them." in page
    change = confirm(client, page)
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=survivors[0]).update(updated_at=timezone.now())
    assert work(tenant)
    assert statuses(tenant, change) == {"changed": MANY - 1, "done": 2}
    assert rows(tenant, forgotten_at=None, pk=survivors[0]) == 1
    assert rows(tenant, forgotten_at=None, pk=survivors[1]) == 0
    client.post(f"{LIST}changes/{change}/undo/")
    assert work(tenant)
    assert rows(tenant, forgotten_at=None) == MANY + 2


def test_a_question_is_confirmed_once(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    page = ask(client, "pin")
    first = confirm(client, page)
    assert confirm(client, page) == first
    assert work(tenant)
    assert confirm(client, page) == first
    with in_workspace(tenant.workspace):
        assert MemoryChange.objects.count() == Job.objects.count() == 1


def test_too_many_filters_undo_nothing(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    change = confirm(client, ask(client, "pin"))
    assert work(tenant)
    many = "&".join(f"a{n}=1" for n in range(1_001))
    answer = client.post(f"{LIST}changes/{change}/undo/", {"filters": many})
    assert answer.status_code == 400
    with in_workspace(tenant.workspace):
        assert MemoryChange.objects.count() == 1


def test_the_list_shows_three_changes_and_counts_the_others(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    for _ in range(5):
        confirm(client, ask(client, "pin"))
    page = client.get(LIST).content.decode()
    assert page.count("How far it is") == 3
    assert "And 2 changes of many memories more." in page


def test_failures_count_only_until_it_gets_on(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    turns = job_queue.ATTEMPTS_MAX + 2
    fill(tenant, turns * BATCH)
    client = member("reviewer")
    confirm(client, ask(client, "pin"))
    real, calls = change_batch.perform, []

    def every_other(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) % 2 == 0:
            raise ConnectionError
        return real(*args, **kwargs)

    monkeypatch.setattr(change_batch, "perform", every_other)
    for turn in range(turns - 1):
        assert not work(tenant, at=timezone.now() + timedelta(hours=turn))
    assert work(tenant, at=timezone.now() + timedelta(hours=turns))
    assert rows(tenant, is_pinned=True) == turns * BATCH


def test_a_deadlock_is_tried_again_at_once(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tenant)
    client = member("reviewer")
    confirm(client, ask(client, "pin"))
    real, calls = change_batch.perform, []

    class DeadlockError(Exception):
        sqlstate = "40P01"

    def once(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) == 1:
            raise OperationalError from DeadlockError()
        return real(*args, **kwargs)

    monkeypatch.setattr(change_batch, "perform", once)
    assert work(tenant)
    assert rows(tenant, is_pinned=True) == MANY


def test_few_that_match_are_changed_at_once(tenant: Tenant, member: Member) -> None:
    fill(tenant, 60)
    client = member("reviewer")
    page = ask(client, "pin")
    assert "Pin 60 memories?" in page
    assert "in the background" not in page
    part = page[page.index('class="panel plain-card"') :]
    ids = re.findall(r'name="ids" value="([^"]+)"', part)
    client.post(ACT, {"do": "pin", "confirmed": "yes", "ids": ids})
    assert rows(tenant, is_pinned=True) == 60


def test_too_many_are_refused_with_the_bound(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(changes, "MOST", MANY - 1)
    fill(tenant)
    body = {"do": "forget", "across": "1", "filters": "scope=wharf"}
    answer = member("reviewer").post(ACT, body, follow=True)
    assert "At most 104 memories at once" in answer.content.decode()


def test_a_change_stays_in_its_workspace_and_needs_a_reviewer(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    fill(tenant)
    fill(neighbour)
    client = member("reviewer")
    change = confirm(client, ask(client, "forget", "use=never"))
    asked = fields_of(ask(client, "pin", "use=never"))
    for other in (member("reader"), member("agent")):
        assert other.post(ACT, asked).status_code == 403
        assert other.get(f"{LIST}changes/{change}/").status_code == 403
        assert other.post(f"{LIST}changes/{change}/undo/").status_code == 403
    assert not change_turn(neighbour.workspace.pk, clock=timezone.now, seconds=60)
    assert work(tenant)
    assert (rows(tenant, forgotten_at=None), rows(neighbour, forgotten_at=None)) == (0, MANY)


def test_who_is_no_reviewer_any_more_changes_nothing(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    change = confirm(client, ask(client, "forget"))
    user = User.objects.get(pk=client.session["_auth_user_id"])
    Membership.objects.filter(user=user).update(role=Role.AGENT)
    assert work(tenant)
    assert rows(tenant, forgotten_at=None) == MANY
    told = page_of(member("admin"), change)
    assert "Who asked for this is no reviewer any more." in told
    assert "105 memories were not reached." in told


def test_a_turn_that_is_over_hands_on_without_counting_as_a_failure(
    tenant: Tenant, member: Member
) -> None:
    total = 4 * BATCH + 10
    fill(tenant, total)
    client = member("reviewer")
    change = confirm(client, ask(client, "pin"))
    for done in (BATCH, 2 * BATCH, 3 * BATCH):
        assert not change_turn(tenant.workspace.pk, clock=timezone.now, seconds=0)
        assert rows(tenant, is_pinned=True) == done
        with in_workspace(tenant.workspace):
            job = Job.objects.get()
        assert (job.status, job.attempts) == (JobStatus.QUEUED, 0)
        assert job.progress == pytest.approx(done / total)
    assert f">{done}</dd>" in page_of(client, change)
    assert work(tenant)
    assert rows(tenant, is_pinned=True) == total


def test_a_long_change_costs_a_page_the_queries_of_a_short_one(
    tenant: Tenant, member: Member
) -> None:
    client = member("reviewer")
    fill(tenant)
    few = confirm(client, ask(client, "pin"))
    fill(tenant, 200, scope="attic", name="Trunk")
    many = confirm(client, ask(client, "pin", "scope=attic"))
    for one in (few, many):
        with in_workspace(tenant.workspace):
            left = MemoryChangeItem.objects.filter(change=one)[: 1 if one == few else 60]
            MemoryChangeItem.objects.filter(pk__in=left.values("pk")).update(
                status=ItemStatus.REFUSED, reason="It may not."
            )
    page_of(client, few)
    with CaptureQueriesContext(connection) as one_shown:
        page_of(client, few)
    with CaptureQueriesContext(connection) as many_shown:
        page_of(client, many)
    assert len(one_shown) == len(many_shown)


def test_a_failure_is_tried_again_and_given_up_with_the_rest_unchanged(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(tenant)
    client = member("reviewer")
    change = confirm(client, ask(client, "pin"))
    real, calls = change_batch.perform, []

    def broken(*args: Any, **kwargs: Any) -> Any:
        calls.append(1)
        if len(calls) > 1:
            raise ConnectionError
        return real(*args, **kwargs)

    monkeypatch.setattr(change_batch, "perform", broken)
    for attempt in range(job_queue.ATTEMPTS_MAX):
        assert not work(tenant, at=timezone.now() + timedelta(hours=attempt))
    assert rows(tenant, is_pinned=True) == BATCH
    told = page_of(client, change)
    assert f"It was stopped:</strong> {change_run.FAILED}" in told
    assert "ConnectionError" not in told
    assert f"{MANY - BATCH} memories were not reached." in told
    assert f"Undo for all {BATCH}" in told


def test_every_action_says_what_it_is_doing() -> None:
    assert (
        change_pages.doing(MemoryChange(action="untag", total=1)) == "Taking the tag from 1 memory"
    )


def start_by_member(tenant: Tenant, do: str, asked: int) -> MemoryChange:
    """Queue a change of all memories, as a member who is a reviewer."""
    now = timezone.now()
    with in_workspace(tenant.workspace):
        user = User.objects.create_user("ada")
        Membership.objects.create(workspace=tenant.workspace, user=user, role=Role.REVIEWER)
        actor = Actor(kind="user", id=str(user.pk), label="ada", role=Role.REVIEWER)
        question = changes.Question(uuid4(), asked, now, "")
        change = changes.start(
            tenant.workspace, do, "", Memory.objects.all(), question, actor=actor, now=now
        )
    assert change is not None
    return change


STEPS = {
    "after taking the job": (job_queue.__name__, "acquire", "after"),
    "after changing some": (change_batch.__name__, "perform", "after"),
    "before noting it": (change_run.__name__, "job_queue.note_progress", "before"),
    "after noting it": (change_run.__name__, "_do_some", "after"),
    "before the end": (change_run.__name__, "job_queue.finish", "before"),
}


@pytest.mark.parametrize("step", STEPS)
def test_a_worker_that_is_killed_leaves_no_memory_out_and_changes_none_twice(
    transactional_db: None, step: str
) -> None:
    tenant = build_tenant("busy")
    fill(tenant, 60)
    change = start_by_member(tenant, "pin", 60)
    kill_at(tenant, "engram.console.tasks.change_memories", *STEPS[step])
    later = timezone.now() + timedelta(minutes=5)
    assert change_turn(tenant.workspace.pk, clock=lambda: later, seconds=60)
    assert rows(tenant, is_pinned=True, revision=2) == 60
    assert statuses(tenant, change.pk) == {"done": 60}


def test_a_change_that_goes_on_is_not_undone(tenant: Tenant, member: Member) -> None:
    fill(tenant)
    client = member("reviewer")
    change = confirm(client, ask(client, "pin"))
    answer = client.post(f"{LIST}changes/{change}/undo/", follow=True)
    assert "It is still going on." in answer.content.decode()
    with in_workspace(tenant.workspace):
        assert MemoryChange.objects.count() == 1


@pytest.mark.parametrize(("most", "is_told"), [(MANY, False), (MANY + 10, True)])
def test_what_stays_as_it_is_is_counted_up_to_the_bound(
    tenant: Tenant, member: Member, monkeypatch: pytest.MonkeyPatch, most: int, is_told: bool
) -> None:
    monkeypatch.setattr(changes, "MOST", most)
    fill(tenant, MANY + 10)
    with in_workspace(tenant.workspace):
        ids = list(Memory.objects.order_by("pk").values_list("pk", flat=True)[:10])
        Memory.objects.filter(pk__in=ids).update(is_pinned=True)
    page = ask(member("reviewer"), "pin")
    assert "Pin 105 memories?" in page
    assert ("10 others that match" in page) == is_told
