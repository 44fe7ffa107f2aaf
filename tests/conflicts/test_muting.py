"""Rules that people keep dismissing are proposed for muting, and only people mute them."""

from __future__ import annotations

import re
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, wait
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.staticfiles import finders
from django.db import connection, connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.core.muting import (
    MIN_DECIDED,
    MUTEABLE,
    Counted,
    Tally,
    count_rule,
    count_tier,
    is_imprecise,
    meaning_of,
)
from conflicts.core.titles import title_of
from conflicts.models import Conflict, Decision, Muting
from conflicts.services.detection.detect import detect_due
from conflicts.services.detection.replay import replay
from conflicts.services.muting import answer
from conflicts.services.muting import propose as propose_muting
from conflicts.services.muting.tallies import read_tallies
from conflicts.services.verdicts.undo import undo
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Event, Workspace
from engram.kernel.tenancy import in_workspace
from memories.core.metrics import wilson
from tests.conflicts.test_quality import ask, decide
from tests.conftest import Tenant, build_tenant
from tests.homes import PATIENCE_SECONDS

RULE = "ambiguity.choice"
LOW = "The API rate limit is 1000 requests per second."
HIGH = "The API rate limit is 5000 requests per second."
NUMBER = "ambiguity.number"
Member = Callable[[str], Client]


def verdicts(
    tenant: Tenant,
    *,
    confirmed: int,
    dismissed: int,
    rule: str = RULE,
    found_by: str = "agent",
    at: datetime | None = None,
) -> None:
    """Write decided cards; by an agent, so that they count for the rule and for no tier."""
    now = at or timezone.now()
    with in_workspace(tenant.workspace):
        for verdict, n in (("yes", confirmed), ("dismiss", dismissed)):
            for _ in range(n):
                card = Conflict.objects.create(
                    kind="ambiguity", question="Is it?", status="resolved", rule=rule,
                    detected_by=[found_by], created_at=now, updated_at=now,
                )  # fmt: skip
                Decision.objects.create(
                    conflict=card, verdict=verdict, decided_by="ana", decided_at=now
                )


def mutings(tenant: Tenant, **filters: str) -> list[dict[str, Any]]:
    answer = tenant.reader.get("mutings", filters)
    assert answer.status_code == 200, answer.json()
    found: list[dict[str, Any]] = answer.json()["results"]
    return found


def pending(tenant: Tenant) -> list[str]:
    return sorted(row["rule"]["id"] for row in mutings(tenant, status="pending"))


def muted(tenant: Tenant) -> list[str]:
    found: list[str] = Workspace.objects.get(pk=tenant.workspace.pk).config.muted_rules
    return found


def propose(tenant: Tenant) -> dict[str, Any]:
    """Let a rule be proposed; return the proposal."""
    verdicts(tenant, confirmed=5, dismissed=MIN_DECIDED - 6)
    decide(tenant.workspace, "dismiss", at=timezone.now())
    [row] = mutings(tenant, status="pending")
    return row


def test_precision_has_to_lie_below_the_level_with_its_whole_interval() -> None:
    assert not is_imprecise(Counted(0, MIN_DECIDED - 1))
    assert is_imprecise(Counted(0, MIN_DECIDED))
    edge = max(n for n in range(MIN_DECIDED) if is_imprecise(Counted(n, MIN_DECIDED)))
    assert wilson(edge, MIN_DECIDED).high < 0.5 <= wilson(edge + 1, MIN_DECIDED).high


def test_what_callers_report_is_never_muted() -> None:
    assert {"rules", "narrative", "ambiguity.number", "model.stale"} <= MUTEABLE
    assert not {name for name in MUTEABLE if name.startswith(("report.", "relation.", "unknown"))}
    assert all(meaning_of(name) for name in MUTEABLE)


