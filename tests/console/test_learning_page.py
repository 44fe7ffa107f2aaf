"""The overview of learning: who ranks and why, the scoreboard, what was not compared, the mode."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import numpy as np
import pytest
from django.db import connection
from django.db.models import F
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.console.learning.pages import MODES
from engram.console.templatetags.learning import status_words
from engram.kernel.latency import bucket_of
from engram.kernel.models import Event, LatencyHour, StageError, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import Session, SessionCandidate
from memories.services.sessions.ranker_hook import STAGE
from predictor.core.betting import Betting
from predictor.core.governance import Governor, Phase
from predictor.core.margins import Margins
from predictor.core.metrics import ndcg
from predictor.models import Comparison, JudgeKind, Judgement, Training
from predictor.services.state import lock_state, store_governor
from predictor.services.status.scoreboard import Scoreboard, scoreboard
from predictor.services.status.unused import REASONS, Usage, usage_of_sessions
from tests.conftest import NOW, Tenant
from tests.predictor.judged import build_world
from tests.predictor.serving import configure, promote
from tests.predictor.test_predictor_api import fill

Member = Callable[[str], Client]
PAGE, MODE = "/console/learning/", "/console/learning/mode/"


def get_page(client: Client, path: str = PAGE, **query: Any) -> str:
    answer = client.get(path, query)
    assert answer.status_code == 200
    return " ".join(str(answer.content.decode()).split())


def furnish(tenant: Tenant, n: int = 8, *, name: str = "s") -> None:
    """Fill a workspace with compared sessions, a model and trainings with figures."""
    fill(tenant, n, name=name)
    promote(tenant.workspace, number=n)
    with in_workspace(tenant.workspace):
        for number in range(n):
            Training.objects.create(
                reason="interval",
                status="promoted" if number % 2 else "rejected",
                version=number if number % 2 else None,
                canary_ndcg=0.8,
                canary_ndcg_before=0.7,
                gates=[{"name": "<b>canary</b>", "is_passed": bool(number % 2), "detail": ""}],
                started_at=NOW + timedelta(hours=number),
            )


@pytest.mark.parametrize("mode", ["off", "collect", "on"])
def test_an_empty_page_says_what_to_do_next(
    tenant: Tenant, neighbour: Tenant, member: Member, mode: str
) -> None:
    furnish(neighbour, name="secret")
    configure(tenant.workspace, predictor_mode=mode)
    html = get_page(member("reader"))
    assert "No session has ended yet" in html
    assert f">{MODES[mode][0]}</span>" in html
    assert "Scoreboard" not in html
    assert "secret" not in html


@pytest.mark.parametrize("mode", ["off", "collect", "on"])
def test_the_page_says_who_ranks_and_why(tenant: Tenant, member: Member, mode: str) -> None:
    furnish(tenant)
    promote(tenant.workspace, number=9, phase=Phase.ACTIVE)
    configure(tenant.workspace, predictor_mode=mode)
    html = get_page(member("admin"))
    told = tenant.reader.get("predictor/status").json()
    assert told["reason"] in html.replace("&#x27;", "'")
    share = 1 - told["alpha_served"]
    assert f'class="of-model" x="0" y="0" width="{round(100 * share, 2)}"' in html
    assert (share > 0) == (mode == "on")
    expected = {
        "off": "Learning is switched off",
        "collect": "The learned ranking learns only: to be compared, both choose in turn in",
        "on": "The learned ranking and the baseline rank the next session together.",
    }
    assert expected[mode] in html
    assert ("Switch on…" in html) == (mode != "on")


def test_the_timeline_tells_outcomes_by_shape_and_in_a_table(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant, 8)
    html = get_page(member("reader"))
    drawing = re.search(r'<svg class="outcomes".*?</svg>', html)
    assert drawing is not None
    drawn = re.findall(r'<g class="(\w+)">', drawing[0])
    assert drawn == ["win", "loss", "tie", "void"] * 2  # oldest first
    assert drawing[0].count('class="hollow"') == 2
    assert "s-3: void, the judge rated all memories alike" in drawing[0]
    tops = [float(y) for y in re.findall(r'class="bar" x="[\d.]+" y="([\d.]+)"', drawing[0])]
    assert tops[0] < 76 <= tops[1]  # up for a win, down for a loss
    assert re.search(r"Won of decided</span><span class=.value.>50 %<", html)
    assert "2 won, 2 lost, 2 tied, 2 void" in html
    table = html.split("All 8 as a table")[1]
    with in_workspace(tenant.workspace):
        for pk in Comparison.objects.values_list("pk", flat=True):
            assert f"/admin/predictor/comparison/{pk}/change/" in table


def test_trainings_are_drawn_and_refused_ones_look_different(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant, 4)
    html = get_page(member("reader"))
    drawing = re.search(r'<svg class="trainings".*?</svg>', html)
    assert drawing is not None
    assert drawing[0].count('<circle class="mark"') == 2
    assert drawing[0].count('<circle class="hollow"') == 2
    assert drawing[0].count('<line class="before"') == 4
    assert "&lt;b&gt;canary" in html
    assert "<b>canary" not in html


def standings(tenant: Tenant) -> Scoreboard:
    with in_workspace(tenant.workspace):
        return scoreboard(rng=np.random.default_rng(1))


def judge(session: Session, place: int) -> tuple[list[SessionCandidate], dict[UUID, float]]:
    """Store how useful a session's candidates were; return them by rank, and their relevance."""
    rows = list(session.candidates.order_by("rank"))
    relevance = {row.memory_id: (row.rank or 0) % 5 / 4 for row in rows}
    Comparison.objects.create(
        session=session,
        outcome="win",
        relevance={str(i): worth for i, worth in relevance.items()},
        phase="warming",
        created_at=NOW + timedelta(hours=place),
    )
    return rows, relevance


