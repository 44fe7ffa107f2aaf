"""Calibration in the inbox: blind, in the order of its draw, undoable, for reviewers."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.test import Client
from django.utils import timezone

from engram.console.models import Reservation
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, SessionCandidate
from memories.services.lifecycle.erase import erase
from memories.services.lifecycle.forget import forget, restore
from memories.services.sessions.withheld import WITHHELD
from predictor.models import CalibrationItem
from predictor.services.calibration.calibrate import sample, sample_of
from tests.conftest import Tenant
from tests.console.cards import disagree
from tests.predictor.calibration_world import judged_world
from tests.shown import shows_number

Member = Callable[[str], Client]
INBOX = "/console/inbox/"
JUDGED = 0.8642  # what the judge said of everything here: no page has it by chance


@pytest.fixture
def items(tenant: Tenant, neighbour: Tenant) -> list[CalibrationItem]:
    """Return what waits, in its order; in another workspace as much waits."""
    for home in (neighbour, tenant):
        judged_world(home)
        rng, now = np.random.default_rng(3), timezone.now()
        sample(home.workspace, 20, rng=rng, actor=SYSTEM, now=now)
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.update(judge_relevance=JUDGED)
        return sample_of(timezone.now())


def page(client: Client, path: str = INBOX, code: int = 200) -> str:
    answer = client.get(path)
    assert answer.status_code == code
    return answer.content.decode()


def at(item: CalibrationItem) -> str:
    return f"{INBOX}?item=calibration:{item.pk}"


def act(client: Client, item: CalibrationItem, action: str) -> Any:
    return client.post(f"{INBOX}calibration/{item.pk}/", {"action": action, "back": INBOX})


def fresh(tenant: Tenant, item: CalibrationItem) -> CalibrationItem:
    with in_workspace(tenant.workspace):
        return CalibrationItem.objects.get(pk=item.pk)


def test_items_wait_in_the_order_of_their_draw(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    listed = tenant.reviewer.get("inbox", {"source": "calibration"}).json()

    assert [row["id"] for row in listed["results"]] == [str(item.pk) for item in items]
    assert listed["count"] == 20
    assert {row["severity"] for row in listed["results"]} == {"low"}
    shown = page(reviewer)
    assert f'data-key="calibration:{items[0].pk}"' in shown
    assert items[0].memory.content in shown
    assert "which fact did you use?" in shown
    steps = re.findall(r'href="([^"]+)" rel="next"|rel="next" href="([^"]+)"', shown)
    assert str(items[1].pk) in "".join(steps[0])


def test_nothing_tells_what_the_judge_said_before_the_own_label(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    item = items[0]
    told = page(reviewer, at(item)) + tenant.reviewer.get("inbox").content.decode()
    told += tenant.reviewer.get("predictor/calibration/sample").content.decode()
    with in_workspace(tenant.workspace):
        told += str(list(Event.objects.filter(type__startswith="calibration").values()))

    told += page(reviewer, f"{INBOX}?done=calibration:{item.pk}")
    assert not shows_number(told, "0.86")
    assert "4.5/5" not in told
    assert "The judge said" not in told
    assert item.stratum not in told
    assert str(item.session.session_key) in told
    assert "audit" not in told

    act(reviewer, item, "much")
    after = page(reviewer, at(item))
    assert "The judge said" in after
    assert "4.5/5" in after
    assert "0.5 higher" in after
    assert "agree on 100\u00a0% of 1 rating (" in after


@pytest.mark.parametrize(
    "answer",
    [
        ("much", 0.8642, "Rated 4/5, of much use. The judge said 4.5/5, 0.5 higher."),
        ("needed", 0.8642, "Rated 5/5, needed. The judge said 4.5/5, 0.5 lower."),
        ("none", 0.0049, "Rated 1/5, of no use. The judge said 1/5, the same."),
    ],
)
def test_the_judges_word_stands_beside_the_own_above_the_next_item(
    tenant: Tenant, member: Member, items: list[CalibrationItem], answer: tuple[str, float, str]
) -> None:
    action, judged, words = answer
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.filter(pk=items[0].pk).update(judge_relevance=judged)
    reviewer = member("reviewer")

    shown = page(reviewer, act(reviewer, items[0], action)["Location"])

    assert words in shown
    assert f'data-key="calibration:{items[1].pk}"' in shown
    assert shown.count("The judge said") == 1


def test_what_the_session_was_about_stands_beside_its_end(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    with in_workspace(tenant.workspace):
        items[0].session.context = "Why did the <b>nightly</b> export fail?"
        items[0].session.project = "exports & reports"
        items[0].session.save()

    shown = page(member("reviewer"), at(items[0]))

    assert "Why did the &lt;b&gt;nightly&lt;/b&gt; export fail?" in shown
    assert "exports &amp; reports" in shown
    assert "which fact did you use?" in shown


@pytest.mark.parametrize(
    "answer",
    [
        (1, "none", 0.0),
        (2, "little", 0.25),
        (3, "some", 0.5),
        (4, "much", 0.75),
        (5, "needed", 1.0),
    ],
)
def test_five_keys_are_five_labels(
    tenant: Tenant, member: Member, items: list[CalibrationItem], answer: tuple[int, str, float]
) -> None:
    key, action, label = answer
    reviewer = member("reviewer")
    assert re.search(rf'name="action" value="{action}"[^>]*data-key="{key}"', page(reviewer))

    assert act(reviewer, items[0], action).status_code == 302

    row = fresh(tenant, items[0])
    assert (row.label, row.is_unsure, row.labelled_by) == (label, False, "reviewer-person")


def test_the_sixth_key_says_that_one_cannot_tell(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    act(reviewer, items[0], "unsure")

    row = fresh(tenant, items[0])
    assert (row.label, row.is_unsure) == (None, True)
    shown = page(reviewer, at(items[0]))
    assert "cannot be told" in shown
    assert "The judge said" not in shown
    onward = page(reviewer, f"{INBOX}?done=calibration:{items[0].pk}")
    assert f'data-key="calibration:{items[1].pk}"' in onward
    assert "Answered: cannot be told." in onward
    assert not shows_number(onward, "0.86")
    assert "4.5/5" not in onward


def test_when_all_is_labelled_the_page_says_when_more_comes(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    with in_workspace(tenant.workspace):
        others = [item.pk for item in items[1:]]
        CalibrationItem.objects.filter(pk__in=others).update(labelled_at=timezone.now())
    reviewer = member("reviewer")
    disagree(tenant.workspace)
    teaches = "Now and then you are asked what a memory was worth"
    here = f"{INBOX}?source=calibration"
    assert teaches not in page(reviewer, here)

    reviewer.post(f"{INBOX}calibration/{items[0].pk}/", {"action": "some", "back": here})

    shown = page(reviewer, here)
    assert "Nothing of this kind waits for you" in shown
    assert teaches in shown
    assert "1 item waits altogether" in shown
    assert "Nothing matches these filters" in page(reviewer, f"{here}&q=nowhere")


def test_an_answer_can_be_taken_back_and_the_next_is_told_apart(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    done = act(reviewer, items[0], "needed")
    assert "Rated 5/5, needed." in page(reviewer, done["Location"])

    reviewer.post(f"{INBOX}calibration/{items[0].pk}/undo/", {"back": INBOX})
    assert fresh(tenant, items[0]).labelled_at is None
    assert "The judge said" not in page(reviewer, at(items[0]))
    act(reviewer, items[0], "little")

    row = fresh(tenant, items[0])
    assert (row.label, row.is_relabelled) == (0.25, True)
    assert "may have been seen; not counted" in page(reviewer, at(items[0]))


def test_what_somebody_else_has_answered_stays_as_they_said(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    tenant.reviewer.post(f"predictor/calibration/{items[0].pk}/label", {"label": 0.9})

    late = act(reviewer, items[0], "none")

    assert late.status_code == 409
    assert "acme reviewer has answered this meanwhile" in late.content.decode()
    assert fresh(tenant, items[0]).label == 0.9


def test_only_reviewers_see_transcripts_and_answer(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reader = member("reader")

    assert "which fact did you use?" not in page(reader, at(items[0]))
    assert act(reader, items[0], "none").status_code in {403, 404}
    names = {row["name"] for row in tenant.agent.get("inbox").json()["sources"]}
    assert "calibration" not in names
    assert fresh(tenant, items[0]).labelled_at is None


def test_items_of_another_workspace_are_not_found(
    tenant: Tenant, neighbour: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    with in_workspace(neighbour.workspace):
        foreign = sample_of(timezone.now())[0]
    reviewer = member("reviewer")

    assert act(reviewer, foreign, "none").status_code == 404
    assert str(foreign.pk) not in page(reviewer, at(foreign))


def test_what_was_forgotten_waits_no_longer_and_is_quoted_nowhere(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    with in_workspace(tenant.workspace):
        Memory.objects.filter(pk=items[0].memory_id).update(forgotten_at=timezone.now())

    shown = page(reviewer, at(items[0])) + tenant.reviewer.get("inbox").content.decode()

    assert items[0].memory.content not in shown
    assert "its text is not shown" in shown
    assert act(reviewer, items[0], "none").status_code == 409


def test_an_item_can_be_put_off(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")

    reviewer.post(f"{INBOX}calibration/{items[0].pk}/snooze/", {"until": "later", "back": INBOX})

    counts = {s["name"]: s["count"] for s in tenant.reviewer.get("inbox").json()["sources"]}
    assert counts["calibration"] == 19


def test_words_of_transcripts_are_never_markup(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    with in_workspace(tenant.workspace):
        items[0].session.transcript = "<script>alert(1)</script> {{ request.user }}"
        items[0].session.save()

    shown = page(member("reviewer"), at(items[0]))

    assert "<script>alert(1)" not in shown
    assert "&lt;script&gt;alert(1)" in shown
    assert "{{ request.user }}" in shown


def key_of(html: str) -> str:
    """Return the item that a page gives."""
    found = re.search(r'data-key="calibration:([0-9a-f-]+)"', html)
    assert found is not None
    return found[1]


def test_two_reviewers_are_not_given_the_same_item(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    here = f"{INBOX}?source=calibration"
    reviewer, admin, reader = member("reviewer"), member("admin"), member("agent")
    ids = [str(item.pk) for item in items]
    assert key_of(page(reviewer, here)) == ids[0]
    other = page(admin, here)
    assert key_of(other) == ids[1]
    assert f"calibration:{ids[0]}" not in other  # neither as what comes next
    assert "has this on screen" not in other
    assert key_of(page(reviewer, here)) == ids[0]  # one's own stays

    onward = act(reviewer, items[0], "some")["Location"]
    assert key_of(page(reviewer, onward)) == ids[2]
    assert key_of(page(admin, here)) == ids[1]
    assert 'data-key="calibration' not in page(reader, INBOX)


def test_a_reservation_is_told_to_whoever_opens_the_item_and_ends(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer, admin = member("reviewer"), member("admin")
    page(reviewer, at(items[0]))
    told = page(admin, at(items[0]))
    assert "reviewer-person has this on screen" in told
    assert 'name="action"' in told  # whoever answers first has answered

    page(reviewer, at(items[2]))  # one that moved on holds the former one no longer
    assert "has this on screen" not in page(admin, at(items[0]))
    assert key_of(page(reviewer, f"{INBOX}?source=calibration")) == str(items[1].pk)

    with in_workspace(tenant.workspace):
        assert Reservation.objects.count() == 2
        Reservation.objects.update(until=timezone.now() - timedelta(seconds=1))
    assert key_of(page(admin, f"{INBOX}?source=calibration")) == str(items[0].pk)
    with in_workspace(tenant.workspace):
        assert Reservation.objects.count() == 1


def test_an_answered_item_is_not_reserved(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer = member("reviewer")
    act(reviewer, items[0], "some")
    page(reviewer, at(items[0]))
    with in_workspace(tenant.workspace):
        assert not Reservation.objects.exists()


def offered_beside(tenant: Tenant, item: CalibrationItem, **known: Any) -> UUID:
    """Return another memory of the session of an item."""
    with in_workspace(tenant.workspace):
        rows = SessionCandidate.objects.filter(session=item.session, **known)
        return rows.exclude(memory=item.memory_id).order_by("pk")[0].memory_id


def test_a_transcript_that_may_quote_a_forgotten_memory_is_not_shown_and_not_asked_about(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer, item = member("reviewer"), items[0]
    act(reviewer, item, "much")
    assert "which fact did you use?" in page(reviewer, at(item))

    gone = offered_beside(tenant, item, was_injected=True)
    forget(tenant.workspace, [gone], actor=SYSTEM, now=timezone.now())

    shown = page(reviewer, at(item))
    assert "which fact did you use?" not in shown
    assert WITHHELD in shown
    with in_workspace(tenant.workspace):
        given = SessionCandidate.objects.filter(memory=gone, was_injected=True)
        knew = set(given.values_list("session", flat=True))
        left = {row.session_id for row in sample_of(timezone.now())}
    assert item.session_id in knew
    assert left == {row.session_id for row in items} - knew

    restore(tenant.workspace, [gone], actor=SYSTEM, now=timezone.now())
    assert "which fact did you use?" in page(reviewer, at(item))


def test_a_transcript_of_a_session_that_was_given_an_erased_memory_is_not_shown(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer, item = member("reviewer"), items[0]
    act(reviewer, item, "much")
    gone = offered_beside(tenant, item, was_injected=True)
    erase(tenant.workspace, gone, actor=SYSTEM, now=timezone.now())
    shown = page(reviewer, at(item))
    assert "which fact did you use?" not in shown
    assert WITHHELD in shown


def test_a_forgotten_memory_that_a_session_was_not_given_withholds_nothing(
    tenant: Tenant, member: Member, items: list[CalibrationItem]
) -> None:
    reviewer, item = member("reviewer"), items[0]
    with in_workspace(tenant.workspace):
        rows = SessionCandidate.objects.filter(session=item.session).exclude(memory=item.memory_id)
        rows.update(was_injected=False, fts_hit_count=0)
    gone = offered_beside(tenant, item)
    forget(tenant.workspace, [gone], actor=SYSTEM, now=timezone.now())
    assert "which fact did you use?" in page(reviewer, at(item))
    with in_workspace(tenant.workspace):
        assert item.session_id in {row.session_id for row in sample_of(timezone.now())}