def test_a_rule_that_people_dismiss_is_proposed_and_not_muted(
    tenant: Tenant, neighbour: Tenant
) -> None:
    verdicts(tenant, confirmed=5, dismissed=MIN_DECIDED - 7)
    decide(tenant.workspace, "dismiss", at=timezone.now())
    assert pending(tenant) == []
    decide(tenant.workspace, "dismiss", at=timezone.now())
    [row] = mutings(tenant)
    assert row["rule"] == {"id": RULE, "meaning": meaning_of(RULE)}
    share = wilson(5, MIN_DECIDED)
    assert row["confirmed"] == {
        "share": share.mean, "low": share.low, "high": share.high, "n": MIN_DECIDED,
    }  # fmt: skip
    assert (row["status"], muted(tenant), mutings(neighbour)) == ("pending", [], [])
    with in_workspace(tenant.workspace):
        event = Event.objects.get(type="muting.proposed")
    assert (event.object_id, event.data["rule"]) == (row["id"], RULE)


def test_a_tier_is_proposed_as_a_rule_is(tenant: Tenant, member: Member) -> None:
    for rule in (RULE, NUMBER):  # neither has enough verdicts alone
        verdicts(tenant, confirmed=0, dismissed=MIN_DECIDED // 2, rule=rule, found_by="narrative")
    decide(tenant.workspace, "dismiss", found_by="narrative", rules=("model.stale",),
           at=timezone.now())  # fmt: skip
    assert pending(tenant) == ["narrative"]
    page = member("reviewer").get("/console/inbox/", {"source": "mutings"}).content.decode()
    assert "Mute all that the language model finds?" in page
    assert "those of rules that are muted or proposed not counted" in page


@pytest.mark.parametrize("others", [0, 1, 10])
def test_one_bad_rule_never_proposes_its_tier(tenant: Tenant, others: int) -> None:
    verdicts(tenant, confirmed=0, dismissed=others, rule=NUMBER, found_by="rules")
    for dismissed in (MIN_DECIDED - 1 - others, others, 5):
        verdicts(tenant, confirmed=0, dismissed=dismissed, found_by="rules")
        decide(tenant.workspace, "dismiss", at=timezone.now())
        assert {*pending(tenant)} <= {RULE}
    assert pending(tenant) == [RULE]


def test_a_bad_rule_that_is_muted_proposes_its_tier_neither(tenant: Tenant) -> None:
    verdicts(tenant, confirmed=0, dismissed=36, found_by="rules")
    decide(tenant.workspace, "dismiss", at=timezone.now())
    [row] = mutings(tenant, status="pending")
    tenant.reviewer.post(f"mutings/{row['id']}/accept", {})
    decide(tenant.workspace, "dismiss", rules=(NUMBER,), at=timezone.now())
    assert pending(tenant) == []


@pytest.mark.parametrize("answered", ["reject", "unmute"])
def test_a_bad_rule_that_people_let_go_on_proposes_its_tier_neither(
    tenant: Tenant, answered: str
) -> None:
    verdicts(tenant, confirmed=0, dismissed=36, found_by="rules")
    decide(tenant.workspace, "dismiss", at=timezone.now())
    [row] = mutings(tenant, status="pending")
    if answered == "unmute":
        tenant.reviewer.post(f"mutings/{row['id']}/accept", {})
        tenant.reviewer.post("mutings/unmute", {"rule": RULE})
    else:
        tenant.reviewer.post(f"mutings/{row['id']}/reject", {})
    decide(tenant.workspace, "dismiss", rules=(NUMBER,), at=timezone.now())
    assert pending(tenant) == []


def test_two_bad_rules_propose_two_rules(tenant: Tenant) -> None:
    for _ in range(2):  # in turn, so that together they have thirty before each has
        for rule in (RULE, NUMBER):
            verdicts(tenant, confirmed=0, dismissed=MIN_DECIDED // 2 - 1, rule=rule,
                     found_by="rules")  # fmt: skip
            decide(tenant.workspace, "dismiss", rules=(rule,), at=timezone.now())
            assert "rules" not in pending(tenant)
    assert pending(tenant) == [RULE, NUMBER]


def test_a_tier_is_withdrawn_when_a_rule_of_it_is_what_is_wrong(tenant: Tenant) -> None:
    for rule in (RULE, NUMBER):
        verdicts(tenant, confirmed=0, dismissed=15, rule=rule, found_by="rules")
    decide(tenant.workspace, "dismiss", rules=("ambiguity.time",), at=timezone.now())
    assert pending(tenant) == ["rules"]
    verdicts(tenant, confirmed=0, dismissed=14, found_by="rules")
    decide(tenant.workspace, "dismiss", found_by="agent", at=timezone.now())
    assert pending(tenant) == [RULE]


def test_verdicts_on_cards_that_a_bad_rule_joined_count_for_no_tier() -> None:
    def tally(*rules: str, n: int) -> Tally:
        return Tally(frozenset(rules), frozenset({"rules"}), frozenset(), is_confirmed=False, n=n)

    tallies = [tally(NUMBER, RULE, n=20), tally(NUMBER, n=7), tally("ambiguity.time", n=8)]
    assert count_tier("rules", tallies, {RULE}) == Counted(0, 15, is_of_one_rule=True)
    assert count_tier("rules", tallies, ()) == Counted(0, 35, is_of_one_rule=True)
    fewer = [*tallies[1:], tally("report.agent", "model.stale", n=1)]
    assert count_tier("rules", fewer, ()) == Counted(0, 16, is_of_one_rule=True)
    assert count_tier("rules", [*fewer, tally(RULE, n=1)], ()) == Counted(0, 17)
    assert count_tier("narrative", tallies, ()).decided == 0


def test_agents_and_persons_are_never_proposed(tenant: Tenant) -> None:
    verdicts(tenant, confirmed=0, dismissed=40, rule="report.agent")
    decide(tenant.workspace, "dismiss", found_by="agent", rules=("report.agent",),
           at=timezone.now())  # fmt: skip
    assert pending(tenant) == []


def test_a_proposal_is_withdrawn_when_verdicts_no_longer_say_so(tenant: Tenant) -> None:
    verdicts(tenant, confirmed=5, dismissed=MIN_DECIDED - 6)
    card = decide(tenant.workspace, "dismiss", at=timezone.now())
    assert pending(tenant) == [RULE]
    undo(tenant.workspace, card.pk, actor=SYSTEM, now=timezone.now())
    assert pending(tenant) == []
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="muting.withdrawn").count() == 1