def test_the_scoreboard_measures_each_order_as_comparisons_do(tenant: Tenant) -> None:
    world = build_world(tenant.workspace, 6)
    expected: dict[str, list[float]] = {"baseline": [], "model": [], "cosine": []}
    with in_workspace(tenant.workspace):
        SessionCandidate.objects.update(predictor_rank=13 - F("rank"), cosine=1.0 / F("rank"))
        SessionCandidate.objects.filter(rank=1).update(is_always=True)
        for place, session in enumerate(world.sessions):
            rows, relevance = judge(session, place)
            judged = {row.memory_id: relevance[row.memory_id] for row in rows[1:]}
            order = [row.memory_id for row in rows[1:]]
            expected["baseline"].append(ndcg(order, judged))
            expected["cosine"].append(ndcg(order, judged))
            expected["model"].append(ndcg(order[::-1], judged))
    board = standings(tenant)
    found = {one.ranker: one for one in board.standings}
    assert board.sessions == 6
    assert set(found) == {"cosine", "baseline", "model", "served"}  # no effectiveness is stored
    for name, values in expected.items():
        assert found[name].ndcg.mean == pytest.approx(np.mean(values))
        assert found[name].ndcg.n == 6
    gain = found["model"].gain
    assert gain is not None
    assert gain.mean == pytest.approx(np.mean(expected["model"]) - np.mean(expected["baseline"]))
    assert found["baseline"].gain is None


