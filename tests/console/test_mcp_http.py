"""The Model Context Protocol by HTTP: who may call, from where, how often, with which bodies."""

from __future__ import annotations

import asyncio
import gc
import json
import logging
from typing import Any

import pytest
from django.conf import settings
from mcp import MCPError, types

from engram.console.mcp import admission
from engram.console.mcp.door import MAX_BODY_BYTES
from engram.kernel import keys
from engram.kernel.actors import SYSTEM
from engram.kernel.models import Role
from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Session
from memories.models.session import TRANSCRIPT_MAX_CHARS
from tests.conftest import NOW, Caller, Tenant, build_tenant
from tests.console.mcp_door import frame, opened, refusal, said, thread, tool_call

pytestmark = pytest.mark.django_db(transaction=True)
INITIALIZE = frame(
    "initialize",
    {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
)


@pytest.fixture
def tenant(transactional_db: None) -> Tenant:
    return build_tenant("acme")


def _memories(tenant: Tenant) -> int:
    with in_workspace(tenant.workspace):
        return Memory.objects.count()


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_clients_of_either_generation_of_the_protocol_are_served(
    tenant: Tenant, mode: str
) -> None:
    async with opened() as door, door.client(tenant.agent, mode=mode) as client:
        assert "Long-term memory" in str(client.instructions)
        kept = said(await client.call_tool("remember", {"content": "The quay is closed."}))
        assert said(await client.call_tool("recall", {"memory_id": kept["id"]}))["content"]
        with pytest.raises(MCPError) as unknown:
            await client.call_tool("no_such_tool", {})
        assert unknown.value.code == types.INVALID_PARAMS


@pytest.mark.parametrize(
    ("body", "status", "code"),
    [
        (b'{"jsonrpc": "2.0", "id"', 400, types.PARSE_ERROR),
        (b"", 400, types.PARSE_ERROR),
        (b"\xff\xfe\x00", 400, types.PARSE_ERROR),
        (b"\x00" * 100, 400, types.PARSE_ERROR),
        (b'{"a": 1, "a": 2}', 400, types.PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": NaN, "method": "ping"}', 400, types.PARSE_ERROR),
        (b'{"jsonrpc": "2.0", "id": 1, "method": "\\ud800"}', 400, types.PARSE_ERROR),
        (b'{"a":' * 5000 + b"1" + b"}" * 5000, 400, types.PARSE_ERROR),
        ([frame("ping"), frame("ping")], 400, types.INVALID_REQUEST),
        ([], 400, types.INVALID_REQUEST),
        ("text", 400, types.INVALID_REQUEST),
        (7, 400, types.INVALID_REQUEST),
        ({"v": [0] * 10_001}, 413, types.INVALID_REQUEST),
    ],
)
async def test_a_body_that_is_no_frame_is_a_protocol_error(
    tenant: Tenant, body: Any, status: int, code: int
) -> None:
    async with opened() as door:
        answer = await door.post(tenant.agent, body)
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, code)
    assert answer.json()["id"] is None
    assert answer.json()["error"]["data"]["status"] == status


async def test_frames_without_sense_are_refused_and_unknown_methods_not_found(
    tenant: Tenant,
) -> None:
    async with opened() as door:
        for sent in ({}, {"jsonrpc": "1.0", "id": 1, "method": "ping"}, frame(7), frame("ping", 7)):  # type: ignore[arg-type]
            answer = await door.post(tenant.agent, sent)
            assert answer.status_code == 400, sent
            assert answer.json()["error"]["code"] < 0
        answer = await door.post(tenant.agent, frame("no/such"))
        assert answer.json()["error"]["code"] == types.METHOD_NOT_FOUND
        answer = await door.post(
            tenant.agent, frame("tools/call", {"name": "recall", "arguments": 7})
        )
        assert answer.json()["error"]["code"] == types.INVALID_PARAMS
        notification = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        assert (await door.post(tenant.agent, notification)).status_code == 202
        assert (await door.post(tenant.agent, frame("ping"))).json()["result"] == {}


async def test_requests_without_a_usable_key_are_refused(tenant: Tenant) -> None:
    _, expired = await thread(
        keys.issue,
        tenant.workspace,
        name="old",
        role=Role.AGENT,
        actor=SYSTEM,
        now=NOW,
        expires_at=NOW,
    )
    revoked, token = await thread(
        keys.issue, tenant.workspace, name="gone", role=Role.AGENT, actor=SYSTEM, now=NOW
    )
    await thread(keys.revoke, revoked, actor=SYSTEM, now=NOW)
    client = tenant.agent.client
    async with opened() as door:
        for caller in (None, *(Caller(one, client) for one in ("x", expired, token))):
            answer = await door.post(caller, frame("ping"))
            assert answer.status_code == 401
            assert answer.headers["WWW-Authenticate"].startswith("Bearer")
            assert answer.json()["error"]["code"] == admission.REFUSED


async def test_streams_and_sessions_of_the_protocol_are_not_offered(tenant: Tenant) -> None:
    async with opened() as door:
        for method in ("GET", "DELETE", "PUT", "OPTIONS", "HEAD"):
            answer = await door.request(method, tenant.agent)
            assert (answer.status_code, answer.headers["Allow"]) == (405, "POST")
        first = await door.post(tenant.agent, INITIALIZE)
        assert "mcp-session-id" not in first.headers


@pytest.mark.parametrize(
    ("host", "origin", "status"),
    [
        ("localhost:8000", "", 200),
        ("localhost:8000", "http://localhost:8000", 200),
        ("localhost:8000", "https://localhost", 200),  # a proxy speaks TLS before us
        ("engram.example.com", "https://engram.example.com", 200),
        ("engram.example.com:443", "https://engram.example.com:8443", 200),
        ("localhost:8000", "https://chat.example.org", 200),  # a trusted origin
        ("localhost:8000", "http://chat.example.org", 403),
        ("localhost:8000", "https://evil.example", 403),
        ("localhost:8000", "https://engram.example.com.evil.example", 403),
        ("localhost:8000", "null", 403),
        ("localhost:8000", "file://localhost", 403),
        ("localhost:8000", "http://[::1", 403),
        ("evil.example", "http://evil.example", 400),  # DNS rebinding
        ("evil.example:8000", "", 400),
        ("", "", 400),
    ],
)
async def test_hosts_and_pages_that_are_not_allowed_are_refused(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch, host: str, origin: str, status: int
) -> None:
    monkeypatch.setattr(settings, "ALLOWED_HOSTS", ["localhost", "engram.example.com"])
    monkeypatch.setattr(settings, "CSRF_TRUSTED_ORIGINS", ["https://chat.example.org"])
    headers = {"Host": host} | ({"Origin": origin} if origin else {})
    async with opened() as door:
        answer = await door.post(tenant.agent, tool_call("recall", query="x"), **headers)
    assert answer.status_code == status, answer.text
    assert "access-control-allow-origin" not in answer.headers


async def test_a_service_for_any_host_allows_no_page_of_any_host(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(settings, "ALLOWED_HOSTS", ["*"])
    async with opened() as door:
        for origin, status in (("", 200), ("https://evil.example", 403)):
            headers = {"Host": "evil.example"} | ({"Origin": origin} if origin else {})
            answer = await door.post(tenant.agent, frame("ping"), **headers)
            assert answer.status_code == status


async def test_a_transcript_of_the_greatest_length_is_taken_in_any_script(tenant: Tenant) -> None:
    start = tool_call("session", action="start", session_key="long", context="cranes")
    # One character in six is beyond the basic plane: 12 bytes where a client escapes it.
    transcript = "User🦀" * (TRANSCRIPT_MAX_CHARS // 5)
    end = tool_call("session", action="end", session_key="long", transcript=transcript)
    worst = tool_call("session", action="end", session_key="long", transcript="🦀" * 400_000)
    async with opened() as door:
        await door.post(tenant.agent, start)
        answer = (await door.post(tenant.agent, end)).json()["result"]
        assert answer["isError"] is False, answer
        # Taken as a frame, and answered by the operation: it has another transcript.
        answer = (await door.post(tenant.agent, worst)).json()["result"]
        assert "another transcript" in answer["content"][0]["text"]
    assert await thread(_transcript, tenant) == transcript


def _transcript(tenant: Tenant) -> str:
    with in_workspace(tenant.workspace):
        return Session.objects.get(session_key="long").transcript


async def test_a_body_over_the_limit_is_refused_before_it_is_read(tenant: Tenant) -> None:
    before = await thread(_memories, tenant)
    padded = json.dumps(tool_call("remember", content="The quay is closed.")).encode()
    async with opened() as door:
        for body in (padded.ljust(MAX_BODY_BYTES + 1), padded.ljust(3 * MAX_BODY_BYTES)):
            answer = await door.post(tenant.agent, body)
            assert answer.status_code == 413
            assert answer.headers["Connection"] == "close"
            error = answer.json()["error"]
            assert (error["code"], error["data"]["type"]) == (
                types.INVALID_REQUEST, "/problems/body-too-large",
            )  # fmt: skip
            assert str(MAX_BODY_BYTES) in error["message"]
            assert (await door.post(None, body)).status_code == 401
        assert (await door.post(tenant.agent, padded.ljust(MAX_BODY_BYTES))).status_code == 200
    assert await thread(_memories, tenant) == before + 1


async def test_a_tool_takes_no_larger_body_than_its_operation(tenant: Tenant) -> None:
    async with opened() as door, door.client(tenant.agent) as client:
        large = {"content": "The quay is closed.", "source": "x" * 300_000}
        assert "limit here" in refusal(await client.call_tool("remember", large))["detail"]
        long = {"content": "x" * 8001}
        assert "8000" in refusal(await client.call_tool("remember", long))["detail"]
    assert await thread(_memories, tenant) == 0


def _limit(tenant: Tenant, **limits: int) -> None:
    tenant.workspace.settings = limits
    tenant.workspace.save()


async def test_too_many_requests_are_told_when_to_try_again(tenant: Tenant) -> None:
    await thread(_limit, tenant, reads_per_minute=6, writes_per_minute=1)
    write = tool_call("remember", content="The quay is closed on Mondays.")
    async with opened() as door:
        first = (await door.post(tenant.agent, write)).json()["result"]
        assert first["isError"] is False, first
        result = (await door.post(tenant.agent, write)).json()["result"]
        told = json.loads(result["content"][0]["text"])
        assert (result["isError"], 50 <= int(told["retry_after_seconds"]) <= 60) == (True, True)
        answers = [await door.post(tenant.agent, frame("ping")) for _ in range(6)]
        assert [one.status_code for one in answers][-1] == 429
        refused = answers[-1]
        assert 1 <= int(refused.headers["Retry-After"]) <= 10
        assert refused.json()["error"]["data"]["type"] == "/problems/too-many-requests"


async def test_many_calls_leave_nothing_behind(tenant: Tenant) -> None:
    async with opened() as door:
        running = len(asyncio.all_tasks())

        async def call(number: int) -> None:
            body = tool_call("recall", query=f"x{number}") | {"id": number}
            assert (await door.post(tenant.agent, body)).json()["id"] == number

        def count(name: str) -> int:
            return sum(type(one).__name__ == name for one in gc.get_objects())

        for _ in range(25):
            await asyncio.gather(*(call(number) for number in range(8)))
        for _ in range(100):  # the last ones are ending
            if len(asyncio.all_tasks()) == running:
                break
            await asyncio.sleep(0.05)
        gc.collect()
        assert len(asyncio.all_tasks()) == running
        assert count("StreamableHTTPServerTransport") <= 8  # at most those of the last requests
        assert door.door._sessions._server_instances == {}


async def test_what_is_sent_is_not_logged(tenant: Tenant, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    word = "bollard"
    async with opened() as door:
        for body in (
            tool_call("remember", content=f"The key lies below the {word}."),
            tool_call("recall", query=word, k=word),
            tool_call("forget", memory_id=word),
            tool_call(word),
            frame("tools/call", {"name": "recall", "arguments": word}),
            frame("tools/call", {"nome": word}),
            frame("resources/read", {"uri": f"engram://notes/{word}.md"}),
            f'{{"jsonrpc": "{word}'.encode(),
        ):
            await door.post(tenant.agent, body)
    told = [one for one in caplog.messages if word in one and not one.startswith("Not Found: ")]
    assert told == []
