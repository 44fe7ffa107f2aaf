"""`manage.py mcp` as a caller: of its own database, and of an Engram at a URL."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import uuid4

import httpx2
import pytest
from mcp import Client

from engram.console.management.commands.mcp import outer_request
from engram.console.mcp.calls import Api, Call, InProcessApi
from engram.console.mcp.remote import RemoteApi
from engram.console.mcp.server import make_server
from engram.kernel.body_limit import BodyLimit
from engram.kernel.request_threads import ThreadHandler
from tests.conftest import Caller, Tenant, build_tenant
from tests.console.cards import remember
from tests.console.mcp_door import refusal, said, thread

pytestmark = pytest.mark.django_db(transaction=True)
SECRET = "The harbour master hides the spare crane key below the third bollard."
QUERY = {"query": "where is the spare crane key?"}


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return build_tenant("acme")


@pytest.fixture
def neighbour(transactional_db: None) -> Tenant:
    return build_tenant("zenith")


def client_of(api: Api) -> Client:
    """Return a client of a server that calls an API, as standard input would."""
    return Client(make_server(lambda _context: api))


def here(caller: Caller) -> InProcessApi:
    """Return the API of this process, as `manage.py mcp` calls it with a key."""
    return InProcessApi(BodyLimit(ThreadHandler()), outer_request(caller.token))


@pytest.mark.parametrize("is_production", [False, True])
async def test_a_process_is_a_caller_of_its_key_alone(
    tenant: Tenant, neighbour: Tenant, settings: Any, is_production: bool
) -> None:
    settings.IS_PRODUCTION = settings.SECURE_SSL_REDIRECT = is_production
    settings.ALLOWED_HOSTS = [".example.com", "engram.example.com"] if is_production else ["*"]
    memory = await thread(remember, tenant.workspace, SECRET)
    async with client_of(here(tenant.reader)) as reader:
        (found,) = said(await reader.call_tool("recall", QUERY))["results"]
        assert found["content"] == SECRET
        refused = refusal(await reader.call_tool("remember", {"content": "The quay is closed."}))
        assert refused["detail"] == "This needs the role agent; yours is reader."
    async with client_of(here(neighbour.admin)) as client:
        assert said(await client.call_tool("recall", QUERY))["results"] == []
        theirs = refusal(await client.call_tool("recall", {"memory_id": str(memory.pk)}))
        assert theirs == refusal(await client.call_tool("recall", {"memory_id": str(uuid4())}))
    async with client_of(here(tenant.reviewer)) as reviewer:
        verdict = {"conflict_id": str(uuid4()), "verdict": "yes", "version": 1}
        assert "no such" in refusal(await reviewer.call_tool("answer", verdict))["detail"].lower()


Answer = Callable[[httpx2.Request], httpx2.Response]


def remote(answer: Answer, monkeypatch: pytest.MonkeyPatch) -> RemoteApi:
    """Return the API at a URL where requests get an answer."""
    api = RemoteApi("https://engram.example.com/", "egr_x")
    headers = {"Authorization": "Bearer egr_x"}
    http = httpx2.AsyncClient(transport=httpx2.MockTransport(answer), headers=headers)
    monkeypatch.setattr(api, "_http", http)
    return api


async def test_a_call_of_a_url_has_the_key_the_path_and_the_body(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[httpx2.Request] = []

    def answer(request: httpx2.Request) -> httpx2.Response:
        asked.append(request)
        return httpx2.Response(429, json={"detail": "Too many."}, headers={"Retry-After": "7"})

    api = remote(answer, monkeypatch)
    reply = await api.send(Call("POST", "sessions/a%2Fb%3F/end", {"transcript": "🦀"}))
    assert (reply.detail, reply.wait_seconds) == ("Too many.", "7")
    await api.send(Call("GET", "questions", query={"q": "a&b=c", "limit": 5, "disputed": True}))
    posted, got = asked
    assert posted.url.raw_path == b"/api/v1/sessions/a%2Fb%3F/end"
    assert posted.headers["Authorization"] == "Bearer egr_x"
    assert posted.content.decode() == '{"transcript":"🦀"}'
    assert got.url.query == b"q=a%26b%3Dc&limit=5&disputed=true"
    await api.close()


def _leaves(request: httpx2.Request) -> httpx2.Response:
    raise httpx2.ReadTimeout("no answer", request=request)


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (lambda _: httpx2.Response(301, headers={"Location": "https://x/"}), "something else"),
        (lambda _: httpx2.Response(200, text="<html>"), "something else"),
        (lambda _: httpx2.Response(502, text="<html>"), "status 502"),
        (lambda _: httpx2.Response(401, json={"detail": "The key is unknown."}), "unknown"),
        (_leaves, "is not known"),
    ],
)
async def test_what_is_no_answer_of_an_engram_is_an_error_of_the_tool(
    monkeypatch: pytest.MonkeyPatch, answer: Answer, told: str
) -> None:
    async with client_of(remote(answer, monkeypatch)) as client:
        assert told in refusal(await client.call_tool("recall", QUERY))["detail"]
        with pytest.raises(Exception, match=told):
            await client.get_prompt("brief", {"task": "x"})