def test_a_proposal_that_people_answer_meanwhile_is_not_withdrawn(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    verdicts(tenant, confirmed=5, dismissed=MIN_DECIDED - 6)
    card = decide(tenant.workspace, "dismiss", at=timezone.now())
    [row] = mutings(tenant, status="pending")
    turns = iter([UUID(row["id"])])

    def accept_first(counted: Counted) -> bool:
        for muting in turns:
            answer.accept(tenant.workspace, muting, actor=SYSTEM, now=timezone.now())
        return is_imprecise(counted)

    monkeypatch.setattr(propose_muting, "is_imprecise", accept_first)
    undo(tenant.workspace, card.pk, actor=SYSTEM, now=timezone.now())
    [after] = mutings(tenant)
    assert (after["id"], after["status"], muted(tenant)) == (row["id"], "muted", [RULE])
    with in_workspace(tenant.workspace):
        assert not Event.objects.filter(type="muting.withdrawn").exists()


def test_an_acceptance_that_is_not_committed_yet_is_waited_for(transactional_db: None) -> None:
    tenant = build_tenant("busy")
    verdicts(tenant, confirmed=5, dismissed=MIN_DECIDED - 6)
    card = decide(tenant.workspace, "dismiss", at=timezone.now())
    [row] = mutings(tenant, status="pending")

    def take_back() -> object:
        try:
            return undo(tenant.workspace, card.pk, actor=SYSTEM, now=timezone.now())
        finally:
            connections.close_all()

    with ThreadPoolExecutor(1) as pool:
        with in_workspace(tenant.workspace):
            answer.accept(tenant.workspace, UUID(row["id"]), actor=SYSTEM, now=timezone.now())
            done = pool.submit(take_back)
            assert not wait([done], timeout=0.5).done
        assert done.result(timeout=PATIENCE_SECONDS)
    [after] = mutings(tenant)
    assert (after["id"], after["status"], muted(tenant)) == (row["id"], "muted", [RULE])


def test_a_reviewer_accepts_and_the_rule_opens_no_cards(tenant: Tenant) -> None:
    verdicts(tenant, confirmed=0, dismissed=MIN_DECIDED, rule=NUMBER)
    decide(tenant.workspace, "dismiss", rules=(NUMBER,), at=timezone.now())
    [row] = mutings(tenant, status="pending")
    path = f"mutings/{row['id']}/accept"
    assert tenant.agent.post(path, {}).status_code == 403
    assert muted(tenant) == []
    done = tenant.reviewer.post(path, {})
    assert (done.status_code, done.json()["status"], muted(tenant)) == (200, "muted", [NUMBER])
    assert tenant.reader.get("workspace/settings").json()["settings"]["muted_rules"] == [NUMBER]
    assert tenant.reviewer.post(path, {}).json()["type"].endswith("/muting-settled")
    with in_workspace(tenant.workspace):
        types = set(Event.objects.values_list("type", flat=True))
    assert {"muting.accepted", "settings.changed"} <= types
    for content in (LOW, HIGH):
        tenant.agent.post("memories", {"content": content})
    fresh = Workspace.objects.get(pk=tenant.workspace.pk)
    [run] = detect_due(fresh, clock=timezone.now)
    assert (run.status, run.opened, run.joined) == ("done", 0, 0)


def test_another_rule_still_opens_cards(tenant: Tenant) -> None:
    body = {"muted_rules": [RULE, "narrative"]}
    assert tenant.admin.patch("workspace/settings", body).status_code == 200
    for content in (LOW, HIGH):
        tenant.agent.post("memories", {"content": content})
    [run] = detect_due(Workspace.objects.get(pk=tenant.workspace.pk), clock=timezone.now)
    assert run.opened == 1


@pytest.mark.parametrize("name", ["rules", NUMBER])
def test_muting_is_what_a_replay_says_it_is(tenant: Tenant, name: str) -> None:
    for content in (LOW, HIGH):
        tenant.agent.post("memories", {"content": content})
    detect_due(tenant.workspace, clock=timezone.now)
    now = timezone.now() + timedelta(seconds=1)
    found = replay(tenant.workspace, {"muted_rules": [name]}, days=1, now=now)
    assert found.detection.cards == 1
    assert len(found.detection.undecided_gone) == 1
    assert found.not_followed == ()
    tenant.admin.patch("workspace/settings", {"muted_rules": [name]})
    for content in ("Lunch is at 12:00.", "Lunch is at 13:30."):
        tenant.agent.post("memories", {"content": content})
    [run] = detect_due(Workspace.objects.get(pk=tenant.workspace.pk), clock=timezone.now)
    assert run.opened == (0 if name == "rules" else run.opened)


@pytest.mark.parametrize(
    "value", ["ambiguity.number", [1], [""], ["x" * 49], ["x"] * 101, None, {"a": 1}]
)
def test_bad_settings_are_refused(tenant: Tenant, value: Any) -> None:
    answer = tenant.admin.patch("workspace/settings", {"muted_rules": value})
    assert (answer.status_code, muted(tenant)) == (422, []) or answer.status_code == 400
    assert muted(tenant) == []


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("ambiguty.number", "the nearest is “ambiguity.number”"),
        ("Ambiguity.Number", "the nearest is “ambiguity.number”"),
        ("rule", "the nearest is “rules”"),
        ("relation.agent", "is none that this setting knows"),
        ("世界", "it knows “ambiguity."),
        ("a\u202eb", "a\\u202eb"),
    ],
)
def test_a_name_that_no_rule_has_is_refused_with_the_nearest(
    tenant: Tenant, name: str, says: str
) -> None:
    answer = tenant.admin.patch("workspace/settings", {"muted_rules": [NUMBER, name]})
    assert (answer.status_code, muted(tenant)) == (422, [])
    [error] = answer.json()["errors"]
    assert error["field"] == "muted_rules"
    assert says in error["message"]


