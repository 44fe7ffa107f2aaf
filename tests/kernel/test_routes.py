"""Every route × method × caller, from the resolver, with data that could leak.

A route that is not in EXPECTED fails: whoever adds one says who may call it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import timedelta
from typing import Any
from urllib.parse import quote
from uuid import uuid4

import pytest
from django.db import transaction
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver
from django.utils import timezone

from conflicts.models import Conflict, ConflictComment, Decision, Muting
from conflicts.services.detection.detect import detect_due
from engram.console.models import WebhookDelivery, WebhookEndpoint
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import ApiKey, Job, Role
from engram.kernel.tenancy import in_workspace
from memories.models import (
    ExtractionRefusal,
    JanitorAction,
    JanitorRun,
    Memory,
    Merge,
    MergeSuggestion,
    Note,
    PredictionError,
    Review,
    Session,
    SessionCandidate,
)
from memories.services.janitor.run import run as run_janitor
from predictor.models import CalibrationItem, CalibrationSample, Comparison, Training
from tests.conftest import NOW, Caller, Tenant, build_tenant

SECRET = "Zenith keeps its launch codes under the third flowerpot"
METHODS = ("get", "post", "put", "patch", "delete")
ANYBODY = "anybody"

# Route → method → the least role that may call it. What is not named here answers 405.
EXPECTED: dict[str, dict[str, str]] = {
    "memories": {"get": "reader", "post": "agent"},
    "memories/batch": {"post": "agent"},
    "memories/asks": {"get": "agent"},
    "memories/extract": {"post": "agent"},
    "memories/extraction-refusals": {"get": "reviewer"},
    "memories/extraction-refusals/<uuid:refusal_id>/accept": {"post": "reviewer"},
    "memories/extraction-refusals/<uuid:refusal_id>/reject": {"post": "reviewer"},
    "memories/extraction-refusals/<uuid:refusal_id>/undo": {"post": "reviewer"},
    "jobs/<uuid:job_id>": {"get": "agent"},
    "memories/recall": {"post": "reader"},
    "memories/forget": {"post": "agent"},
    "memories/restore": {"post": "agent"},
    "memories/rollback": {"post": "admin"},
    "memories/<uuid:memory_id>": {"get": "reader", "patch": "agent", "delete": "admin"},
    "memories/<uuid:memory_id>/history": {"get": "reader"},
    "memories/<uuid:memory_id>/relations": {"post": "agent"},
    "memories/<uuid:memory_id>/associations": {"get": "reader"},
    "memories/<uuid:memory_id>/note-links": {"get": "reader"},
    "memories/<uuid:memory_id>/recalls": {"get": "reader"},
    "memories/<uuid:memory_id>/why-not": {"get": "reader"},
    "memories/<uuid:memory_id>/signals": {"post": "agent"},
    "prediction-errors": {"get": "reader"},
    "prediction-errors/resolve": {"post": "reviewer"},
    "prediction-errors/<uuid:error_id>": {"get": "reader"},
    "prediction-errors/<uuid:error_id>/resolve": {"post": "reviewer"},
    "reviews": {"get": "agent"},
    "reviews/<uuid:review_id>": {"get": "agent"},
    "reviews/<uuid:review_id>/accept": {"post": "reviewer"},
    "reviews/<uuid:review_id>/reject": {"post": "reviewer"},
    "memories/<uuid:memory_id>/split": {"post": "agent"},
    "merge-suggestions": {"get": "reader"},
    "merge-suggestions/<uuid:suggestion_id>": {"get": "reader"},
    "merge-suggestions/<uuid:suggestion_id>/accept": {"post": "reviewer"},
    "merge-suggestions/<uuid:suggestion_id>/reject": {"post": "reviewer"},
    "gate/metrics": {"get": "reader"},
    "gate/audit": {"get": "reader"},
    "gate/audit/<uuid:merge_id>": {"post": "reviewer"},
    "gate/audit/<uuid:merge_id>/undo": {"post": "reviewer"},
    "conflicts": {"get": "reader", "post": "agent"},
    "conflicts/detect": {"post": "agent"},
    "conflicts/quality": {"get": "reader"},
    "conflicts/<uuid:conflict_id>": {"get": "reader"},
    "conflicts/<uuid:conflict_id>/resolve": {"post": "reviewer"},
    "conflicts/<uuid:conflict_id>/undo": {"post": "reviewer"},
    "conflicts/<uuid:conflict_id>/snooze": {"post": "reviewer"},
    "conflicts/<uuid:conflict_id>/assign": {"post": "reviewer"},
    "conflicts/<uuid:conflict_id>/comments": {"post": "reviewer"},
    "questions": {"get": "reader"},
    "questions/<uuid:question_id>": {"get": "reader"},
    "notes": {"get": "reader"},
    "notes/<note:note_path>": {"get": "reader", "put": "agent", "delete": "agent"},
    "context": {"post": "reader"},
    "session-reports": {"get": "reader"},
    "sessions": {"get": "reader", "post": "agent"},
    "sessions/<session:session_key>": {"get": "reader", "delete": "admin"},
    "sessions/<session:session_key>/prompts": {"post": "agent"},
    "sessions/<session:session_key>/feedback": {"post": "agent"},
    "sessions/<session:session_key>/end": {"post": "agent"},
    "janitor/preview": {"get": "reviewer"},
    "janitor/runs": {"get": "reader", "post": "admin"},
    "janitor/runs/<uuid:janitor_run_id>/actions": {"get": "reader"},
    "janitor/runs/<uuid:janitor_run_id>/undo": {"post": "admin"},
    "janitor/actions/<uuid:janitor_action_id>/undo": {"post": "admin"},
    "predictor/status": {"get": "reader"},
    "predictor/comparisons": {"get": "reader"},
    "predictor/comparisons/<uuid:comparison_id>": {"get": "reader"},
    "predictor/audit/<session:session_key>": {"get": "reader"},
    "predictor/training": {"get": "reader"},
    "predictor/drift": {"get": "reader"},
    "predictor/reset": {"post": "admin"},
    "predictor/enable": {"post": "admin"},
    "predictor/calibration": {"get": "reader"},
    "predictor/calibration/sample": {"get": "reviewer", "post": "reviewer"},
    "predictor/calibration/<uuid:calibration_id>/label": {"post": "reviewer"},
    "mutings": {"get": "reader"},
    "mutings/unmute": {"post": "reviewer"},
    "mutings/<uuid:muting_id>/accept": {"post": "reviewer"},
    "mutings/<uuid:muting_id>/reject": {"post": "reviewer"},
    "detections": {"get": "reader"},
    "detections/<uuid:run_id>": {"get": "reader"},
    "keys": {"get": "admin", "post": "admin"},
    "keys/<uuid:key_id>": {"get": "admin", "delete": "admin"},
    "webhooks": {"get": "admin", "post": "admin"},
    "webhooks/<uuid:webhook_id>": {"get": "admin", "patch": "admin", "delete": "admin"},
    "webhooks/<uuid:webhook_id>/secret": {"post": "admin"},
    "webhooks/<uuid:webhook_id>/test": {"post": "admin"},
    "webhooks/<uuid:webhook_id>/deliveries": {"get": "admin"},
    "webhooks/deliveries/<uuid:delivery_id>/redeliver": {"post": "admin"},
    "inbox": {"get": "reader"},
    "events": {"get": "reader"},
    "diagnostics": {"get": "reader"},
    "diagnostics/predictor": {"get": "reader"},
    "analytics/latency": {"get": "reader"},
    "analytics/errors": {"get": "reader"},
    "timeline/<session:session_key>": {"get": "reader"},
    "pipeline/status": {"get": "reader"},
    "workspace/deletion": {"get": "admin", "post": "admin"},
    "workspace/retention": {"get": "reader"},
    "workspace/settings": {"get": "reader", "patch": "admin"},
    "workspace/settings/replay": {"post": "reviewer"},
    "schema/": {"get": ANYBODY},
}


# What creates the thing that the address names, and so refuses no unknown one.
CREATING = {("put", "notes/<note:note_path>")}

# A valid body of each route that looks one thing up: the lookup, not the validation, must refuse.
BODIES: dict[tuple[str, str], dict[str, Any]] = {
    ("patch", "memories/<uuid:memory_id>"): {"content": "Overwritten.", "scope": "taken"},
    ("post", "conflicts/<uuid:conflict_id>/resolve"): {"verdict": "dismiss", "note": "taken"},
    ("post", "conflicts/<uuid:conflict_id>/undo"): {},
    ("post", "conflicts/<uuid:conflict_id>/snooze"): {
        "until": (timezone.now() + timedelta(days=7)).isoformat()
    },
    ("post", "conflicts/<uuid:conflict_id>/assign"): {"assignee": None},
    ("post", "conflicts/<uuid:conflict_id>/comments"): {"text": "taken"},
    ("get", "memories/<uuid:memory_id>"): {},
    ("get", "memories/<uuid:memory_id>/associations"): {},
    ("get", "memories/<uuid:memory_id>/note-links"): {},
    ("get", "memories/<uuid:memory_id>/recalls"): {},
    ("get", "memories/<uuid:memory_id>/why-not"): {"query": "launch codes"},
    ("delete", "memories/<uuid:memory_id>"): {},
    ("post", "memories/<uuid:memory_id>/signals"): {"source": "taken", "evidence": {"a": 1}},
    ("get", "prediction-errors/<uuid:error_id>"): {},
    ("post", "prediction-errors/<uuid:error_id>/resolve"): {"action": "dismiss", "note": "taken"},
    ("get", "reviews/<uuid:review_id>"): {},
    ("post", "reviews/<uuid:review_id>/accept"): {"note": "taken"},
    ("post", "reviews/<uuid:review_id>/reject"): {"note": "taken"},
    ("get", "memories/<uuid:memory_id>/history"): {},
    ("post", "memories/<uuid:memory_id>/relations"): {
        "other": "<uuid:other_id>",
        "relation": "same",
    },
    ("post", "memories/<uuid:memory_id>/split"): {"observation_id": "<uuid:observation_id>"},
    ("get", "merge-suggestions/<uuid:suggestion_id>"): {},
    ("post", "merge-suggestions/<uuid:suggestion_id>/accept"): {},
    ("post", "merge-suggestions/<uuid:suggestion_id>/reject"): {},
    ("post", "gate/audit/<uuid:merge_id>"): {"correct": False, "split": True},
    ("post", "gate/audit/<uuid:merge_id>/undo"): {},
    ("get", "conflicts/<uuid:conflict_id>"): {},
    ("get", "questions/<uuid:question_id>"): {},
    ("get", "janitor/runs/<uuid:janitor_run_id>/actions"): {},
    ("post", "janitor/runs/<uuid:janitor_run_id>/undo"): {},
    ("post", "janitor/actions/<uuid:janitor_action_id>/undo"): {},
    ("get", "notes/<note:note_path>"): {},
    ("delete", "notes/<note:note_path>"): {},
    ("get", "sessions/<session:session_key>"): {},
    ("get", "timeline/<session:session_key>"): {},
    ("delete", "sessions/<session:session_key>"): {},
    ("post", "sessions/<session:session_key>/prompts"): {"prompt": "launch codes"},
    ("post", "sessions/<session:session_key>/feedback"): {
        "memory_id": "<uuid:memory_id>",
        "value": 1,
    },
    ("post", "sessions/<session:session_key>/end"): {"transcript": "taken"},
    ("post", "predictor/calibration/<uuid:calibration_id>/label"): {"label": 1},
    ("get", "predictor/comparisons/<uuid:comparison_id>"): {},
    ("get", "predictor/audit/<session:session_key>"): {},
    ("get", "detections/<uuid:run_id>"): {},
    ("post", "mutings/<uuid:muting_id>/accept"): {},
    ("post", "mutings/<uuid:muting_id>/reject"): {},
    ("get", "jobs/<uuid:job_id>"): {},
    ("post", "memories/extraction-refusals/<uuid:refusal_id>/accept"): {},
    ("post", "memories/extraction-refusals/<uuid:refusal_id>/reject"): {},
    ("post", "memories/extraction-refusals/<uuid:refusal_id>/undo"): {},
    ("get", "keys/<uuid:key_id>"): {},
    ("delete", "keys/<uuid:key_id>"): {},
    ("get", "webhooks/<uuid:webhook_id>"): {},
    ("patch", "webhooks/<uuid:webhook_id>"): {"url": "https://taken.example/"},
    ("post", "webhooks/<uuid:webhook_id>/secret"): {},
    ("post", "webhooks/<uuid:webhook_id>/test"): {},
    ("get", "webhooks/<uuid:webhook_id>/deliveries"): {},
    ("post", "webhooks/deliveries/<uuid:delivery_id>/redeliver"): {},
    ("delete", "webhooks/<uuid:webhook_id>"): {},
}


def api_routes(resolver: Any = None, prefix: str = "") -> Iterator[str]:
    """Yield the routes below /api/v1/ as the resolver has them."""
    for pattern in (resolver or get_resolver()).url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from api_routes(pattern, path)
        elif isinstance(pattern, URLPattern) and path.startswith("api/v1/"):
            yield path.removeprefix("api/v1/")


@dataclass(frozen=True)
class Ids:
    """Ids of one workspace's things, by the name of the route's parameter."""

    memory_id: str
    conflict_id: str
    run_id: str
    key_id: str
    janitor_run_id: str
    janitor_action_id: str
    review_id: str
    suggestion_id: str
    merge_id: str
    observation_id: str
    other_id: str
    session_key: str
    calibration_id: str
    comparison_id: str
    muting_id: str
    question_id: str
    note_path: str
    job_id: str
    refusal_id: str
    error_id: str
    webhook_id: str
    delivery_id: str

    def fill(self, route: str) -> str:
        """Return the route with this workspace's ids in it."""
        for field in fields(self):
            route = route.replace(f"<uuid:{field.name}>", getattr(self, field.name))
        route = route.replace("<note:note_path>", quote(self.note_path))
        return route.replace("<session:session_key>", quote(self.session_key, safe=""))

    def fill_body(self, body: dict[str, Any]) -> dict[str, Any]:
        """Return the body with this workspace's ids in it."""
        return {k: self.fill(v) if isinstance(v, str) else v for k, v in body.items()}


