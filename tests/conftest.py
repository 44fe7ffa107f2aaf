"""Fixtures: a real database and broker, workspaces whose data could leak, callers of each role."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib import import_module
from typing import Any

import pytest
from django.conf import settings
from django.contrib.auth.models import User
from django.template import Context, Template
from django.test import Client, override_settings
from django.utils.safestring import SafeString

import engram.urls  # noqa: F401  registers the admin's pages, which some tests enumerate
from engram.console.inbox import queue
from engram.console.inbox.source import WaitingCount
from engram.kernel import heartbeat, keys, latency
from engram.kernel.actors import SYSTEM, Claims
from engram.kernel.minilm import MiniLM
from engram.kernel.models import Membership, Provenance, Role, Workspace
from tests import (
    emptied_database,
    model_passes,
    properties,  # noqa: F401  sets how many examples property tests draw
    table_upkeep,
)
from tests.row_order import shuffle_unordered_rows
from tests.template_database import use_template

NOW = datetime(2026, 5, 4, 12, 0, tzinfo=UTC)
HAS_DATABASE = pytest.StashKey[bool]()  # of a session: whether its test database was made


@dataclass(frozen=True)
class Caller:
    """An API caller: JSON in, JSON out."""

    token: str
    client: Client

    def _send(self, method: str, path: str, body: Any, headers: dict[str, str]) -> Any:
        send = getattr(self.client, method)
        path = path if path.startswith(("/", "http")) else f"/api/v1/{path}"
        auth = {"Authorization": f"Bearer {self.token}"} if self.token else {}
        if method == "get":
            return send(path, body or {}, headers=auth | headers)
        return send(path, body, content_type="application/json", headers=auth | headers)

    def get(self, path: str, params: Any = None, **headers: str) -> Any:
        """Send a GET."""
        return self._send("get", path, params, headers)

    def post(self, path: str, body: Any = None, **headers: str) -> Any:
        """Send a POST."""
        return self._send("post", path, {} if body is None else body, headers)

    def patch(self, path: str, body: Any, **headers: str) -> Any:
        """Send a PATCH."""
        return self._send("patch", path, body, headers)

    def delete(self, path: str, **headers: str) -> Any:
        """Send a DELETE."""
        return self._send("delete", path, None, headers)


@dataclass(frozen=True)
class Tenant:
    """A workspace with a caller of every role.

    The agent's key is a trusted host's: it may claim every class, and pin. See `issue_agent`.
    """

    workspace: Workspace
    reader: Caller
    agent: Caller
    reviewer: Caller
    admin: Caller

    def caller(self, role: str) -> Caller:
        """Return the caller of a role."""
        found: Caller = getattr(self, role)
        return found


TRUSTED = Claims(Provenance.USER_STATED, may_pin=True)
CLAIMS = {role: TRUSTED if role == Role.AGENT else keys.claims_of(role) for role in Role}


def issue_agent(workspace: Workspace, name: str = "plain", **claims: Any) -> Caller:
    """Return a caller by a new agent key, which may claim nothing but what is given."""
    role, claimed = Role.AGENT, keys.claims_of(Role.AGENT, **claims)
    _, token = keys.issue(workspace, name=name, role=role, actor=SYSTEM, now=NOW, claims=claimed)
    return Caller(token, Client(raise_request_exception=True))


def build_tenant(slug: str, **fields: Any) -> Tenant:
    """Create a workspace and a key for each role, as `keys.issue` would, in two round trips."""
    workspace = Workspace.objects.create(slug=slug, name=slug.title(), **fields)
    drafts = {
        role.value: keys.draft(workspace, f"{slug} {role}", role, CLAIMS[role]) for role in Role
    }
    keys.write([key for key, _ in drafts.values()], actor=SYSTEM, now=NOW)
    callers = {
        role: Caller(token, Client(raise_request_exception=True))
        for role, (_, token) in drafts.items()
    }
    return Tenant(workspace, **callers)


@pytest.fixture(scope="session")
def django_db_modify_db_settings(
    django_db_modify_db_settings_parallel_suffix: None, django_db_blocker: Any
) -> None:
    """Copy test databases from a migrated one instead of migrating each."""
    with django_db_blocker.unblock():
        use_template()


@pytest.fixture(scope="session")
def django_db_setup(
    request: pytest.FixtureRequest, django_db_setup: None, django_db_blocker: Any
) -> None:
    """Keep autovacuum off the tables of the test database."""
    with django_db_blocker.unblock():
        table_upkeep.take_over()
    request.session.stash[HAS_DATABASE] = True


@pytest.fixture(scope="module", autouse=True)
def vacuumed_tables(request: pytest.FixtureRequest, django_db_blocker: Any) -> Iterator[None]:
    """Remove what the tests of a module left in tables: dead rows."""
    yield
    if request.session.stash.get(HAS_DATABASE, False):
        with django_db_blocker.unblock():
            table_upkeep.vacuum_grown()


@pytest.fixture(scope="session", autouse=True)
def quick_passwords() -> Iterator[None]:
    """Hash passwords without the million rounds of every real one: half a second a person."""
    quick = "django.contrib.auth.hashers.MD5PasswordHasher"
    with override_settings(PASSWORD_HASHERS=[quick, *settings.PASSWORD_HASHERS]):
        yield


@pytest.fixture(scope="session", autouse=True)
def quickly_emptied_database() -> Iterator[None]:
    """Delete what a test committed; Django would truncate every table."""
    with pytest.MonkeyPatch.context() as patch:
        emptied_database.use(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def passes_run_once() -> Iterator[None]:
    """Give what the embedding model returned for a pass that ran before in this process."""
    with pytest.MonkeyPatch.context() as patch:
        model_passes.run_once(patch)
        yield


@pytest.fixture(scope="session", autouse=True)
def certificates_read_once() -> Iterator[None]:
    """Read the machine's certificates once, and not for each client of a provider: 35 ms."""
    with pytest.MonkeyPatch.context() as patch:
        connections = import_module("httpcore2")  # what the HTTP client of providers is made of
        patch.setattr(connections, "default_ssl_context", cache(connections.default_ssl_context))
        yield