def test_the_linear_ranking_is_measured_where_its_scores_are_stored(
    tenant: Tenant, member: Member
) -> None:
    world = build_world(tenant.workspace, 6)
    with in_workspace(tenant.workspace):
        newer = [session.pk for session in world.sessions[2:]]
        scored = SessionCandidate.objects.filter(session__in=newer)
        scored.update(linear_score=F("rank") / 10.0)  # the higher, the further up
        linear, baseline = [], []
        for place, session in enumerate(world.sessions):
            rows, relevance = judge(session, place)
            if session.pk in newer:
                order = [row.memory_id for row in rows]
                baseline.append(ndcg(order, relevance))
                linear.append(ndcg(order[::-1], relevance))
    found = {one.ranker: one for one in standings(tenant).standings}
    assert found["baseline"].ndcg.n == 6
    assert found["linear"].ndcg.n == 4
    assert found["linear"].ndcg.mean == pytest.approx(np.mean(linear))
    gain = found["linear"].gain
    assert gain is not None
    assert (gain.n, gain.mean) == (4, pytest.approx(np.mean(linear) - np.mean(baseline)))
    html = get_page(member("reader"))
    row = html.partition("Simple part")[2].partition("</tr>")[0]
    assert f"{np.mean(linear):.3f}" in row
    assert 'data-label="sessions">4<' in row
    told = tenant.reader.get("predictor/status").json()["scoreboard"]
    shown = {one["ranker"]: one for one in told["standings"]}
    assert shown["linear"]["ndcg"] == {
        "mean": pytest.approx(np.mean(linear)),
        "low": pytest.approx(found["linear"].ndcg.low),
        "high": pytest.approx(found["linear"].ndcg.high),
        "sessions": 4,
    }
    assert shown["linear"]["gain"]["sessions"] == 4
    assert shown["baseline"]["gain"] is None
    fields = tenant.reader.get("diagnostics/predictor").json()["fields"]
    assert fields["scoreboard"] == told
    every = tenant.reader.get("diagnostics").json()["domains"]["predictor"]["fields"]
    assert every["scoreboard"] is None


def test_lists_that_both_chose_stand_below_with_their_own_figures_or_too_few(
    tenant: Tenant, member: Member
) -> None:
    client, heading = member("reader"), "In lists that both chose in turn"
    world = build_world(tenant.workspace, 12)
    with in_workspace(tenant.workspace):
        SessionCandidate.objects.update(predictor_rank=13 - F("rank"), cosine=1.0 / F("rank"))
        for place, session in enumerate(world.sessions):
            judge(session, place)
    none = get_page(client).partition(heading)[2]
    assert "No well judged session has had such a list yet: too few to tell." in none

    with in_workspace(tenant.workspace):
        few = Comparison.objects.filter(session__in=world.sessions[:9])
        few.update(is_drafted=True, drafted_margin=0.1)
    part = get_page(client).partition(heading)[2].partition("</table>")[0]
    assert "over the newest 9 such lists" in part
    assert part.count("too few") == 4  # each order
    told = tenant.reader.get("predictor/status").json()["scoreboard"]["drafted"]
    assert (told["sessions"], {one["is_enough"] for one in told["standings"]}) == (9, {False})

    with in_workspace(tenant.workspace):
        Comparison.objects.update(is_drafted=True, drafted_margin=0.1)
    part = get_page(client).partition(heading)[2].partition("</table>")[0]
    told = tenant.reader.get("predictor/status").json()["scoreboard"]["drafted"]
    shown = {one["ranker"]: one for one in told["standings"]}
    assert "too few" not in part
    for one in shown.values():
        assert f"{one['ndcg']['mean']:.3f}" in part
        assert (one["ndcg"]["sessions"], one["is_enough"]) == (12, True)
    assert shown["model"]["gain"]["sessions"] == 12


def test_the_page_tells_figures_by_judge_where_two_have_judged(
    tenant: Tenant, member: Member
) -> None:
    client, world = member("reader"), build_world(tenant.workspace, 4)
    with in_workspace(tenant.workspace):
        for place, session in enumerate(world.sessions):
            judge(session, place)
    assert "The first table by judge" not in get_page(client)
    with in_workspace(tenant.workspace):
        Judgement.objects.filter(session=world.sessions[0]).update(kind="model")
    part = get_page(client).partition("The first table by judge")[2]
    assert "A language model: 1 session<" in part
    assert "The offline judge: 3 sessions<" in part
    told = tenant.reader.get("predictor/status").json()["scoreboard"]["by_judge"]
    assert [(one["judge"], one["sessions"]) for one in told] == [("model", 1), ("offline", 3)]