def of_nobody() -> Ids:
    """Return ids that no workspace has."""
    return Ids(*[str(uuid4()) for _ in fields(Ids)])


def furnish(tenant: Tenant) -> Ids:
    """Fill a workspace with one of everything, told apart by its secret."""
    answers = [{"question": f"How many codes of {SECRET}?", "answer": "1000"}]
    low = tenant.agent.post(
        "memories", {"content": f"{SECRET}: 1000 of them.", "scope": "x", "answers": answers}
    )
    tenant.agent.post("memories", {"content": f"{SECRET}: 5000 of them.", "scope": "y"})
    memory_id = low.json()["memory"]["id"]
    tenant.agent.post(
        "memories", {"content": f"{SECRET}: 1000 of them at 14:00 UTC.", "scope": "x"}
    )
    finer = {"content": f"{SECRET}: 5000 of them at 14:00 UTC.", "provenance": "user_stated"}
    tenant.agent.post("memories", {**finer, "scope": "y"})
    other = tenant.agent.get("memories").json()["results"][0]["id"]
    card = tenant.agent.post("conflicts", {"memory_ids": [memory_id, other]})
    runs = detect_due(tenant.workspace, clock=timezone.now)
    with in_workspace(tenant.workspace):
        key_id = ApiKey.objects.get(name__endswith="reader").pk
        suggested, merge = MergeSuggestion.objects.get(), Merge.objects.get()
    swept = run_janitor(tenant.workspace, actor=SYSTEM, now=timezone.now() + timedelta(days=200))
    with in_workspace(tenant.workspace):
        action_id = JanitorAction.objects.filter(run=swept)[0].pk
    stated = {"content": f"{SECRET}: said by hand.", "scope": "z", "provenance": "user_stated"}
    guarded = tenant.agent.post("memories", stated).json()["memory"]["id"]
    asked = tenant.agent.patch(f"memories/{guarded}", {"content": f"{SECRET}: no more."})
    session_key = f"{tenant.workspace.slug}/talk 1?"
    about = {"session_key": session_key, "project": SECRET, "context": SECRET, "k": 100}
    assert tenant.agent.post("sessions", about).status_code == 201
    return Ids(
        memory_id,
        card.json()["id"],
        str(runs[0].id),
        str(key_id),
        str(swept.pk),
        str(action_id),
        asked.json()["review"],
        str(suggested.pk),
        str(merge.pk),
        str(merge.observation_id),
        other,
        session_key,
        ask_about(tenant, session_key),
        compared(tenant, session_key),
        proposed(tenant),
        tenant.reader.get("questions").json()["results"][0]["id"],
        note_of(tenant),
        *refused(tenant),
        signalled(tenant, other),
        *told(tenant),
    )