@pytest.fixture(scope="session", autouse=True)
def templates_tell_nobody(django_test_environment: None) -> Iterator[None]:
    """Render templates without copying the context of each part for `response.context`.

    No test reads it: they read what a page says.
    """

    def render(self: Template, context: Context) -> SafeString:
        return self.nodelist.render(context)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Template, "_render", render)
        yield


@pytest.fixture(scope="module")
def every_pass_runs() -> Iterator[None]:
    """Run every pass of the embedding model, also those that ran before: for its own tests."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(MiniLM, "_forward", model_passes.RUN_PASS)
        yield


@pytest.fixture(autouse=True)
def rows_in_any_order(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Read rows without ORDER BY in an order that nobody may rely on."""
    shuffle_unordered_rows(monkeypatch, seed=request.node.nodeid)


@pytest.fixture(autouse=True)
def no_uses_of_other_tests(monkeypatch: pytest.MonkeyPatch) -> None:
    """Begin with no request counted: what another test left would be written in this one."""
    monkeypatch.setattr(keys, "uses", keys.UseCounter())
    monkeypatch.setattr(latency, "pending", latency.PendingLatencies())
    monkeypatch.setattr(heartbeat, "tally", heartbeat.ProcessCounters())


@pytest.fixture
def quiet() -> Iterator[None]:
    """Write no traceback for each of the hundreds of refusals of a walk: it takes half the time."""
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


@pytest.fixture
def uncounted(monkeypatch: pytest.MonkeyPatch) -> None:
    """Count nothing for the navigation, which every page of a walk shows."""
    monkeypatch.setattr(
        queue, "tallies", lambda sources, _now: {one.name: WaitingCount() for one in sources}
    )


@pytest.fixture
def tenant(db: None) -> Tenant:
    """Return the workspace that a test is about."""
    return build_tenant("acme")


@pytest.fixture
def neighbour(db: None) -> Tenant:
    """Return another workspace, whose data must never show."""
    return build_tenant("zenith")


@pytest.fixture
def anonymous() -> Caller:
    """Return a caller without a key."""
    return Caller("", Client(raise_request_exception=True))


@pytest.fixture
def member(tenant: Tenant) -> Callable[[str], Client]:
    """Return a function that signs a person in with a role in the workspace."""

    def sign_in(role: str) -> Client:
        user = User.objects.create_user(f"{role}-person", password="correct horse", is_staff=True)
        Membership.objects.create(workspace=tenant.workspace, user=user, role=role)
        client = Client()
        client.force_login(user)
        return client

    return sign_in