def test_an_order_whose_first_ten_were_not_judged_is_unknown(
    tenant: Tenant, member: Member
) -> None:
    world = build_world(tenant.workspace, 6)
    with in_workspace(tenant.workspace):
        # The last six of twelve come first by cosine, and nobody has judged them.
        SessionCandidate.objects.update(cosine=F("rank") / 100.0)
        for place, session in enumerate(world.sessions):
            rows = session.candidates.order_by("rank")[:10]
            Comparison.objects.create(
                session=session,
                outcome="loss",
                relevance={str(row.memory_id): 0.1 * (row.rank or 0) for row in rows},
                phase="warming",
                created_at=NOW + timedelta(hours=place),
            )
    found = {one.ranker: one for one in standings(tenant).standings}
    assert found["cosine"].judged_share == pytest.approx(0.8)
    assert not found["cosine"].is_known
    assert found["baseline"].is_known
    html = get_page(member("reader"))
    assert "only 80 % of its first ten were judged" in html


def test_the_scoreboard_leaves_out_void_sessions_and_those_judged_by_their_agent(
    tenant: Tenant,
) -> None:
    fill(tenant, 8)  # every fourth is void as flat
    assert standings(tenant).sessions == 6
    with in_workspace(tenant.workspace):
        first = Session.objects.order_by("started_at")[:1].get()
        Judgement.objects.filter(session=first).update(kind=JudgeKind.AGENT)
    assert standings(tenant).sessions == 5


def usage(tenant: Tenant) -> Usage:
    with in_workspace(tenant.workspace):
        return usage_of_sessions()


def test_sessions_that_were_not_compared_are_counted_by_reason(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant, 4)  # win, loss, tie, void as flat
    world = build_world(tenant.workspace, 5, name="late")
    with in_workspace(tenant.workspace):
        of = [Judgement.objects.filter(session=session) for session in world.sessions]
        of[0].update(status="skipped", void_reason="too short")
        of[1].update(status="skipped", void_reason="too short")
        of[2].update(status="due")
        of[3].update(status="failed")
        of[4].delete()
    found = usage(tenant)
    assert (found.sessions, found.compared, found.waiting, found.unused) == (9, 3, 1, 5)
    counted = {reason.reason: reason.sessions for reason in found.reasons}
    assert counted == {"too short": 2, "flat": 1, "judging failed": 1, "not judged": 1}
    html = get_page(member("reader"))
    assert "5 of the newest 9; 1 waits for the judge" in html
    assert "There was no transcript, or too short a one." in html
    assert "say what they used (<code>used</code>)" in html
    for means, remedy in REASONS.values():
        assert means
        assert remedy.endswith(".")


def test_a_session_before_the_first_model_is_told_from_one_that_failed(tenant: Tenant) -> None:
    fill(tenant, 4)
    with in_workspace(tenant.workspace):
        Comparison.objects.update(outcome="void", void_reason="no scores")
        Session.objects.filter(session_key="s-0").update(no_opinion_reason="no_model")
    counted = {reason.reason: reason.sessions for reason in usage(tenant).reasons}
    assert counted == {"no scores": 3, "not trained": 1}


def test_the_time_to_score_is_drawn_by_hour_and_marked_near_the_timeout(
    tenant: Tenant, member: Member
) -> None:
    configure(tenant.workspace, score_timeout_ms=120)
    client = member("reader")
    assert "no session was scored in the last day" in get_page(client)
    hour = timezone.now().replace(minute=0, second=0, microsecond=0)
    counts = [0] * 190
    counts[bucket_of(0.110)] = 5
    with in_workspace(tenant.workspace):
        LatencyHour.objects.create(stage=STAGE, hour=hour, counts=counts, total_seconds=0.55)
    html = get_page(client)
    assert 'class="panel tile warn"' in html
    assert "<strong>near it</strong>" in html
    with in_workspace(tenant.workspace):
        StageError.objects.create(stage=STAGE, code="predictor_timeout", at=timezone.now())
    html = get_page(client)
    assert 'class="panel tile bad"' in html
    assert "exceeded 1 time<" in html