def told(tenant: Tenant) -> tuple[str, str]:
    """Let a webhook be told of something; return the ids of the webhook and of the delivery."""
    url = f"https://hooks.example.com/{quote(SECRET)}"
    body = {"url": url, "events": ["conflict.opened"]}
    webhook_id = tenant.admin.post("webhooks", body).json()["id"]
    return webhook_id, tenant.admin.post(f"webhooks/{webhook_id}/test").json()["id"]


def note_of(tenant: Tenant) -> str:
    """Store a note about the secret; return its path."""
    path = f"{tenant.workspace.slug}/codes 1?.md"
    body = {"content": f"# Codes\n\n{SECRET}."}
    assert call(tenant.agent, "put", f"notes/{quote(path)}", body).status_code == 201
    return path


def refused(tenant: Tenant) -> tuple[str, str]:
    """Let a statement of a transcript be refused; return the ids of the job and the refusal."""
    with in_workspace(tenant.workspace):
        made = Job.objects.create(
            kind="extraction", caller="system:", role="agent", created_at=timezone.now(),
            result={"note": SECRET},
        )  # fmt: skip
        refusal = ExtractionRefusal.objects.create(
            job=made, text=SECRET, fact=f"{SECRET}, as was said.", reason="not_lasting", worth=0.3,
            confidence=0.9, provenance="assistant_derived", position=0, is_borderline=True,
            created_at=timezone.now(),
        )  # fmt: skip
        return str(made.pk), str(refusal.pk)


