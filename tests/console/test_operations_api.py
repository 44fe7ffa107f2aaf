"""Keys, settings, history and health through the API."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from time import sleep
from typing import Any

import pytest
from django.db import OperationalError, connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.console import health, readiness, schema
from engram.kernel import keys
from engram.kernel.models import ApiKey
from engram.kernel.tenancy import in_workspace
from tests.conftest import Caller, Tenant


def issue(tenant: Tenant, **body: Any) -> dict[str, Any]:
    answer = tenant.admin.post("keys", {"name": "robot", **body})
    assert answer.status_code == 201, answer.json()
    made: dict[str, Any] = answer.json()
    return made


def test_a_new_key_is_shown_once_and_stored_as_a_digest(tenant: Tenant) -> None:
    made = issue(tenant, role="agent")
    assert made["key"].startswith("egr_")
    assert made["key"].startswith(made["prefix"])
    listed = tenant.admin.get("keys").json()["results"]
    assert made["key"] not in str(listed)
    assert {"id": made["id"], "name": "robot", "role": "agent"}.items() <= listed[0].items()
    with in_workspace(tenant.workspace):
        stored = ApiKey.objects.get(pk=made["id"])
    assert made["key"] not in str(vars(stored))


def test_a_new_key_opens_its_workspace(tenant: Tenant) -> None:
    caller = Caller(issue(tenant, role="reader")["key"], Client())
    assert caller.get("memories").status_code == 200
    assert caller.post("memories", {"content": "x"}).status_code == 403


def test_a_revoked_key_is_refused_at_once_and_stays_listed(tenant: Tenant) -> None:
    made = issue(tenant)
    caller = Caller(made["key"], Client())
    assert caller.get("memories").status_code == 200
    assert tenant.admin.delete(f"keys/{made['id']}").status_code == 204
    assert caller.get("memories").status_code == 401
    assert tenant.admin.get(f"keys/{made['id']}").json()["revoked_at"] is not None


def test_an_expired_key_is_refused(tenant: Tenant) -> None:
    soon = timezone.now() + timedelta(hours=1)
    made = issue(tenant, expires_at=soon.isoformat())
    caller = Caller(made["key"], Client())
    assert caller.get("memories").status_code == 200
    with in_workspace(tenant.workspace):
        ApiKey.objects.filter(pk=made["id"]).update(expires_at=timezone.now())
    assert caller.get("memories").status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {},
        {"name": ""},
        {"name": "x", "role": "god"},
        {"name": "x", "expires_at": "2020-01-01T00:00:00Z"},
        {"name": "x" * 121},
    ],
)
def test_wrong_keys_are_422(tenant: Tenant, body: dict[str, Any]) -> None:
    assert tenant.admin.post("keys", body).status_code == 422


def test_settings_tell_their_meaning_and_range(tenant: Tenant) -> None:
    body = tenant.reader.get("workspace/settings").json()
    described = {row["name"]: row for row in body["describe"]}
    assert set(described) == set(body["settings"])
    assert described["gate_threshold"]["range"] == {
        "at_least": 0.3,
        "at_most": 1.0,
        "type": "number",
    }
    assert all(row["meaning"] != "" for row in body["describe"])


def test_settings_change_all_or_none(tenant: Tenant) -> None:
    refused = tenant.admin.patch(
        "workspace/settings", {"gate_policy": "suggest", "gate_threshold": 7}
    )
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "gate_threshold"
    unchanged = tenant.reader.get("workspace/settings").json()["settings"]
    assert (unchanged["gate_policy"], unchanged["gate_threshold"]) == ("merge", 0.6)
    changed = tenant.admin.patch("workspace/settings", {"gate_policy": "suggest"})
    assert changed.json()["settings"]["gate_policy"] == "suggest"


@pytest.mark.parametrize(
    "body", [{"unknown": 1}, {"gate_policy": "maybe"}, {"gate_threshold": "0.5"}, [], "null", '"x"']
)
def test_wrong_settings_are_refused(tenant: Tenant, body: Any) -> None:
    assert tenant.admin.patch("workspace/settings", body).status_code == 422


def test_events_tell_what_happened_newest_first(tenant: Tenant) -> None:
    memory = tenant.agent.post("memories", {"content": "The attic is dry."}).json()["memory"]
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    events = tenant.reader.get("events", {"object": memory["id"]}).json()["results"]
    assert [(e["type"], e["actor"]) for e in events] == [
        ("memory.forgotten", "acme agent"),
        ("memory.committed", "acme agent"),
    ]
    assert "attic" not in str(events)
    typed = tenant.reader.get("events", {"type": "memory.forgotten"}).json()["results"]
    assert [e["object"] for e in typed] == [memory["id"]]


def test_events_are_filtered_by_actor_and_time(tenant: Tenant, neighbour: Tenant) -> None:
    tenant.agent.post("memories", {"content": "The attic is dry."})
    neighbour.agent.post("memories", {"content": "The cellar of Zenith is wet."})
    before = timezone.now()
    tenant.reviewer.post("memories", {"content": "The stairs creak."})

    def found(**filters: str) -> list[str]:
        rows = tenant.reader.get("events", filters).json()["results"]
        return [row["actor"] for row in rows if row["type"] == "memory.committed"]

    assert found() == ["acme reviewer", "acme agent"]
    assert found(actor="acme agent") == ["acme agent"]
    (event,) = tenant.reader.get("events", {"actor": "acme agent"}).json()["results"]
    assert found(actor=event["actor_id"]) == ["acme agent"]
    assert found(since=before.isoformat()) == ["acme reviewer"]
    assert found(actor="zenith agent") == []
    assert found(actor="acme agent", since=before.isoformat()) == []


def test_keys_tell_their_last_use_and_how_often(tenant: Tenant) -> None:
    first = timezone.now()
    busy, quiet = (issue(tenant, role="reader") for _ in range(2))
    other = keys.UseCounter()  # of another process

    def use(made: dict[str, Any], seconds: int, counter: keys.UseCounter = keys.uses) -> None:
        key = keys.find(made["key"])
        assert key is not None
        counter.count(key, first + timedelta(seconds=seconds))

    def shown(made: dict[str, Any]) -> tuple[int, str | None]:
        row = tenant.admin.get(f"keys/{made['id']}").json()
        return row["use_count"], row["last_used_at"]

    def at(seconds: int) -> str:
        return (first + timedelta(seconds=seconds)).isoformat().replace("+00:00", "Z")

    assert (shown(busy), shown(quiet)) == ((0, None), (0, None))
    for seconds in (0, 1, 2):
        use(busy, seconds)
        use(quiet, seconds)
    assert (shown(busy), shown(quiet)) == ((3, at(2)), (3, at(2)))
    use(busy, 40)
    use(busy, 30, other)
    assert shown(busy) == (4, at(40))
    other.write()  # as the heartbeat does; what is older is counted, too
    assert (shown(busy), shown(quiet)) == ((5, at(40)), (3, at(2)))


def test_a_key_of_another_workspace_cannot_be_revoked(tenant: Tenant, neighbour: Tenant) -> None:
    theirs = issue(neighbour, role="reader")
    assert tenant.admin.delete(f"keys/{theirs['id']}").status_code == 404
    assert Caller(theirs["key"], Client()).get("memories").status_code == 200


def test_lists_page_through_everything_once(tenant: Tenant) -> None:
    tenant.agent.post(
        "memories/batch", {"memories": [{"content": f"Drawer {n}."} for n in range(7)]}
    )
    seen: list[str] = []
    path = "/api/v1/memories?limit=3"
    while path:
        page = tenant.reader.get(path).json()
        seen += [memory["content"] for memory in page["results"]]
        path = page["next"]
    assert seen == [f"Drawer {n}." for n in reversed(range(7))]


def test_lists_cost_the_same_number_of_queries_for_1_and_50_rows(tenant: Tenant) -> None:
    def cost(path: str, limit: int) -> int:
        tenant.reader.get(path, {"limit": str(limit)})
        with CaptureQueriesContext(connection) as queries:
            tenant.reader.get(path, {"limit": str(limit)})
        return len(queries)

    tenant.agent.post(
        "memories/batch",
        {"memories": [{"content": f"Drawer {n}.", "tags": [f"t{n}"]} for n in range(100)]},
    )
    ids = [m["id"] for m in tenant.reader.get("memories?limit=100").json()["results"]]
    for one, other in zip(ids[::2], ids[1::2], strict=True):
        tenant.agent.post("conflicts", {"memory_ids": [one, other]})
    for path in ("memories", "conflicts", "events"):
        assert cost(path, 1) == cost(path, 50), path


def test_health_needs_no_key(anonymous: Caller) -> None:
    assert anonymous.get("/healthz").json() == {"status": "ok"}


CHECKS = ["database", "row_security", "pgvector", "migrations", "broker"]


def test_readiness_names_each_check(db: None, anonymous: Caller) -> None:
    body = anonymous.get("/readyz").json()
    assert body["status"] == "ready"
    assert [check["name"] for check in body["checks"]] == CHECKS


@pytest.fixture
def broken(monkeypatch: pytest.MonkeyPatch) -> str:
    """Let a check fail with what libraries say: an address, a role."""
    what = "OperationalError: connection to 10.0.0.7, port 5432 failed for user engram"

    def fails() -> list[health.Check]:
        checks = [health.Check(name=name, ok=True, detail="") for name in CHECKS]
        return [health.Check(name="broker", ok=False, detail=what), *checks[:-1]]

    monkeypatch.setattr(readiness, "readiness", fails)
    monkeypatch.setattr(readiness, "_logged_at", float("-inf"))
    return what


def test_readiness_tells_strangers_what_is_missing_and_no_address(
    tenant: Tenant, anonymous: Caller, broken: str, settings: Any, caplog: pytest.LogCaptureFixture
) -> None:
    settings.IS_PRODUCTION = True
    for caller in (anonymous, tenant.reader, tenant.reviewer, Caller("egr_wrong", Client())):
        answer = caller.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["checks"][0] == {"name": "broker", "ok": False}
        assert "10.0.0.7" not in answer.content.decode()
    assert caplog.text.count(broken) == 1  # for the operator, however often strangers ask


def test_readiness_tells_details_to_who_runs_the_service(
    tenant: Tenant, broken: str, settings: Any
) -> None:
    settings.IS_PRODUCTION = True
    settings.ENGRAM_METRICS_TOKEN = "scrape-me"
    for caller in (tenant.admin, Caller("scrape-me", Client())):
        checks = caller.get("/readyz").json()["checks"]
        assert checks[0] == {"name": "broker", "ok": False, "detail": broken}


def test_readiness_answers_without_a_database(
    tenant: Tenant, broken: str, monkeypatch: pytest.MonkeyPatch, settings: Any
) -> None:
    settings.IS_PRODUCTION = True

    def away(token: str) -> None:
        raise OperationalError

    monkeypatch.setattr(keys, "find", away)
    answer = tenant.admin.get("/readyz")
    assert (answer.status_code, answer.json()["checks"][0]["ok"]) == (503, False)


# The description


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Begin without a document; count how often one is made."""
    counted: list[int] = []
    real = schema._make

    def count() -> schema.EncodedSchema:
        counted.append(1)
        sleep(0.05)  # so that all who ask at once find none
        return real()

    monkeypatch.setattr(schema, "_make", count)
    monkeypatch.setattr(schema, "keeper", schema.SchemaCache())
    return counted