def test_errors_are_listed_and_only_admins_read_their_details(
    tenant: Tenant, neighbour: Tenant, member: Member
) -> None:
    for of, code in ((tenant, "judge_failed"), (neighbour, "judge_given_up")):
        with in_workspace(of.workspace):
            StageError.objects.create(
                stage="judge", code=code, detail="<i>host</i>", session_key="s-9",
                at=timezone.now(),
            )  # fmt: skip
            StageError.objects.create(stage="detect", code="detect_failed", at=timezone.now())
    reader, admin = get_page(member("reader")), get_page(member("admin"))
    assert "A session could not be judged in s-9" in reader
    assert "judge_given_up" not in reader
    assert "detect_failed" not in reader
    assert "host" not in reader
    assert "&lt;i&gt;host" in admin


def test_the_page_asks_as_often_for_many_sessions_as_for_one(
    tenant: Tenant, member: Member
) -> None:
    client = member("reader")
    furnish(tenant, 1)
    get_page(client)
    with CaptureQueriesContext(connection) as one:
        get_page(client)
    furnish(tenant, 12, name="more")
    get_page(client)  # the first look computes the scoreboard anew
    with CaptureQueriesContext(connection) as many:
        get_page(client)
    assert len(many) == len(one)


def test_the_page_says_as_the_status_does_when_it_would_have_been_adopted(
    tenant: Tenant, member: Member
) -> None:
    configure(tenant.workspace, predictor_mode="collect")
    client = member("admin")
    html = get_page(client)
    assert "nothing is learned yet" in html
    assert "Until the learned ranking has earned a say, switching on changes nothing." in html
    fill(tenant, 8)
    for phase, adopted_at in ((Phase.WARMING, 0), (Phase.RAMP, 6)):
        with in_workspace(tenant.workspace):
            margins = functools.reduce(Margins.add, [0.3, -0.2, 0.0] * 2, Margins())
            earned = replace(
                Governor.initial(), phase=phase, adopted_at=adopted_at, margins=margins
            )
            store_governor(lock_state(NOW), earned, NOW)
        told = tenant.reader.get("predictor/status").json()
        for html in (get_page(client), get_page(client, MODE, to="on")):
            assert told["reason"] in html
            assert ("switching on changes nothing" in html) == (not adopted_at)
        assert "In 6 sessions that were judged" in told["reason"]
    assert (
        "had a say since session 6, its choices being better by 0.03 ("
        in (told["drafted_lists"]["says"])
    )


def test_the_exact_figures_stand_behind_the_plain_reason(tenant: Tenant, member: Member) -> None:
    configure(tenant.workspace, predictor_mode="on")
    client = member("reader")
    assert "exact figures" not in get_page(client)  # there are none before a model
    with in_workspace(tenant.workspace):
        margins = functools.reduce(Margins.add, [0.3] * 20, Margins())
        earned = replace(
            Governor.initial(), phase=Phase.WARMING, margins=margins, scored_sessions=20,
            out_of_sample=20, betting=Betting(wealth=7.3, count=20),
        )  # fmt: skip
        store_governor(lock_state(NOW), earned, NOW)
    html = get_page(client)
    plain, _, details = html.partition("Details: the exact figures")
    assert "better by 0.30" in plain
    assert "chance can hardly explain it" in plain
    assert "7.3 (a say is earned from 26 on)" in details
    for internal in ("e-value", "Standard errors", "nDCG"):
        assert internal not in plain
        assert internal in details