def signalled(tenant: Tenant, memory_id: str) -> str:
    """Let a signal speak against a memory; return the id of the prediction error."""
    body = {"source": "git", "evidence": {"said": SECRET}}
    answer = tenant.agent.post(f"memories/{memory_id}/signals", body)
    assert answer.status_code == 201
    error_id: str = answer.json()["id"]
    return error_id


def proposed(tenant: Tenant) -> str:
    """Let a rule be proposed for muting; return the proposal's id."""
    with in_workspace(tenant.workspace):
        made = Muting.objects.create(rule=SECRET[:48], decided=40, created_at=timezone.now())
        return str(made.pk)


def ask_about(tenant: Tenant, session_key: str) -> str:
    """Let an item of calibration wait in a session; return its id."""
    with in_workspace(tenant.workspace):
        session = Session.objects.get(session_key=session_key)
        Session.objects.filter(pk=session.pk).update(transcript=SECRET)
        row = session.candidates.filter(memory__in=Memory.objects.recallable())[0]
        drawn = CalibrationSample.objects.create(reason="asked", size=1, drawn_at=timezone.now())
        item = CalibrationItem.objects.create(
            sample=drawn,
            session=session,
            memory_id=row.memory_id,
            position=1,
            stratum="high, sure",
            judge_relevance=0.9,
            judge_kind="offline",
            judge_version="1",
        )
        return str(item.pk)


