"""The predictor in the admin: read by members, written by nobody, blind where it must be."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models import F, Value
from django.db.models.functions import Concat
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from django.utils.html import escape

from engram.kernel.actors import SYSTEM
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session, SessionCandidate
from memories.services.lifecycle.forget import forget
from predictor.models import (
    CalibrationItem,
    CalibrationSample,
    Comparison,
    Judgement,
    Label,
    ModelVersion,
    Training,
)
from predictor.models.comparison import PHASE_WORDS
from predictor.services.judging.due import TOO_SHORT
from predictor.services.status.unused import void_words
from tests.conftest import NOW, Tenant, build_tenant
from tests.predictor.serving import promote
from tests.predictor.test_predictor_api import fill

Member = Callable[[str], Client]
MODELS = (Judgement, Comparison, Training, ModelVersion)
LISTS = [f"/admin/predictor/{model._meta.model_name}/" for model in MODELS]
MARKUP = "<b>bold</b>"


def furnish(tenant: Tenant, n: int = 2, *, name: str = "s") -> None:
    """Fill a workspace with a few rows of everything."""
    fill(tenant, n, name=name)
    promote(tenant.workspace, number=n)
    with in_workspace(tenant.workspace):
        Judgement.objects.update(
            version=MARKUP,
            error=MARKUP,
            missing_topics=[MARKUP],
            raw={"reasoning": f"Because of {MARKUP}."},
        )
        Memory.objects.update(content=Concat(F("content"), Value(f" {MARKUP}")))
        for place in range(n):
            Training.objects.create(
                reason=f"{name}-why",
                status="rejected",
                loss=0.1234,
                gates=[{"name": "churn", "is_passed": False, "detail": MARKUP}],
                started_at=NOW + timedelta(hours=place),
                duration_ms=1500,
            )


def rows_of(tenant: Tenant, model: type[Any]) -> list[Any]:
    with in_workspace(tenant.workspace):
        return list(model.objects.values_list("pk", flat=True))


@pytest.mark.parametrize("path", LISTS)
def test_members_read_lists_and_nobody_writes(tenant: Tenant, member: Member, path: str) -> None:
    furnish(tenant)
    for role in ("reader", "admin"):
        client = member(role)
        assert client.get(path).status_code == 200
        assert client.get(f"{path}add/").status_code == 403


@pytest.mark.parametrize("model", MODELS)
def test_rows_are_shown_without_markup_and_never_changed(
    tenant: Tenant, member: Member, model: Any
) -> None:
    furnish(tenant)
    client = member("admin")
    for pk in rows_of(tenant, model):
        path = f"/admin/predictor/{model._meta.model_name}/{pk}/change/"
        page = client.get(path)
        assert page.status_code == 200
        html = page.content.decode()
        assert MARKUP not in html
        assert client.post(path, {}).status_code == 403
        assert client.post(path.replace("change", "delete"), {"post": "yes"}).status_code == 403
    assert len(rows_of(tenant, model)) in {1, 2}


@pytest.mark.parametrize("path", LISTS)
def test_nothing_of_another_workspace_is_listed(
    tenant: Tenant, neighbour: Tenant, member: Member, path: str
) -> None:
    furnish(neighbour, name="zenith")
    client = member("admin")
    html = client.get(path).content.decode()
    assert "zenith" not in html.lower()
    model = next(m for m in MODELS if m._meta.model_name in path)
    for pk in rows_of(neighbour, model):
        answer = client.get(f"{path}{pk}/change/", follow=True)
        assert answer.status_code == 404 or "doesn’t exist" in answer.content.decode()


@pytest.mark.parametrize("path", LISTS)
def test_lists_ask_as_often_for_many_rows_as_for_one(
    tenant: Tenant, member: Member, path: str
) -> None:
    client = member("admin")

    def count_queries() -> int:
        client.get(path)
        with CaptureQueriesContext(connection) as captured:
            assert client.get(path).status_code == 200
        return len(captured)

    furnish(tenant, 1, name="a")
    few = count_queries()
    furnish(tenant, 9, name="b")
    assert count_queries() == few


def test_lists_are_searched_and_filtered(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    furnish(build_tenant("other"), name="zenith")
    client = member("reader")
    for path, query, shown in (
        (LISTS[0], "q=s-1", {"s-1"}),
        (LISTS[1], "q=s-1", {"s-1"}),
        (LISTS[1], "outcome__exact=win", {"s-0"}),
        (LISTS[1], "is_evidence__exact=1", {"s-0", "s-1"}),
        (LISTS[1], "is_evidence__exact=0", set()),
        (LISTS[2], "status__exact=rejected", {"s-why"}),
        (LISTS[2], "status__exact=promoted", set()),
        (LISTS[3], "origin=trained", {"v2"}),
    ):
        html = client.get(f"{path}?{query}").content.decode()
        apart = re.search(r'class="small muted alike">.*?</p>', html)  # what all rows say alike
        rows = html.partition("<tbody")[2].rpartition("</tbody>")[0] + (apart[0] if apart else "")
        assert set(re.findall(r"\b(?:s-\w+|v\d)\b", rows)) == shown, (path, query)


def test_weights_are_not_fetched_for_lists(tenant: Tenant, member: Member) -> None:
    furnish(tenant)
    client = member("reader")
    with CaptureQueriesContext(connection) as captured:
        client.get(LISTS[3])
    fetched = [q["sql"].partition(" FROM ")[0] for q in captured if "modelversion" in q["sql"]]
    assert fetched
    assert not [columns for columns in fetched if '"checkpoint",' in columns]


def pages(tenant: Tenant, client: Client) -> tuple[str, str]:
    """Return the pages of the only comparison and of the only judgement, blanks made one."""
    shown = []
    for model in (Comparison, Judgement):
        (pk,) = rows_of(tenant, model)
        page = client.get(f"/admin/predictor/{model._meta.model_name}/{pk}/change/")
        assert page.status_code == 200
        shown.append(" ".join(page.content.decode().split()))
    return shown[0], shown[1]


def ranking(html: str, whose: str) -> list[str]:
    """Return the entries of a ranking."""
    return html.partition(f'id="of-{whose}"')[2].partition("</ol>")[0].split("<li")[1:]


def test_a_comparison_shows_both_rankings_and_what_moved(tenant: Tenant, member: Member) -> None:
    (made,) = fill(tenant, 1)
    with in_workspace(tenant.workspace):
        SessionCandidate.objects.filter(memory=made.baseline_top_ids[1]).update(fts_hit_count=3)
        Label.objects.filter(memory=made.baseline_top_ids[1]).update(relevance=0.85)
        texts = {memory.pk: memory.content for memory in Memory.objects.all()}
        hidden = made.session.candidates.filter(was_injected=False).values_list("memory", flat=True)
        assert hidden
    html, _ = pages(tenant, member("reader"))

    assert "Comparison of s-0, 1 Jun 2026" in html or f"Comparison of s-0, {NOW:%-d %b %Y}" in html
    for whose, ids in (
        ("baseline", made.baseline_top_ids),
        ("predictor", made.predictor_top_ids),
    ):
        entries = ranking(html, whose)
        assert len(entries) == len(ids)
        for place, (pk, entry) in enumerate(zip(ids, entries, strict=True), start=1):
            assert f">{place}</span>" in entry
            assert f">{texts[pk]}</a>" in entry
            assert (">injected<" in entry) is (pk not in hidden)
    second = ranking(html, "baseline")[1]
    assert "relevance 85 %, high" in second
    assert second.startswith(' class="entry worth-high"')
    assert "3 text hits" in second
    assert "learned ranking: no place" in second
    assert (
        "was worth 0.300 more than what the baseline chose, in a session that it had learned from."
    ) in html
    assert made.evidence["reason"] in html


def test_statistics_of_a_comparison_are_folded_and_each_says_what_it_means(
    tenant: Tenant, member: Member
) -> None:
    fill(tenant, 1)
    html, _ = pages(tenant, member("reader"))
    evidence = html.partition("<h2>The evidence</h2>")[2].partition("</section>")[0]
    unfolded, fold, folded = evidence.partition(
        '<details class="fold body"><summary>Statistics of the test</summary>'
    )
    assert fold
    row = re.compile(
        r'<th scope="row">([^<]+)(?:<span class="means">([^<]+)</span>)?</th>'
        r'<td class="num right">([^<]+)</td><td class="num right">([^<]+)</td>'
    )
    plain, statistics = row.findall(unfolded), row.findall(folded)
    assert [title for title, *_ in plain] == [
        "It has a say", "Baseline’s weight", "Success rate",
    ]  # fmt: skip
    assert plain[0][-1] in {"no", "growing", "yes"}
    assert [before for *_, before, _ in plain] == ["–"] * 3  # it is the first
    assert len(statistics) == 6
    assert all(meaning.endswith(".") for _, meaning, *_ in statistics)
    assert re.findall(r"CUSUM|e-value|tandard errors", html.replace(folded, "")) == []


def test_lists_of_learning_show_words_and_no_codes(tenant: Tenant, member: Member) -> None:
    fill(tenant, 2)
    with in_workspace(tenant.workspace):
        Comparison.objects.update(phase="warming")
        first, second = Judgement.objects.order_by("pk")
        Judgement.objects.filter(pk=first.pk).update(status="skipped", void_reason=TOO_SHORT)
        Judgement.objects.filter(pk=second.pk).update(void_reason="low confidence")
    client = member("reader")
    html = client.get("/admin/predictor/comparison/").content.decode()
    assert "warming" not in html
    assert PHASE_WORDS["warming"] in html
    html = client.get("/admin/predictor/judgement/").content.decode()
    assert "Skipped: there is too little to judge" in html
    assert void_words(TOO_SHORT) not in html  # the status says it
    assert escape(void_words("low confidence")) in html


def explained(tenant: Tenant, client: Client) -> str:
    html, _ = pages(tenant, client)
    return html.partition('<p class="explained">')[2].partition("</p>")[0]


def test_a_comparison_says_in_a_sentence_what_decided_it(tenant: Tenant, member: Member) -> None:
    (made,) = fill(tenant, 1)
    client = member("reader")
    ids = [*made.baseline_top_ids, *made.predictor_top_ids]
    key = made.baseline_top_ids[3]
    with in_workspace(tenant.workspace):
        Label.objects.update(relevance=0.1)
        Label.objects.filter(memory=key).update(relevance=0.95)
        Comparison.objects.update(
            baseline_top_ids=ids, predictor_top_ids=ids[::-1], outcome="loss", margin=-0.25,
            predictor_ndcg=0.5, baseline_ndcg=0.75,
        )  # fmt: skip
        text = Memory.objects.get(pk=key).content
    assert explained(tenant, client) == (
        "The baseline’s order was better by 0.250 (0.750 against 0.500, where 1 is the best"
        f" order possible), mostly because it put “{text}” (relevance 95 %) at place 4 and the"
        " learned ranking at place 6."
    )
    with in_workspace(tenant.workspace):
        Comparison.objects.update(outcome="win", margin=0.25, predictor_top_ids=[key])
    assert "mostly because it put" in explained(tenant, client)
    assert "at place 1 and the baseline at place 4" in explained(tenant, client)
    forget(tenant.workspace, [key], actor=SYSTEM, now=timezone.now())
    assert "a memory that is not shown any more (relevance 95 %)" in explained(tenant, client)
    with in_workspace(tenant.workspace):
        Comparison.objects.update(outcome="void", void_reason="low confidence")
    assert explained(tenant, client) == (
        "This session says nothing about the two orders: the judge was unsure."
    )
    with in_workspace(tenant.workspace):
        Comparison.objects.update(void_reason="no scores")
        Session.objects.update(no_opinion_reason="no_model")
    assert "nothing was learned yet." in explained(tenant, client)
    with in_workspace(tenant.workspace):
        Comparison.objects.update(outcome="tie", void_reason="", margin=0.0)
    assert explained(tenant, client) == "Both orders are equally good for this session."


def test_session_judgement_comparison_and_training_lead_to_each_other(
    tenant: Tenant, member: Member
) -> None:
    furnish(tenant, 1)
    client = member("reader")
    (comparison,), (judgement,) = rows_of(tenant, Comparison), rows_of(tenant, Judgement)
    with in_workspace(tenant.workspace):
        session = Comparison.objects.get().session_id
        training = Training.objects.get()
        training.trained_session_ids = [session]
        training.save()
    paths = {
        "session": f"/admin/memories/session/{session}/change/",
        "comparison": f"/admin/predictor/comparison/{comparison}/change/",
        "judgement": f"/admin/predictor/judgement/{judgement}/change/",
        "training": f"/admin/predictor/training/{training.pk}/change/",
    }
    leads = {
        "session": {"comparison", "judgement"},
        "comparison": {"session", "judgement", "training"},
        "judgement": {"session", "comparison", "training"},
        "training": {"session"},
    }
    for start, ends in leads.items():
        html = client.get(paths[start]).content.decode()
        assert {end for end in paths if f'href="{paths[end]}"' in html} - {start} == ends, start


def test_ids_and_the_random_seed_are_folded_below_the_facts(tenant: Tenant, member: Member) -> None:
    furnish(tenant, 1)
    with in_workspace(tenant.workspace):
        Training.objects.update(seed=918273645)
    client = member("reader")
    for model, name in ((Training, "seed"), (Comparison, "id"), (ModelVersion, "sha256")):
        with in_workspace(tenant.workspace):
            pk, value = model.objects.values_list("pk", name).get()
        html = client.get(f"/admin/predictor/{model._meta.model_name}/{pk}/change/")
        facts = html.content.decode().partition("<h2>Facts</h2>")[2].partition("</section>")[0]
        unfolded, _, folded = facts.partition("<details")
        assert not folded.startswith("open")
        assert f">{value}<" not in unfolded, name
        assert f">{value}<" in folded, name


def test_a_judgement_shows_what_was_said_of_each_memory(tenant: Tenant, member: Member) -> None:
    (made,) = fill(tenant, 1)
    with in_workspace(tenant.workspace):
        Judgement.objects.update(overall=0.73, confidence=0.91)
        Label.objects.filter(memory=made.baseline_top_ids[0]).update(
            relevance=0.62, final=0.41, reasons=["matched once"]
        )
    _, html = pages(tenant, member("reader"))

    assert "Judgement of s-0, " in html
    assert '<span class="value">73 %</span>' in html
    assert '<span class="value">91 %</span>' in html
    assert "The third note decided it.</p>" in html
    assert "<li>how refunds are booked</li>" in html
    assert "<details" in html
    assert "{ &quot;reasoning&quot;: &quot;The third note decided it.&quot; }</pre>" in html
    link = f"/console/memories/{made.baseline_top_ids[0]}/"
    row = html.partition(link)[2].partition("</tr>")[0]
    assert re.findall(r"\d+ %", row) == ["62 %", "41 %"]
    assert "matched once" in row
    table = html.partition("Memory by memory")[2].partition("</table>")[0]
    shown = [float(one) for one in re.findall(r'<td><span class="num">([\d.]+) %<', table)]
    assert len(set(shown)) > 2
    assert shown == sorted(shown, reverse=True)


def test_pages_say_what_was_forgotten_or_erased(tenant: Tenant, member: Member) -> None:
    (made,) = fill(tenant, 1)
    forgotten, erased = made.baseline_top_ids[:2]
    with in_workspace(tenant.workspace):
        texts = [memory.content for memory in Memory.objects.filter(pk__in=[forgotten, erased])]
        Memory.objects.get(pk=erased).delete()
    forget(tenant.workspace, [forgotten], actor=SYSTEM, now=timezone.now())
    comparison, judgement = pages(tenant, member("admin"))

    first, second = ranking(comparison, "baseline")[:2]
    assert "Forgotten: its text is not shown." in first
    assert "Erased: nothing of it is kept." in second
    for html in (comparison, judgement):
        assert html.count("Forgotten: its text is not shown.") == 1
        assert html.count("Erased: nothing of it is kept.") == 1
        assert "The judge&#x27;s own words are gone: it saw a memory" in html
        for text in (*texts, "The third note decided it.", "how refunds are booked"):
            assert text not in html


def test_pages_are_blind_while_a_person_is_asked(tenant: Tenant, member: Member) -> None:
    (made,) = fill(tenant, 1)
    asked = made.baseline_top_ids[0]
    with in_workspace(tenant.workspace):
        made.session.transcript = "x" * 600
        made.session.save()
        Label.objects.filter(memory=asked).update(relevance=0.77, raw=0.77, final=0.77)
        item = CalibrationItem.objects.create(
            sample=CalibrationSample.objects.create(reason="asked", size=1, drawn_at=NOW),
            session=made.session,
            memory_id=asked,
            position=1,
            stratum="s",
            judge_relevance=0.77,
            judge_kind="offline",
            judge_version="1",
        )
    client = member("admin")
    for html in pages(tenant, client):
        assert html.count("waits for a person") == 1
        assert "The judge&#x27;s own words are not shown yet" in html
        for said in ("77 %", "0.77", "The third note decided it.", "how refunds are booked"):
            assert said not in html
    with in_workspace(tenant.workspace):
        CalibrationItem.objects.filter(pk=item.pk).update(labelled_at=NOW)
    for html in pages(tenant, client):
        assert "77 %" in html
        assert "The third note decided it." in html


def test_pages_ask_as_often_for_many_memories_as_for_one(tenant: Tenant, member: Member) -> None:
    (made,) = fill(tenant, 1)
    client = member("reader")
    ids = [*made.baseline_top_ids, *made.predictor_top_ids]

    def count_queries(kept: int) -> list[int]:
        with in_workspace(tenant.workspace):
            many = list(Memory.objects.values_list("pk", flat=True))[:kept]
            Judgement.objects.update(memory_ids=many)
            Comparison.objects.update(
                baseline_top_ids=many, predictor_top_ids=many[::-1], created_at=NOW
            )
        counts = []
        for model in (Comparison, Judgement):
            path = f"/admin/predictor/{model._meta.model_name}/{rows_of(tenant, model)[0]}/change/"
            client.get(path)
            with CaptureQueriesContext(connection) as captured:
                html = client.get(path).content.decode()
            assert len(re.findall(r"/console/memories/[0-9a-f-]{36}/", html)) >= kept
            counts.append(len(captured))
        return counts

    with in_workspace(tenant.workspace):
        SessionCandidate.objects.exclude(memory=ids[0]).delete()
        like = Memory.objects.get(pk=ids[0])
        Memory.objects.exclude(pk=like.pk).delete()
    few = count_queries(1)
    with in_workspace(tenant.workspace):
        for place in range(99):
            like.pk, like.content_hash, like._state.adding = None, f"more-{place}", True
            like.id = uuid4()
            like.save()
    assert count_queries(100) == few


def test_trainings_and_versions_lead_to_each_other(tenant: Tenant, member: Member) -> None:
    furnish(tenant, 1)
    client = member("reader")
    (training,), (version,) = rows_of(tenant, Training), rows_of(tenant, ModelVersion)
    with in_workspace(tenant.workspace):
        Training.objects.update(version=1, status="promoted")
    made = client.get(f"/admin/predictor/training/{training}/change/").content.decode()
    assert f'href="/admin/predictor/modelversion/{version}/change/">v1<' in made
    assert "Training of " in made
    assert ">Churn<" in made
    assert "&lt;b&gt;bold&lt;/b&gt;" in made
    model = client.get(f"/admin/predictor/modelversion/{version}/change/").content.decode()
    assert f'href="/admin/predictor/training/{training}/change/"' in model
    assert "<title>Learned ranking v1, " in " ".join(model.split()).replace("<title> ", "<title>")


def test_a_row_that_does_not_exist_is_missing(tenant: Tenant, member: Member) -> None:
    client = member("reader")
    for path in LISTS:
        assert client.get(f"{path}{uuid4()}/change/").status_code == 404