def test_the_description_is_made_once_and_is_the_same_for_all(made: list[int]) -> None:
    with ThreadPoolExecutor(4) as pool:
        documents = list(pool.map(lambda _: schema.keeper.get(), range(8)))
    assert len({id(document) for document in documents}) == 1
    answers = [Client().get("/api/v1/schema/") for _ in range(3)]
    assert {answer.content for answer in answers} == {documents[0].plain}
    assert json.loads(documents[0].plain)["openapi"].startswith("3.")
    assert len(made) == 1


@pytest.mark.parametrize(
    ("accepted", "is_compressed"),
    [
        ("gzip", True), ("br, gzip;q=0.5", True), ("GZIP , deflate", True), ("", False),
        ("br", False), ("gzip;q=0", False), ("gzip; q=0.0, br", False), ("xgzip", False),
    ],
)  # fmt: skip
def test_the_description_is_compressed_for_who_takes_it(accepted: str, is_compressed: bool) -> None:
    answer = Client().get("/api/v1/schema/", headers={"Accept-Encoding": accepted})
    plain = Client().get("/api/v1/schema/").content
    assert ("gzip" in answer.get("Content-Encoding", "")) is is_compressed
    sent = gzip.decompress(answer.content) if is_compressed else answer.content
    assert sent == plain
    assert len(answer.content) < (len(plain) / 8 if is_compressed else len(plain) + 1)
    assert {name.strip() for name in answer["Vary"].split(",")} >= {"Accept", "Accept-Encoding"}


def test_the_description_is_not_sent_again_to_who_has_it() -> None:
    first = Client().get("/api/v1/schema/", headers={"Accept-Encoding": "gzip"})
    assert first["Cache-Control"] == "public, max-age=300"
    again = {"Accept-Encoding": "gzip", "If-None-Match": first["ETag"]}
    answer = Client().get("/api/v1/schema/", headers=again)
    assert (answer.status_code, answer.content, answer["ETag"]) == (304, b"", first["ETag"])
    other = Client().get("/api/v1/schema/", headers={"If-None-Match": '"another"'})
    assert other.status_code == 200
    assert other["ETag"] != first["ETag"]  # other bytes
    assert Client().get("/api/v1/schema/", headers={"Accept": "text/csv"}).status_code == 406