def compared(tenant: Tenant, session_key: str) -> str:
    """Let the two rankings of a session be compared; return the comparison's id."""
    with in_workspace(tenant.workspace):
        session = Session.objects.get(session_key=session_key)
        made = Comparison.objects.create(
            session=session, outcome="win", phase="warming", created_at=timezone.now()
        )
        Training.objects.create(
            status="failed", reason="first", error=SECRET, started_at=timezone.now()
        )
        return str(made.pk)


def call(caller: Caller, method: str, path: str, body: dict[str, Any] | None = None) -> Any:
    if method == "get":
        return caller.get(path, body)
    if method == "delete":
        return caller.delete(path)
    return caller._send(method, path, body or {}, {})


def kept_rows(tenant: Tenant) -> list[Any]:
    """Return what a stranger could have changed in a workspace, as it stands now."""
    with in_workspace(tenant.workspace):
        return [
            list(Memory.objects.order_by("pk").values()),
            list(WebhookEndpoint.objects.order_by("pk").values()),
            list(WebhookDelivery.objects.order_by("pk").values()),
            list(Merge.objects.order_by("pk").values()),
            list(MergeSuggestion.objects.order_by("pk").values()),
            list(Conflict.objects.order_by("pk").values()),
            list(ConflictComment.objects.order_by("pk").values()),
            list(Decision.objects.order_by("pk").values()),
            list(Review.objects.order_by("pk").values()),
            list(JanitorRun.objects.order_by("pk").values()),
            list(JanitorAction.objects.order_by("pk").values()),
            list(Session.objects.order_by("pk").values("pk", "ended_at", "prompt_count")),
            list(SessionCandidate.objects.order_by("pk").values()),
            list(CalibrationItem.objects.order_by("pk").values()),
            list(ApiKey.objects.order_by("pk").values_list("pk", "revoked_at")),
            list(Muting.objects.order_by("pk").values()),
            list(PredictionError.objects.order_by("pk").values()),
            list(Note.objects.order_by("pk").values()),
            list(ExtractionRefusal.objects.order_by("pk").values()),
        ]