def test_a_name_of_an_earlier_release_stays_and_a_further_one_is_refused(tenant: Tenant) -> None:
    mute_of_an_earlier_release(tenant, "gone.rule")
    body = {"muted_rules": ["gone.rule", NUMBER]}
    assert tenant.admin.patch("workspace/settings", body).status_code == 200
    assert tenant.admin.patch("workspace/settings", {"rrf_k": 13}).status_code == 200
    assert muted(tenant) == ["gone.rule", NUMBER]
    body = {"muted_rules": ["gone.rule", "gone.too"]}
    assert tenant.admin.patch("workspace/settings", body).status_code == 422


def mute_of_an_earlier_release(tenant: Tenant, *names: str) -> None:
    tenant.workspace.settings = {"muted_rules": list(names)}
    tenant.workspace.save()


def test_a_rejected_rule_is_proposed_after_thirty_further_verdicts(tenant: Tenant) -> None:
    row = propose(tenant)
    assert tenant.reviewer.post(f"mutings/{row['id']}/reject", {}).json()["status"] == "rejected"
    later = timezone.now() + timedelta(minutes=1)
    verdicts(tenant, confirmed=0, dismissed=MIN_DECIDED - 2, at=later)
    decide(tenant.workspace, "dismiss", at=later)
    assert (pending(tenant), muted(tenant)) == ([], [])
    decide(tenant.workspace, "dismiss", at=later)
    assert pending(tenant) == [RULE]
    with in_workspace(tenant.workspace):
        tallies = read_tallies([RULE, NUMBER])
    assert count_rule(RULE, tallies) == Counted(0, MIN_DECIDED)
    assert count_rule(NUMBER, tallies) == Counted(0, 0)


