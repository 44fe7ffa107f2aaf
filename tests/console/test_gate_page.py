"""The gate's page: figures, suggestions and merges that people decide about."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Conflict
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Merge, MergeSuggestion, Observation, Relation
from tests.conftest import Tenant

Member = Callable[[str], Client]
PAGE = "/console/gate/"
PLAIN = "The deploy runs on Thursday."
FINER = "The deploy runs on Thursday at 14:00 UTC."


def furnish(tenant: Tenant, scope: str = "infra/deploys") -> None:
    """Let the gate merge one pair and suggest another."""
    for content in (PLAIN, FINER):
        tenant.agent.post("memories", {"content": content, "scope": scope, "agent": "ops-bot"})
    stated = {"content": PLAIN, "scope": f"{scope}/x", "provenance": "user_stated"}
    tenant.agent.post("memories", stated)
    tenant.agent.post("memories", {"content": FINER, "scope": f"{scope}/x"})


def shown(client: Client) -> str:
    return client.get(PAGE).content.decode()


def toast(html: str) -> str:
    """Return the message of what was done, with its undo; it moves nothing on the page."""
    found = re.search(r'<div class="toasts">(.*?)<template', html, re.DOTALL)
    assert found is not None
    assert 'class="notice good' not in html
    return found[1]


def press_undo(client: Client, html: str) -> str:
    """Send the form that undoes what was done; return where it leads."""
    address = re.search(r'action="([^"]+/undo/)"[^>]* data-undo-bar', toast(html))
    assert address is not None, toast(html)
    return str(client.post(address[1])["Location"])


def test_an_empty_gate_teaches(tenant: Tenant, neighbour: Tenant, member: Member) -> None:
    furnish(neighbour)
    html = shown(member("reader"))
    assert "The gate has not compared anything yet" in html
    assert "infra/deploys" not in html


def test_figures_of_a_year_stand_in_for_weeks_without_decisions(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant)
    client = member("reader")
    assert "the last 12 weeks" in shown(client)
    with in_workspace(tenant.workspace):
        long_ago = timezone.now() - timedelta(weeks=20)
        Observation.objects.update(created_at=long_ago)
        Merge.objects.update(created_at=long_ago)
    html = shown(client)
    assert "the figures are those of the last year" in html
    assert ">the last year<" in html
    assert re.search(r"Merged</span><span class=.value.>1<", html)
    tenant.agent.post("memories", {"content": PLAIN, "scope": "infra/elsewhere"})
    assert "the figures are those of the last year" in shown(client)
    furnish(tenant, "infra/new")
    html = shown(client)
    assert ("the last 12 weeks" in html, "of the last year" in html) == (True, False)


def test_answers_have_the_keys_of_the_triage_page(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    html = shown(member("reviewer"))
    keys = re.findall(r'<button name="answer" value="([\w-]+)"[^>]*data-key="(\d)"', html)
    assert keys == [
        ("accept", "1"), ("reject", "2"), ("keep-2", "3"), ("contradict", "4"),
        ("right", "1"), ("wrong", "2"),
    ]  # fmt: skip
    assert "data-help" in html
    assert "data-key" not in shown(member("reader"))


def test_suggestions_and_merges_stand_with_their_differences(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant)
    html = shown(member("reader"))
    assert html.count('<mark class="new"> at 14:00 UTC</mark>') == 2
    assert "The same: merge" not in html  # a reader looks on
    assert "The same: merge" in shown(member("reviewer"))
    assert "unknown until somebody judges" in html


def test_a_reviewer_merges_a_suggestion_and_splits_a_merge(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        suggestion, merge = MergeSuggestion.objects.get(), Merge.objects.get()
    answered = client.post(
        f"/console/gate/suggestions/{suggestion.pk}/", {"answer": "keep-2"}, follow=True
    )
    assert "Merged." in toast(answered.content.decode())
    judged = client.post(f"/console/gate/merges/{merge.pk}/", {"answer": "wrong"}, follow=True)
    assert "Taken apart" in toast(judged.content.decode())
    with in_workspace(tenant.workspace):
        kept = Memory.objects.recallable().values_list("content", "scope")
        assert sorted(kept) == [
            (FINER, "infra/deploys"),
            (FINER, "infra/deploys/x"),
            (PLAIN, "infra/deploys"),
        ]


def test_stale_answers_are_refused_kindly(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        suggestion = MergeSuggestion.objects.get()
    tenant.agent.post("memories/forget", {"ids": [str(suggestion.other_id)], "confirm": True})
    path = f"/console/gate/suggestions/{suggestion.pk}/"
    html = client.post(path, {"answer": "accept"}, follow=True).content.decode()
    assert "One of the two memories was changed or hidden meanwhile." in html
    assert html.count("at 14:00 UTC") == 1  # the merge to judge; the forgotten one is gone


def test_readers_decide_nothing(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    with in_workspace(tenant.workspace):
        suggestion, merge = MergeSuggestion.objects.get(), Merge.objects.get()
    client = member("agent")
    for path in (f"suggestions/{suggestion.pk}/", f"merges/{merge.pk}/"):
        assert client.post(f"{PAGE}{path}", {"answer": "accept"}).status_code == 403


@pytest.mark.parametrize("kind", ["suggestions", "merges"])
def test_answers_about_another_workspace_change_nothing(
    tenant: Tenant, neighbour: Tenant, member: Member, kind: str
) -> None:
    furnish(neighbour)
    with in_workspace(neighbour.workspace):
        foreign = (MergeSuggestion if kind == "suggestions" else Merge).objects.get().pk
    answered = member("reviewer").post(
        f"{PAGE}{kind}/{foreign}/", {"answer": "accept"}, follow=True
    )
    assert "There is no such merge" in answered.content.decode()
    with in_workspace(neighbour.workspace):
        assert MergeSuggestion.objects.get().status == "open"
        assert Merge.objects.get().is_correct is None


def test_markup_in_memories_is_text(tenant: Tenant, member: Member) -> None:
    for content in ("The <b>deploy</b> runs on Thursday.", "Our <b>deploy</b> runs on Thursday."):
        tenant.agent.post("memories", {"content": content, "scope": "<i>s</i>"})
    tenant.admin.patch("workspace/settings", {"gate_policy": "suggest"})
    for content in ("The <u>lift</u> runs on Monday.", "The <u>lift</u> runs on Monday at 9:00."):
        tenant.agent.post("memories", {"content": content})
    html = shown(member("reviewer"))
    assert "&lt;b&gt;" in html
    assert not [tag for tag in ("<b>", "<i>", "<u>") if tag in html]


def test_the_page_asks_as_often_for_many_as_for_one(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    furnish(tenant)
    with CaptureQueriesContext(connection) as one:
        shown(client)
    for number in range(3):
        furnish(tenant, f"s{number}")
    with CaptureQueriesContext(connection) as many:
        shown(client)
    assert len(many) == len(one)


def test_what_is_called_different_is_kept_apart_by_the_first_key(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant)
    client = member("reviewer")

    def answers() -> list[tuple[str, str]]:
        buttons = re.findall(
            r'<button name="answer" value="(accept|reject)"([^>]*) title="', shown(client)
        )
        return [(name, re.sub(r"\s+", " ", rest).strip()) for name, rest in buttons]

    first, second = 'class="primary" data-key="1"', 'data-key="2"'
    assert answers() == [("accept", first), ("reject", second)]
    with in_workspace(tenant.workspace):
        MergeSuggestion.objects.update(relation=Relation.DIFFERENT)
    assert answers() == [("reject", first), ("accept", second)]
    inbox = client.get("/console/inbox/?source=suggestions").content.decode()
    wanted = r'name="action" value="(\w+)" class="verdict (\w+)-tone" data-key="(\d)"'
    found = re.findall(wanted, inbox)
    assert found[:2] == [("reject", "keep", "1"), ("accept", "calm", "2")]


@pytest.mark.parametrize(
    ("relation", "by", "told"),
    [
        (Relation.REFINES, "gate", "refines"),
        (Relation.DIFFERENT, "gate", "undecided"),  # the gate suggests none that surely differ
        (Relation.DIFFERENT, "agent", "different"),
    ],
)
def test_the_inbox_says_of_a_pair_what_the_gate_says_of_it(
    tenant: Tenant, member: Member, relation: str, by: str, told: str
) -> None:
    """The pill, the answers with their keys, and the keys in the help are the same words."""
    furnish(tenant)
    with in_workspace(tenant.workspace):
        MergeSuggestion.objects.update(relation=relation, detected_by=by)
    client = member("reviewer")
    gate = shown(client)
    inbox = client.get("/console/inbox/?source=suggestions").content.decode()
    pill = rf'class="chip {"warn" if relation == "different" else "accent"}">Comparison: {told}<'
    assert re.search(pill, gate)
    assert re.search(pill, inbox)
    assert ("the first answer keeps them apart" in inbox) == (relation == "different")
    assert ("Merge anyway" in inbox) == (told == "different")
    answer = r'<button name="answer"[^>]*data-key="(\d)"[^>]*>(?:<svg.*?</svg> )?([^<]+) <kbd'
    answers = re.findall(answer, gate[: gate.index('id="audit-title"')], re.DOTALL)
    card = r'data-key="(\d)">\s*<kbd[^>]*>\d</kbd>\s*<span class="what">([^<]+)<'
    assert answers == re.findall(card, inbox)
    help_of = inbox[inbox.index('id="help"') :]
    assert answers == re.findall(r"<dt><kbd>(\d)</kbd></dt><dd>([^<]+)</dd>", help_of)
    assert [key for key, _ in answers] == ["1", "2", "3", "4"]


def test_a_pair_can_be_called_contradictory_on_the_page(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    with in_workspace(tenant.workspace):
        suggestion = MergeSuggestion.objects.get()
    path = f"{PAGE}suggestions/{suggestion.pk}/"
    html = member("reviewer").post(path, {"answer": "contradict"}, follow=True).content.decode()
    assert "Kept apart: a card asks which of the two holds." in toast(html)
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get().status == "rejected"
        assert Conflict.objects.get().members.count() == 2


@pytest.mark.parametrize(
    ("given", "said", "live"),
    [("right", "Noted: a right merge.", 3), ("wrong", "Taken apart: both are recalled again.", 4)],
)
def test_a_judgement_is_undone_from_the_page(
    tenant: Tenant, member: Member, given: str, said: str, live: int
) -> None:
    furnish(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        merge = Merge.objects.get()
    path = f"{PAGE}merges/{merge.pk}/"
    done = client.post(path, {"answer": given}, follow=True).content.decode()
    assert said in toast(done)
    assert f'id="merge-{merge.pk}"' not in done
    with in_workspace(tenant.workspace):
        assert Memory.objects.recallable().count() == live
    assert press_undo(client, done) == f"{PAGE}#merge-{merge.pk}"
    after = shown(client)
    assert "Undone: the pair waits again." in toast(after)
    assert f'id="merge-{merge.pk}"' in after
    with in_workspace(tenant.workspace):
        merge.refresh_from_db()
        assert (merge.is_correct, merge.split_at) == (None, None)
        assert Memory.objects.recallable().count() == 3


@pytest.mark.parametrize("given", ["accept", "reject", "contradict"])
def test_an_answer_to_a_suggestion_is_undone_from_the_page(
    tenant: Tenant, member: Member, given: str
) -> None:
    furnish(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        suggestion = MergeSuggestion.objects.get().pk
    path = f"{PAGE}suggestions/{suggestion}/"
    done = client.post(path, {"answer": given}, follow=True).content.decode()
    assert f'id="suggestion-{suggestion}"' not in done
    assert press_undo(client, done) == f"{PAGE}#suggestion-{suggestion}"
    with in_workspace(tenant.workspace):
        assert MergeSuggestion.objects.get(pk=suggestion).status == "open"


def test_an_undo_that_is_not_possible_is_refused_kindly(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        merge = Merge.objects.get()
    path = f"{PAGE}merges/{merge.pk}/"
    done = client.post(path, {"answer": "wrong"}, follow=True).content.decode()
    tenant.agent.post("memories", {"content": FINER, "scope": "infra/deploys"})
    assert press_undo(client, done) == PAGE
    html = shown(client)
    assert "changed, hidden or committed again since; they stay apart." in toast(html)
    assert 'class="toast warn"' in html


def test_the_key_undoes_a_judgement_on_other_pages_too(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    client = member("reviewer")
    with in_workspace(tenant.workspace):
        merge = Merge.objects.get().pk
    client.post(f"{PAGE}merges/{merge}/", {"answer": "right"})
    for path in ("/console/triage/", "/console/inbox/", PAGE):
        html = client.get(path).content.decode()
        taken = html[html.index("<template data-undo-last>") :]
        assert f'action="{PAGE}merges/{merge}/undo/"' in taken[: taken.index("</template>")]


@pytest.mark.parametrize("kind", ["suggestions", "merges"])
def test_undoing_is_for_reviewers_of_the_workspace(
    tenant: Tenant, neighbour: Tenant, member: Member, kind: str
) -> None:
    for home in (tenant, neighbour):
        furnish(home)
    model = MergeSuggestion if kind == "suggestions" else Merge
    with in_workspace(neighbour.workspace):
        foreign = model.objects.get().pk
    with in_workspace(tenant.workspace):
        own = model.objects.get().pk
    name, answer = ("suggestions", "reject") if kind == "suggestions" else ("merges", "wrong")
    reviewer, agent = member("reviewer"), member("agent")
    reviewer.post(f"{PAGE}{name}/{own}/", {"answer": answer})
    assert agent.post(f"{PAGE}{name}/{own}/undo/").status_code == 403
    assert "data-undo-bar" not in agent.get(f"{PAGE}?done={name}:{own}").content.decode()
    body = {"correct": False, "split": True}
    verdict = f"gate/audit/{foreign}" if kind == "merges" else f"merge-suggestions/{foreign}/reject"
    assert neighbour.reviewer.post(verdict, body if kind == "merges" else {}).status_code == 200
    assert "data-undo-bar" not in reviewer.get(f"{PAGE}?done={name}:{foreign}").content.decode()
    refused = reviewer.post(f"{PAGE}{name}/{foreign}/undo/", follow=True).content.decode()
    assert "There is no such" in toast(refused)
    with in_workspace(neighbour.workspace):
        assert not neighbour_waits(model, foreign)
    assert reviewer.post(f"{PAGE}calibration/{own}/undo/").status_code == 404
    assert reviewer.get(f"{PAGE}{name}/{own}/undo/")["Location"] == PAGE


def neighbour_waits(model: type[Merge | MergeSuggestion], pk: object) -> bool:
    """Return whether what was answered waits again."""
    row = model.objects.get(pk=pk)
    return row.is_correct is None if isinstance(row, Merge) else row.status == "open"
