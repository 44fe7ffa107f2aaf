"""Every route of the admin: what was forgotten, erased or is another's shows nowhere.

A canary takes part in everything of a workspace. The routes come from the resolver, the rows from
the database, the fields and filters from the admin itself: what is added later is walked too.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import islice
from typing import Any
from uuid import UUID

import pytest
from django.apps import apps
from django.contrib import admin
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import User
from django.contrib.contenttypes.models import ContentType
from django.contrib.postgres.fields import ArrayField
from django.contrib.sessions.models import Session as BrowserSession
from django.db import models, transaction
from django.test import Client
from django.urls import URLPattern, URLResolver

from conflicts.models import Conflict
from engram.console import feed
from engram.kernel.models import Membership, Role, Workspace
from engram.kernel.tenancy import in_workspace
from memories.models import (
    JanitorAction,
    JanitorRun,
    Memory,
    Merge,
    MergeSuggestion,
    Observation,
    Review,
    Session,
)
from predictor.models import CalibrationItem, Comparison, Judgement
from tests.conftest import NOW, Tenant, issue_agent
from tests.memories.test_erase import CANARY, commit, let_it_take_part

MEMORIES = "/admin/memories/memory/"
ROWS, FEW_ROWS = 8, 2  # of models with texts, and of accounts, keys, history and the like
WALKERS = [*Role.values, "superuser", "superuser-elsewhere"]
OWN_APPS = ("kernel", "memories", "conflicts", "predictor", "console")
# What people and programs call things by; every other text of a row may quote a memory.
IDENTIFIERS = {
    "name", "username", "prefix", "type", "path", "stage", "worker", "code", "source",
    "outcome", "model",
    "session_key", "verdict", "decided_by", "relation", "agent", "status", "phase",
    "file_digest",
}  # fmt: skip


pytestmark = pytest.mark.usefixtures("quiet", "uncounted")


def claim_it(tenant: Tenant) -> None:
    """Let claims quote the canary: one accepted, one rejected, one waiting."""
    plain = issue_agent(tenant.workspace, "claimer")
    for wall, verb in (("north", "accept"), ("west", "reject"), ("south", "")):
        text = f"The {wall} wall of the keep was painted by {CANARY}."
        asked = plain.post("memories", {"content": text, "pinned": True, "source": CANARY})
        if verb:
            path = f"reviews/{asked.json()['review']}/{verb}"
            assert tenant.reviewer.post(path, {"note": CANARY}).status_code == 200
        if verb != "accept":
            commit(tenant.agent, text)


def furnish(tenant: Tenant) -> dict[str, Any]:
    """Let the canary take part in everything that the admin tells of."""
    known = let_it_take_part(tenant)
    claim_it(tenant)
    start = {"session_key": "night", "context": "The vault of the north tower", "scope": "tower"}
    assert tenant.agent.post("sessions", start).status_code == 201
    tenant.agent.post("sessions/night/prompts", {"prompt": f"Is it {CANARY}?"})
    tenant.agent.post("sessions/night/end", {"transcript": f"The word is {CANARY}. " * 60})
    with in_workspace(tenant.workspace):
        memory, rival = (Memory.objects.get(pk=known[name]) for name in ("id", "rival"))
        session = Session.objects.get()
        Judgement.objects.update_or_create(
            session=session,
            defaults={
                "status": "done", "due_at": NOW, "judged_at": NOW, "kind": "model",
                "memory_ids": [memory.pk, rival.pk], "missing_topics": [f"why {CANARY}"],
                "raw": {"reasoning": f"It used {CANARY}."},
            },
        )  # fmt: skip
        Comparison.objects.create(
            session=session, outcome="win", phase="warming", created_at=NOW,
            baseline_top_ids=[memory.pk], predictor_top_ids=[rival.pk],
        )  # fmt: skip
        said = Observation.objects.filter(memory=memory).first()
        Merge.objects.create(
            memory=memory, observation=said, relation="same", reasons=[CANARY], created_at=NOW,
            before={"content": CANARY}, after={"content": CANARY},
        )  # fmt: skip
        MergeSuggestion.objects.create(
            memory=memory, other=rival, relation="refines", reasons=[CANARY], created_at=NOW,
            pair="-".join(sorted((str(memory.pk), str(rival.pk)))),
        )  # fmt: skip
        run = JanitorRun.objects.create(started_at=NOW, demoted=1)
        JanitorAction.objects.create(
            run=run, memory=memory, verb="demote", before={"weight_factor": 1}, at=NOW,
            after={"weight_factor": 0.9},
        )  # fmt: skip
        Review.objects.filter(memory=memory).update(note=f"About {CANARY}.")
        told = Memory.objects.filter(content__icontains=CANARY).values_list("pk", flat=True)
        return known | {"told": [str(pk) for pk in told]}


def forget(tenant: Tenant, known: dict[str, Any]) -> None:
    body = {"ids": known["told"], "confirm": True}
    told = tenant.reviewer.post("memories/forget", body).json()
    assert told["forgotten"] == len(known["told"])


def signed_in(tenant: Tenant, walker: str) -> Client:
    user = User.objects.create_user(
        f"{walker}-walker", is_staff=True, is_superuser=walker.startswith("superuser")
    )
    if walker != "superuser-elsewhere":
        role = walker if walker in Role.values else Role.ADMIN
        Membership.objects.create(workspace=tenant.workspace, user=user, role=role)
    client = Client()
    client.force_login(user)
    return client


# The routes


def admin_routes(resolver: Any = None, prefix: str = "/admin/") -> Iterator[str]:
    for pattern in resolver.url_patterns if resolver else admin.site.get_urls():
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from admin_routes(pattern, route)
        elif isinstance(pattern, URLPattern) and "logout" not in route:
            yield route


def keys_of(model: type[models.Model]) -> list[str]:
    has_texts = model._meta.app_label in {"memories", "conflicts", "predictor"}
    keys = model._base_manager.values_list("pk", flat=True)
    return [str(pk) for pk in keys[: ROWS if has_texts else FEW_ROWS]]


def filled(route: str) -> Iterator[str]:
    """Yield the paths of a route, with every row that the workspace being served has."""
    if "(?P<app_label>" in route:
        yield from (f"/admin/{label}/" for label in ("auth", *OWN_APPS))
    elif "(?P<url>" in route:
        yield "/admin/nothing/here/"
    elif "content_type_id" in route:
        for model in apps.get_models():
            kind = ContentType.objects.get_for_model(model).pk
            yield from (f"/admin/r/{kind}/{pk}/" for pk in safe_keys(model))
    elif "<" in route:
        app, name = route.split("/")[2:4]
        for pk in keys_of(apps.get_model(app, name)):
            yield re.sub("<[^>]*>", pk, route)
    else:
        yield route


def safe_keys(model: type[models.Model]) -> list[str]:
    has_one_key = not isinstance(model._meta.pk, models.CompositePrimaryKey)
    return keys_of(model)[:3] if has_one_key and not model._meta.swapped else []


def autocompletions() -> Iterator[str]:
    """Yield a question of the autocompletion for every relation of every model."""
    for model in apps.get_models():
        for field in model._meta.get_fields():
            if field.is_relation:
                opts = model._meta
                yield (
                    f"/admin/autocomplete/?term=vault&app_label={opts.app_label}"
                    f"&model_name={opts.model_name}&field_name={field.name}"
                )


def list_questions(changelist: str, model_admin: Any) -> Iterator[str]:
    """Yield what a list can be asked: searched, sorted, as a popup, its further pages."""
    yield from (f"{changelist}?q=vault", f"{changelist}?q=vault&state=all&status=all")
    yield from (f"{changelist}?_popup=1&_to_field=id", f"{changelist}?p=2", f"{changelist}?e=1")
    yield from (f"{changelist}?o={n}" for n in (1, -len(model_admin.list_display)))


def offered(page: str, changelist: str) -> Iterator[str]:
    """Yield the links of a list to itself: its filters and pages, as it offers them."""
    for query in sorted(set(re.findall(r'href="(\?[^"]+)"', page))):
        if "o=" not in query:
            yield changelist + query.replace("&amp;", "&")


def actions(
    client: Client, model_admin: Any, changelist: str, keys: list[str]
) -> Iterator[tuple[str, Any]]:
    """Yield the page that asks before each action, and where it leads when it was confirmed."""
    data: dict[str, Any] = {"_selected_action": keys, "select_across": "0"}
    path = f"{changelist}?state=all&status=all"
    for action in model_admin.actions:
        data["action"] = action if isinstance(action, str) else action.__name__
        yield f"{path} {data['action']}", client.post(path, data)
        with transaction.atomic():
            sure = data | {"confirmed": "yes", "verdict": "dismiss", "note": "n", "assignee": ""}
            yield f"{path} {data['action']} confirmed", client.post(path, sure, follow=True)
            transaction.set_rollback(True)


def visits(client: Client, tenant: Tenant, *, filters: bool = True) -> Iterator[tuple[str, Any]]:
    """Yield every path of the admin with its answer, for the rows of a workspace."""
    with in_workspace(tenant.workspace):
        paths = {route: list(filled(route)) for route in admin_routes()}
    for route, found in paths.items():
        yield from ((path, client.get(path)) for path in found)
        for path in found[:1]:
            if "password" not in route:
                with transaction.atomic():
                    yield f"{path} (post)", client.post(path, {"post": ""}, follow=True)
                    transaction.set_rollback(True)
    yield "search", client.get("/admin/search/?s=vault&extended=1")
    for model, model_admin in admin.site._registry.items():
        changelist = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
        page = client.get(f"{changelist}?state=all&status=all")
        if page.status_code == 403:
            continue
        links = offered(text_of(page), changelist) if filters else ()
        for path in [*list_questions(changelist, model_admin), *links]:
            yield path, client.get(path, follow=True)
        with in_workspace(tenant.workspace):
            keys = keys_of(model)
        yield from actions(client, model_admin, changelist, keys)


def text_of(answer: Any) -> str:
    """Return everything an answer says: the page, its headers and cookies."""
    said = f"{dict(answer.items())} {answer.cookies}"
    return said + answer.content.decode()


def is_for_restoring(walker: str, path: str, known: dict[str, Any]) -> bool:
    """Tell whether a page shows a forgotten memory on purpose: to those who may bring it back.

    The memory's own page and the lists that were asked for forgotten ones, from the role agent on,
    as in the API; and the question before it is brought back.
    """
    if walker in {"reader", "superuser-elsewhere"} or not path.startswith(MEMORIES):
        return False
    # Django sends `…/<id>/` on to `…/<id>/change/`.
    own_page = any(
        path.startswith(f"{MEMORIES}{pk}/change/") or path == f"{MEMORIES}{pk}/ (post)"
        for pk in known["told"]
    )
    return own_page or re.search(r"[?&]state=(all|forgotten)", path) is not None


@pytest.mark.parametrize("walker", WALKERS)
def test_no_page_of_the_admin_shows_what_was_forgotten(tenant: Tenant, walker: str) -> None:
    known = furnish(tenant)
    client = signed_in(tenant, walker)
    forget(tenant, known)
    shown = []
    # What a filter offers depends on no role; here who sees least goes through all, an admin below.
    for path, answer in visits(client, tenant, filters=walker == "reader"):
        assert answer.status_code < 500, path
        if CANARY in text_of(answer):
            shown.append(path)
    assert [path for path in shown if not is_for_restoring(walker, path, known)] == []
    may_restore = walker not in {"reader", "superuser-elsewhere"}
    assert may_restore is any(is_for_restoring(walker, path, known) for path in shown)
    assert nothing_kept_it()


def test_the_walk_finds_what_there_is_to_find(tenant: Tenant) -> None:
    """Before anything is forgotten the same walk meets the canary on pages of every kind."""
    furnish(tenant)
    client = signed_in(tenant, "admin")
    found = [
        path for path, answer in visits(client, tenant, filters=False) if CANARY in text_of(answer)
    ]
    met = {path.split("/")[3] for path in found}
    assert met >= {
        "memory", "review", "conflict", "judgement", "comparison", "session", "merge",
        "mergesuggestion", "janitorrun",
    }  # fmt: skip


def test_no_page_of_the_admin_shows_what_was_erased(tenant: Tenant) -> None:
    known = furnish(tenant)
    client = signed_in(tenant, "superuser")
    for memory_id in known["told"]:
        assert tenant.admin.delete(f"memories/{memory_id}").status_code in {
            204,
            404,
        }  # with its twin
    for path, answer in visits(client, tenant):
        assert answer.status_code < 500, path
        assert CANARY not in text_of(answer), path
    assert nothing_kept_it()


def test_no_page_of_the_admin_shows_what_is_anothers(tenant: Tenant, neighbour: Tenant) -> None:
    furnish(neighbour)
    commit(tenant.agent, "Our own vault is empty.")
    client = signed_in(tenant, "superuser")
    for place in (neighbour, tenant):  # their rows by id, then our own
        for path, answer in visits(client, place, filters=False):
            assert answer.status_code < 500, path
            assert CANARY not in text_of(answer), path


def console_pages(tenant: Tenant) -> Iterator[str]:
    """Yield the pages on which people decide, with every item there is."""
    pages = ("", "gate/", "detective/", "replay/", "numbers/", "inbox/", "inbox/counts/", "triage/")
    yield from (f"/console/{page}" for page in pages)
    yield from ("/", "/console/conflicts/?status=all&q=vault", "/console/inbox/?q=vault")
    with in_workspace(tenant.workspace):
        items = {
            "conflicts": keys_of(Conflict), "reviews": keys_of(Review),
            "suggestions": keys_of(MergeSuggestion), "calibration": keys_of(CalibrationItem),
        }  # fmt: skip
    for source, keys in items.items():
        yield from (f"/console/inbox/?item={source}:{key}" for key in keys)
        yield from (f"/console/inbox/?done={source}:{key}" for key in keys)
    for key in items["conflicts"]:
        yield from (f"/console/conflicts/{key}/", f"/console/triage/?card={key}&done={key}")


@pytest.mark.parametrize("walker", Role.values)
def test_no_page_of_the_console_and_no_live_event_tells_what_was_forgotten(
    tenant: Tenant, walker: str
) -> None:
    known = furnish(tenant)
    client = signed_in(tenant, walker)
    paths = list(console_pages(tenant))

    def showing() -> Iterator[str]:
        for path in paths:
            answer = client.get(path, follow=True)
            assert answer.status_code in {200, 403}
            if CANARY in text_of(answer):
                yield path

    def live() -> str:
        with in_workspace(tenant.workspace):
            return json.dumps([feed.since(0)[0], feed.latest(100)])

    assert len(list(islice(showing(), 4))) == 4
    assert CANARY in live()
    forget(tenant, known)
    assert list(showing()) == []
    assert CANARY not in live()


@pytest.mark.parametrize("model", admin.site._registry, ids=lambda model: model._meta.label)
def test_no_list_is_filtered_by_what_a_text_holds(
    tenant: Tenant, member: Any, model: type[models.Model]
) -> None:
    changelist = f"/admin/{model._meta.app_label}/{model._meta.model_name}/"
    person = member("admin")
    for field in model._meta.concrete_fields:
        answer = person.get(f"{changelist}?{field.name}__icontains={CANARY[:8]}")
        assert answer.status_code in {400, 403}, field.name


def nothing_kept_it() -> bool:
    """Tell whether neither Django's log of the admin nor a browser's session holds the canary."""
    logged = json.dumps(list(LogEntry.objects.values_list("object_repr", "change_message")))
    kept = json.dumps([session.get_decoded() for session in BrowserSession.objects.all()])
    return CANARY not in logged + kept


def own_models() -> list[type[models.Model]]:
    return [m for m in apps.get_models() if m._meta.app_label in OWN_APPS]


@pytest.mark.parametrize("model", own_models(), ids=lambda model: model._meta.label)
def test_no_row_is_called_by_a_text(model: type[models.Model]) -> None:
    """What a row is called stands in titles, messages and choices, whatever was forgotten."""
    row = model()
    for field in model._meta.concrete_fields:
        is_text = isinstance(field, models.TextField | models.CharField) and not field.choices
        if is_text and field.name not in IDENTIFIERS:
            setattr(row, field.attname, CANARY)
        elif isinstance(field, models.DateTimeField | models.DateField):
            setattr(row, field.attname, NOW)
        elif isinstance(field, models.FloatField | models.IntegerField):
            setattr(row, field.attname, 0)
        elif isinstance(field, ArrayField):
            setattr(row, field.attname, [])
        elif isinstance(field, models.UUIDField):
            setattr(row, field.attname, UUID(int=1))
        elif field.remote_field is not None and field.remote_field.model in {User, Workspace}:
            setattr(row, field.name, field.remote_field.model())
    assert CANARY not in str(row)


def test_autocompletion_answers_for_no_field_that_no_form_completes(
    tenant: Tenant, member: Any
) -> None:
    """A card was called by its question, and every relation to it was completed."""
    furnish(tenant)
    person = member("admin")
    asked = list(autocompletions())
    assert any("model_name=conflictmember&field_name=conflict" in path for path in asked)
    assert {person.get(path).status_code for path in asked} == {403}
    assert person.get("/admin/autocomplete/").status_code == 403
