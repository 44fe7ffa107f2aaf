"""Every page route, from the resolver, for strangers and for members of another workspace."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import User
from django.test import Client
from django.urls import URLResolver, get_resolver
from django.utils import timezone

from conflicts.models import Conflict, DetectionRun
from conflicts.services.detection.detect import detect_due
from engram.console.memories.changes import Question, start
from engram.console.webhooks.endpoints import send_test
from engram.kernel.actors import SYSTEM
from engram.kernel.invitations import invite
from engram.kernel.models import ApiKey, Event, Job, Membership, Role
from engram.kernel.tenancy import in_workspace
from memories.models import ExtractionRefusal, Memory, MemoryAnswer, Note, PastRecall
from memories.services.recall.log import count_recalls
from tests.conftest import Tenant
from tests.console.webhooks import make

pytestmark = pytest.mark.usefixtures("quiet", "uncounted")

SECRET = "thirdflowerpot"
# What strangers may see: that the service lives, where to sign in, how the API is described and
# why it refuses.
PUBLIC = {
    "healthz",
    "readyz",
    "admin/login/",
    "api/docs/",
    "problems/",
    "rules/",
    "admin/jsi18n/",
    "metrics",
}  # the last: on loopback
SIGNED_OUT = {200, 301, 302, 400, 401, 403, 404, 405}


def page_routes(resolver: Any = None, prefix: str = "") -> Iterator[str]:
    """Yield all routes outside of the API as the resolver has them."""
    for pattern in (resolver or get_resolver()).url_patterns:
        path = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from page_routes(pattern, path)
        elif not path.startswith("api/v1/") and "(?P" not in path:
            yield path


ROUTES = sorted(set(page_routes()))


def furnish(tenant: Tenant) -> dict[str, list[str]]:
    """Fill a workspace with one of everything; return the ids by what a route calls them."""
    for number in (1000, 5000):
        tenant.agent.post(
            "memories",
            {
                "content": f"The {SECRET} holds {number} coins.",
                "scope": SECRET,
                "agent": SECRET,
                "answers": [{"question": f"What does the {SECRET} hold?", "answer": f"{number}"}],
            },
        )
    note = {"content": f"---\ntags: [{SECRET}]\n---\n# {SECRET}\n\nSee [[{SECRET}]]."}
    tenant.agent._send("put", f"notes/{SECRET}.md", note, {})
    tenant.agent.post("memories", {"content": f"Coins stand in [[{SECRET}]]."})
    detect_due(tenant.workspace, clock=timezone.now)
    tenant.agent.post("memories/recall", {"query": f"What does the {SECRET} hold?"})
    count_recalls(tenant.workspace)
    user = User.objects.create_user(f"{SECRET}-owner", is_staff=True)
    membership = Membership.objects.create(workspace=tenant.workspace, user=user, role=Role.ADMIN)
    tenant.workspace.name = SECRET
    tenant.workspace.save()
    invitation, token = invite(
        tenant.workspace, username=f"{SECRET}-guest", role=Role.READER, actor=SYSTEM,
        now=timezone.now(),
    )  # fmt: skip
    url = f"https://hooks.example.com/{SECRET}"
    endpoint, _ = make(tenant.workspace, url=url)
    test = send_test(tenant.workspace, endpoint.pk, now=timezone.now())
    with in_workspace(tenant.workspace):
        ApiKey.objects.update(name=SECRET)
        asked = Question(id=uuid4(), number=3, at=timezone.now(), filters=f"q={SECRET}")
        change = start(
            tenant.workspace, "tag", SECRET, Memory.objects.all(), asked,
            actor=SYSTEM, now=timezone.now(),
        )  # fmt: skip
        assert change is not None
        job = Job.objects.create(
            kind="extraction", caller="system:", role="agent", created_at=timezone.now(), result={}
        )
        refusal = ExtractionRefusal.objects.create(
            job=job, text=SECRET, fact=f"{SECRET} was said.", reason="not_lasting", worth=0.3,
            confidence=0.9, provenance="assistant_derived", position=0, is_borderline=True,
            created_at=timezone.now(),
        )  # fmt: skip
        by_model = {
            "question": [str(MemoryAnswer.objects.all()[0].question_group)],
            "conflict": [str(Conflict.objects.get().pk)],
            "note": [str(Note.objects.get().pk)],
            "memory": [str(pk) for pk in Memory.objects.values_list("pk", flat=True)],
            "detectionrun": [str(DetectionRun.objects.get().pk)],
            "apikey": [str(pk) for pk in ApiKey.objects.values_list("pk", flat=True)[:1]],
            "webhookendpoint": [str(endpoint.pk)],
            "webhookdelivery": [str(test.pk)],
            "pastrecall": [str(PastRecall.objects.get().pk)],
            "event": [str(Event.objects.latest("seq").pk)],
        }
    return by_model | {
        "change": [str(change.pk)],
        "recall": by_model["pastrecall"],
        "refusal": [str(refusal.pk)],
        "workspace": [str(tenant.workspace.pk)],
        "membership": [str(membership.pk)],
        "user": [str(user.pk)],
        "invitation": [str(invitation.pk)],
        "token": [token],
    }


def filled(route: str, ids: dict[str, list[str]]) -> list[str]:
    """Return the paths that a route stands for, with another workspace's ids."""
    if "<" not in route:
        return [f"/{route}"]
    kinds = ("conflict", "question", "memory", "note", "change", "recall", "refusal")
    for kind in kinds:
        if (name := f"<uuid:{kind}_id>") in route:
            return [f"/{route}".replace(name, i) for i in ids[kind]]
    if "<str:token>" in route:
        return [f"/{route}".replace("<str:token>", token) for token in ids["token"]]
    model = route.split("/")[2] if route.count("/") > 2 else "user"
    chosen = ids.get(model, ["1"])
    for name in ("<path:object_id>", "<id>", "<path:content_type_id>"):
        route = route.replace(name, chosen[0])
    return [f"/{route}"]