@pytest.mark.parametrize("wanted", ["off", "on"])
def test_an_admin_changes_the_mode_after_a_question(
    tenant: Tenant, member: Member, wanted: str
) -> None:
    configure(tenant.workspace, predictor_mode="collect")
    client = member("admin")
    html = get_page(client, MODE, to=wanted)
    assert f'name="to" value="{wanted}"' in html
    assert 'name="to" value="collect"' not in html  # the present one
    answer = client.post(MODE, {"to": wanted}, follow=True)
    assert answer.redirect_chain == [(PAGE, 302)]
    assert Workspace.objects.get(pk=tenant.workspace.pk).config.predictor_mode == wanted
    with in_workspace(tenant.workspace):
        event = Event.objects.filter(type="settings.changed").latest("seq")
    assert event.data == {"predictor_mode": ["collect", wanted]}


@pytest.mark.parametrize("role", ["reader", "agent", "reviewer"])
def test_only_admins_change_the_mode(tenant: Tenant, member: Member, role: str) -> None:
    configure(tenant.workspace, predictor_mode="collect")
    client = member(role)
    html = get_page(client)
    assert MODE not in html
    assert "An admin of the workspace can switch it on" in html
    assert client.get(MODE).status_code == 403
    assert client.post(MODE, {"to": "on"}).status_code == 403
    assert Workspace.objects.get(pk=tenant.workspace.pk).config.predictor_mode == "collect"


@pytest.mark.parametrize("sent", [{}, {"to": ""}, {"to": "always"}, {"to": "\0"}])
def test_a_mode_that_does_not_exist_is_refused(
    tenant: Tenant, member: Member, sent: dict[str, str]
) -> None:
    configure(tenant.workspace, predictor_mode="collect")
    answer = member("admin").post(MODE, sent)
    assert answer.status_code == 422
    assert "Choose one of the modes." in answer.content.decode()
    assert Workspace.objects.get(pk=tenant.workspace.pk).config.predictor_mode == "collect"


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("[predictor: collecting | 3/10 sessions | baseline only]",
         "it has not begun, 3/10 sessions, the baseline alone has a say"),
        ("[predictor: warming | success_rate=0.38 | model_v1 | baseline only]",
         "it is compared and has no say yet, won lately 38\u00a0%, version 1,"
         " the baseline alone has a say"),
        ("[predictor: active | success_rate=0.72 | α=0.28 | model_v3 | 142 sessions]",
         "it has a say, won lately 72\u00a0%, weight of the baseline 0.28, version 3,"
         " 142 sessions"),
        ("[predictor: disabled | failures=3/h | baseline fallback]",
         "it is switched off, 3 failures in an hour, the baseline ranks alone"),
        ("[predictor: retraining | drift detected | baseline fallback]",
         "it is trained anew, its lists had become worse, the baseline ranks alone"),
    ],
)  # fmt: skip
def test_the_status_line_is_told_in_words(line: str, words: str) -> None:
    assert status_words(line) == f"The agent was told of the predictor: {words}."


@pytest.mark.parametrize(
    "line", ["", "no line", "[predictor: ]", "[predictor: x | success_rate=y]"]
)
def test_another_status_line_is_shown(line: str) -> None:
    assert status_words(line) == line


def test_a_version_promoted_with_a_lower_figure_says_why(tenant: Tenant, member: Member) -> None:
    furnish(tenant, 2)
    with in_workspace(tenant.workspace):
        Training.objects.filter(status="promoted").update(canary_ndcg=0.66)
    assert "lower by no more than chance explains" in get_page(member("reader"))


def test_while_lists_are_chosen_in_turn_the_headline_says_so(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant)
    configure(tenant.workspace, predictor_mode="on")
    html = get_page(member("reader"))
    assert "has no say of its own: to be compared, both choose in turn in every session" in html
    assert "The baseline ranks alone" not in html