def test_an_unmuted_rule_finds_again_and_starts_anew(tenant: Tenant) -> None:
    row = propose(tenant)
    tenant.reviewer.post(f"mutings/{row['id']}/accept", {})
    assert tenant.agent.post("mutings/unmute", {"rule": RULE}).status_code == 403
    done = tenant.reviewer.post("mutings/unmute", {"rule": RULE})
    assert (done.json()["id"], done.json()["status"]) == (row["id"], "unmuted")
    assert muted(tenant) == []
    decide(tenant.workspace, "dismiss", at=timezone.now() + timedelta(minutes=1))
    assert pending(tenant) == []
    again = tenant.reviewer.post("mutings/unmute", {"rule": RULE})
    assert again.status_code == 422
    for body in ({}, {"rule": ""}, {"rule": "x" * 49}, {"rule": RULE, "more": 1}):
        assert tenant.reviewer.post("mutings/unmute", body).status_code in {400, 422}


def test_what_the_setting_alone_muted_can_be_unmuted(tenant: Tenant) -> None:
    mute_of_an_earlier_release(tenant, "rules", "gone.rule")
    for name in ("rules", "gone.rule"):
        assert tenant.reviewer.post("mutings/unmute", {"rule": name}).status_code == 200
    assert muted(tenant) == []


def test_a_proposal_is_settled_when_the_setting_says_the_same(
    tenant: Tenant, neighbour: Tenant
) -> None:
    row, other = propose(tenant), propose(neighbour)
    for names, status in (([RULE], "muted"), ([RULE, NUMBER], "muted"), ([NUMBER], "unmuted")):
        body = {"muted_rules": names}
        assert tenant.admin.patch("workspace/settings", body).status_code == 200
        [after] = mutings(tenant)
        assert (after["id"], after["status"]) == (row["id"], status)
    decide(tenant.workspace, "dismiss", at=timezone.now() + timedelta(minutes=1))
    assert pending(tenant) == []  # what was decided before counts no more
    assert [one["id"] for one in mutings(neighbour, status="pending")] == [other["id"]]
    with in_workspace(tenant.workspace):
        told = Event.objects.filter(object_id=row["id"]).order_by("seq")
        assert list(told.values_list("type", flat=True)) == [
            "muting.proposed", "muting.accepted", "muting.ended",
        ]  # fmt: skip


def test_unknown_proposals_are_not_found(tenant: Tenant, neighbour: Tenant) -> None:
    row = propose(neighbour)
    for one in (row["id"], str(uuid4())):
        for verb in ("accept", "reject"):
            assert tenant.admin.post(f"mutings/{one}/{verb}", {}).status_code == 404
    assert pending(neighbour) == [RULE]


def test_verdicts_are_counted_by_as_many_queries_for_all_rules(tenant: Tenant) -> None:
    def count(names: list[str]) -> int:
        with (
            in_workspace(tenant.workspace),
            CaptureQueriesContext(
                connection,
            ) as caught,
        ):
            read_tallies(names)
        return len(caught)

    one = count([RULE])
    row = propose(tenant)
    tenant.reviewer.post(f"mutings/{row['id']}/reject", {})
    assert count(sorted(MUTEABLE)) == one