@pytest.fixture
def foreign(neighbour: Tenant) -> dict[str, list[str]]:
    """Return the ids of a furnished workspace that the visitor does not belong to."""
    return furnish(neighbour)


def visits(client: Client, foreign: dict[str, list[str]]) -> Iterator[tuple[str, str, Any]]:
    """Get and post every page; yield the route, the path and the answer."""
    for route in sorted(ROUTES, key=lambda route: "out/" in route):  # signing out comes last
        for path in filled(route, foreign):
            for send in (client.get, client.post):
                yield route, path, send(path)


def test_strangers_see_nothing(foreign: dict[str, list[str]]) -> None:
    for route, path, answer in visits(Client(), foreign):
        assert answer.status_code in SIGNED_OUT, (path, answer.status_code)
        assert SECRET not in answer.content.decode(), path
        assert answer.status_code != 200 or route in PUBLIC, path


@pytest.mark.parametrize("role", [Role.READER, Role.ADMIN])
def test_members_of_another_workspace_see_nothing(
    role: Role, foreign: dict[str, list[str]], member: Any
) -> None:
    for _, path, answer in visits(member(role.value), foreign):
        assert answer.status_code < 500, (path, answer.status_code)
        assert SECRET not in answer.content.decode(), path


def test_nothing_of_the_other_workspace_was_changed(
    foreign: dict[str, list[str]], neighbour: Tenant, member: Any
) -> None:
    def snapshot() -> Any:
        shown = neighbour.admin.get("memories?state=all").json()["results"]
        return shown, neighbour.admin.get("conflicts").json(), neighbour.admin.get("keys").json()

    before = snapshot()
    person = member("admin")
    for route in ROUTES:
        for path in filled(route, foreign):
            if "sign-out" not in path and "logout" not in path:
                person.post(path, {"verdict": "dismiss", "action": "forget", "post": "yes"})
    after = snapshot()
    for rows in (before[2]["results"], after[2]["results"]):
        for row in rows:
            row.pop("last_used_at")
            row.pop("use_count")
    assert before == after


METHODS = ("get", "head", "post", "put", "patch", "delete", "options")
CALLERS = ["nobody", "no member", *Role.values]
# What forms of ours do not send.
BODIES: list[dict[str, str]] = [
    {},
    {"verdict": "\0", "action": "accept", "until": "never", "workspace": "x", "back": "//evil"},
    {
        "action": "nothing",
        "note": "x" * 9000,
        "keep": "x",
        "answer": "right",
        "do": "tag",
        "ids": "x",
        "tag": "\0",
        "revision": "1" * 30,
        "content": " ",
        "kind": "?",
    },
]


# What a route calls a row, and the kind of row that it asks for (of two none is there).
ASKED = {
    "recall_id": "recall",
    "item": "conflict",
    "conflict_id": "conflict",
    "question_id": "question",
    "change_id": "change",
    "note_id": "note",
    "memory_id": "memory",
    "refusal_id": "refusal",
    "suggestion_id": "",
    "merge_id": "",
}
SOURCES = ("conflicts", "reviews", "suggestions", "calibration", "nothing")


def console_paths(ids: dict[str, list[str]]) -> list[str]:
    """Return the paths of all pages of the console, with rows of the kind, of another and none."""
    none = "7b8f3c1e-0000-4000-8000-000000000000"
    paths = set()
    for route in ROUTES:
        if route.startswith("admin/"):
            continue
        path = f"/{route}".replace("<str:token>", "unknown").replace("<slug:name>", "stale-version")
        found = {path.replace("<slug:source>", source) for source in SOURCES}
        for name, kind in ASKED.items():
            other = ids["note" if kind == "conflict" else "conflict"]
            rows = [*ids.get(kind, []), *other, none]
            found = {one.replace(f"<uuid:{name}>", row) for one in found for row in rows}
        paths |= found
    assert not [path for path in paths if "<" in path]
    return sorted(paths, key=lambda path: ("out/" in path, path))  # signing out comes last


@pytest.mark.parametrize("caller", CALLERS)
def test_no_page_of_the_console_fails_whoever_asks_by_whatever_method(
    tenant: Tenant, member: Any, caller: str
) -> None:
    """A POST to the inbox by a stranger was a failure of ours."""
    paths = console_paths(furnish(tenant))
    assert any("/inbox/" in path for path in paths)
    client = Client(raise_request_exception=False)
    if caller == "no member":
        client.force_login(User.objects.create_user("stray", is_staff=True))
    elif caller != "nobody":
        client = member(caller)
        client.raise_request_exception = False
    for path in paths:
        for method in METHODS:
            for body in BODIES if method == "post" else BODIES[:1]:
                answer = getattr(client, method)(path, body)
                assert answer.status_code < 500, (caller, method, path, body)
                if caller == "nobody" and method == "post" and "/inbox/" in path:
                    assert answer.status_code in {302, 405}, path