def test_every_route_is_listed_here() -> None:
    assert sorted(api_routes()) == sorted(EXPECTED)


@pytest.mark.parametrize("route", EXPECTED)
def test_only_the_listed_methods_exist(route: str, tenant: Tenant) -> None:
    ids = of_nobody()
    refused = {m for m in METHODS if call(tenant.admin, m, ids.fill(route)).status_code == 405}
    assert refused == set(METHODS) - set(EXPECTED[route])


@pytest.mark.parametrize("route", EXPECTED)
def test_each_role_may_do_what_is_listed(route: str, tenant: Tenant) -> None:
    ids = of_nobody()
    for method, least in EXPECTED[route].items():
        if least == ANYBODY:
            continue
        for role in Role:
            body = {"memory_id": ids.memory_id} if route == "conflicts/detect" else None
            answer = call(tenant.caller(role.value), method, ids.fill(route), body)
            is_allowed = role.includes(Role(least))
            assert (answer.status_code != 403) == is_allowed, (method, role)
            assert answer.status_code < 500


def test_reading_the_whole_story_again_is_for_reviewers(tenant: Tenant) -> None:
    for role in Role:
        answer = tenant.caller(role.value).post("conflicts/detect", {})
        assert answer.status_code == (202 if role.includes(Role.REVIEWER) else 403)


@pytest.mark.parametrize("route", EXPECTED)
def test_callers_without_a_valid_key_get_401(route: str, tenant: Tenant) -> None:
    ids = of_nobody()
    _, token = keys.issue(
        tenant.workspace, name="old", role=Role.ADMIN, actor=SYSTEM, now=NOW, expires_at=NOW
    )
    revoked, revoked_token = keys.issue(
        tenant.workspace, name="revoked", role=Role.ADMIN, actor=SYSTEM, now=NOW
    )
    keys.revoke(revoked, actor=SYSTEM, now=NOW)
    strangers = ["", token, revoked_token, "egr_nonsense", "egr_\udc80", "x" * 10_000]
    for method, least in EXPECTED[route].items():
        if least == ANYBODY:
            continue
        for stranger in strangers:
            if not stranger.isprintable():
                continue
            answer = call(Caller(stranger, Client()), method, ids.fill(route))
            assert answer.status_code == 401, (method, stranger[:12])
            assert answer["WWW-Authenticate"].startswith("Bearer")
            assert answer["Content-Type"] == "application/problem+json"