# In the inbox and on the detective's page


def test_the_inbox_asks_and_takes_the_answer_back(tenant: Tenant, member: Member) -> None:
    row = propose(tenant)
    reviewer, key = member("reviewer"), f"mutings:{row['id']}"
    listed = tenant.reader.get("inbox", {"source": "mutings"}).json()
    [item] = listed["results"]
    assert (item["id"], item["title"], item["severity"]) == (
        row["id"], f"Mute the rule “{title_of(RULE)}”?", "low",
    )  # fmt: skip
    page = reviewer.get("/console/inbox/", {"item": key}).content.decode()
    assert f"People dismissed {MIN_DECIDED - 5} of the {MIN_DECIDED} questions" in page
    assert meaning_of(RULE) in page.replace("&#x27;", "'")
    path = f"/console/inbox/mutings/{row['id']}/"
    assert member("reader").post(path, {"action": "accept"}).status_code == 403
    assert reviewer.post(path, {"action": "accept"}).status_code == 302
    assert muted(tenant) == [RULE]
    done = reviewer.get("/console/inbox/", {"done": key}).content.decode()
    assert "Muted." in done
    assert reviewer.post(f"{path}undo/").status_code == 302
    assert (muted(tenant), pending(tenant)) == ([], [RULE])
    assert reviewer.post(path, {"action": "reject"}).status_code == 302
    assert (muted(tenant), pending(tenant)) == ([], [])
    assert reviewer.post(f"{path}undo/").status_code == 302
    assert pending(tenant) == [RULE]
    assert reviewer.post(path, {"action": "explode"}).status_code == 422


def test_pages_with_a_bar_of_an_interval_load_its_colours(tenant: Tenant, member: Member) -> None:
    propose(tenant)
    reviewer = member("reviewer")
    for path in ("/console/inbox/?source=mutings", "/console/detective/"):
        page = reviewer.get(path).content.decode()
        assert '<svg class="interval"' in page
        sheets = re.findall(r'<link rel="stylesheet" href="/static/([^"?]+)', page)
        found = [finders.find(sheet) for sheet in sheets]
        styles = "".join(Path(str(file)).read_text() for file in found)
        for part in ("track", "band", "mark"):
            assert styles.count(f"\n.eg .interval .{part} {{ fill:") == 1


def test_the_inbox_filters_proposals(tenant: Tenant) -> None:
    row = propose(tenant)
    for query, found in (({"severity": "low"}, [row["id"]]), ({"severity": "high"}, [])):
        listed = tenant.reader.get("inbox", {"source": "mutings", **query}).json()["results"]
        assert [item["id"] for item in listed] == found


def test_the_detectives_page_shows_what_is_muted_and_unmutes(
    tenant: Tenant, member: Member
) -> None:
    row = propose(tenant)
    reviewer, path = member("reviewer"), "/console/detective/"
    page = reviewer.get(path).content.decode()
    assert "People dismiss most of what 1 rule finds." in page
    assert "Muted here" not in page
    tenant.reviewer.post(f"mutings/{row['id']}/accept", {})
    page = reviewer.get(path).content.decode()
    assert "Muted here" in page
    assert f"<strong>{title_of(RULE)}</strong>" in page
    assert "Let it find again" not in member("reader").get(path).content.decode()
    assert reviewer.post(f"{path}unmute/", {"rule": RULE}).status_code == 302
    assert muted(tenant) == []
    assert (
        "This is not muted."
        in reviewer.post(f"{path}unmute/", {"rule": RULE}, follow=True).content.decode()
    )


def test_a_card_is_asked_about_a_muted_rule_no_more_than_once(tenant: Tenant) -> None:
    row = propose(tenant)
    tenant.reviewer.post(f"mutings/{row['id']}/accept", {})
    card = ask(tenant.workspace)
    tenant.reviewer.post(f"conflicts/{card.pk}/resolve", {"verdict": "dismiss"})
    with in_workspace(tenant.workspace):
        assert Muting.objects.count() == 1