def test_every_lookup_has_a_valid_body_here() -> None:
    lookups = {(m, route) for route, ms in EXPECTED.items() for m in ms if "<" in route} - CREATING
    assert set(BODIES) == lookups


_NOTHING_DECIDED = ("conflict_id>/undo", "refusal_id>/undo", "merge_id>/undo")


def test_bodies_of_lookups_are_valid(tenant: Tenant) -> None:
    ids = furnish(tenant)
    for (method, route), body in BODIES.items():
        # In a session only the key that started it speaks.
        is_own = route.endswith(("/prompts", "/feedback"))
        caller = tenant.agent if is_own else tenant.admin
        with transaction.atomic():
            answer = call(caller, method, ids.fill(route), ids.fill_body(body))
            transaction.set_rollback(True)  # each finds what was furnished
        assert answer.status_code in (
            {409} if route.endswith(_NOTHING_DECIDED) else {200, 201, 202, 204}
        ), (method, route, answer.content)


def test_nothing_of_another_workspace_is_shown_or_changed(
    tenant: Tenant, neighbour: Tenant
) -> None:
    """Pitfall 8."""
    foreign = furnish(neighbour)
    before = kept_rows(neighbour)
    for (method, route), body in BODIES.items():
        answer = call(tenant.admin, method, foreign.fill(route), foreign.fill_body(body))
        assert (answer.status_code, method, route) == (404, method, route)
        nobody = of_nobody()
        unknown = call(tenant.admin, method, nobody.fill(route), nobody.fill_body(body))
        assert unknown.json() | {"instance": ""} == answer.json() | {"instance": ""}
    assert kept_rows(neighbour) == before


def test_lists_show_nothing_of_another_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    furnish(neighbour)
    for route, methods in EXPECTED.items():
        for method in methods:
            if "<" not in route:
                assert SECRET not in call(tenant.admin, method, route).content.decode()


def test_ids_of_another_workspace_in_bodies_find_nothing(tenant: Tenant, neighbour: Tenant) -> None:
    foreign = furnish(neighbour)
    mine = tenant.agent.post("memories", {"content": "Ours."}).json()["memory"]["id"]
    ids = {"ids": [foreign.memory_id], "confirm": True}
    assert tenant.agent.post("memories/forget", ids).json()["forgotten"] == 0
    assert tenant.agent.post("memories/restore", {"ids": [foreign.memory_id]}).json()["ids"] == []
    for body in (
        {"content": "a", "supersedes": foreign.memory_id},
        {"content": "b", "derived_from": [foreign.memory_id]},
    ):
        assert tenant.agent.post("memories", body).status_code == 422
    reported = tenant.agent.post("conflicts", {"memory_ids": [mine, foreign.memory_id]})
    assert reported.status_code == 422
    one = tenant.agent.post("conflicts/detect", {"memory_id": foreign.memory_id})
    assert one.status_code == 404
    for filters in ({"memory_id": foreign.memory_id},):
        assert tenant.reader.get("conflicts", filters).json()["results"] == []
    found = tenant.reader.post("memories/recall", {"query": SECRET})
    assert SECRET not in found.content.decode()
    with in_workspace(neighbour.workspace):
        assert neighbour.reader.get(f"memories/{foreign.memory_id}").json()["state"] == "active"


def test_signed_in_members_are_confined_and_need_the_csrf_token(
    tenant: Tenant, member: Any
) -> None:
    other = build_tenant("zenith")
    foreign = furnish(other)
    person = member("reviewer")
    assert person.get(f"/api/v1/memories/{foreign.memory_id}").status_code == 404
    assert SECRET not in person.get("/api/v1/memories").content.decode()
    strict = Client(enforce_csrf_checks=True)
    strict.cookies = person.cookies
    refused = strict.post("/api/v1/memories", {"content": "x"}, content_type="application/json")
    assert refused.status_code == 403


def test_a_person_without_a_membership_is_nobody(tenant: Tenant) -> None:
    from django.contrib.auth.models import User

    client = Client()
    client.force_login(User.objects.create_superuser("root-ish", password="x"))
    assert client.get("/api/v1/memories").status_code == 401
