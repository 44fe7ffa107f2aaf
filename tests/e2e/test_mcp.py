"""The Model Context Protocol over both transports, by the client of its SDK."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client, MCPError, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client

from tests.console.mcp_door import frame, refusal, said, tool_call
from tests.e2e.service import Service
from tests.homes import ENVIRONMENT, PATIENCE_SECONDS, SOURCE

NOBODY = "http://127.0.0.1:9"


@asynccontextmanager
async def by_http(service: Service, token: str) -> AsyncIterator[Any]:
    """Open the streamable HTTP transport with a key; it leaves a client given to it open."""
    headers = {"Authorization": f"Bearer {token}"}
    async with (
        httpx2.AsyncClient(headers=headers, timeout=60) as http,
        streamable_http_client(f"{service.up.url}/mcp", http_client=http) as streams,
    ):
        yield streams


def by_stdio(service: Service, token: str, *options: str) -> StdioServerParameters:
    """Return the parameters of `manage.py mcp` in the home of a running product."""
    environment = {**ENVIRONMENT, "ENGRAM_HOME": str(service.up.home), "ENGRAM_KEY": token}
    return StdioServerParameters(
        command=sys.executable,
        args=["manage.py", "mcp", *options],
        cwd=SOURCE,
        env=environment,
    )


@asynccontextmanager
async def connected(service: Service, transport: str, token: str) -> AsyncIterator[Client]:
    """Connect by a transport: HTTP, or standard input and output of a process."""
    if transport == "http":
        async with Client(by_http(service, token), read_timeout_seconds=60) as client:
            yield client
        return
    options = ("--url", service.up.url) if transport == "stdio to a URL" else ()
    parameters = by_stdio(service, token, *options)
    async with Client(stdio_client(parameters), read_timeout_seconds=PATIENCE_SECONDS) as client:
        yield client


TRANSPORTS = ("http", "stdio", "stdio to a URL")


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_what_is_remembered_is_recalled_and_forgotten(
    service: Service, transport: str
) -> None:
    day = dict(zip(TRANSPORTS, ("Monday", "Thursday", "Sunday"), strict=True))[transport]
    fact = {"content": f"The harbour crane is greased on {day}s.", "project": transport}
    asked = {"query": "when is the harbour crane greased?", "project": transport}
    async with connected(service, transport, service.tokens["agent"]) as client:
        assert len((await client.list_tools()).tools) == 8
        memory_id = said(await client.call_tool("remember", fact))["id"]
        found = said(await client.call_tool("recall", asked))
        assert found["results"][0]["id"] == memory_id
        brief = await client.get_prompt("brief", {"task": asked["query"], "project": transport})
        assert "greased" in str(brief.messages)
        note = await client.read_resource(f"engram://memories/{memory_id}")
        assert "greased" in str(note.contents)
        refused = refusal(await client.call_tool("recall", {"query": "x", "k": 0}))
        assert "k" in refused["detail"]
        with pytest.raises(MCPError):
            await client.call_tool("no_such_tool", {})
        gone = await client.call_tool("forget", {"ids": [memory_id], "confirm": True})
        assert said(gone)["forgotten"] == 1
        assert memory_id not in str(await client.call_tool("recall", asked))
        about_it = said(await client.call_tool("recall", {"memory_id": memory_id}))
        assert (about_it["state"], "content" in about_it) == ("forgotten", False)


def talk(
    service: Service, lines: bytes, *options: str, key: str = "", answers: int = 0
) -> subprocess.CompletedProcess[bytes]:
    """Send lines to `manage.py mcp`; close its input when it has written as many answers."""
    environment = {**ENVIRONMENT, "ENGRAM_HOME": str(service.up.home)}
    command = [sys.executable, "manage.py", "mcp", *options]
    with subprocess.Popen(
        command,
        cwd=SOURCE,
        env=environment | ({"ENGRAM_KEY": key} if key else {}),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        if answers:
            process.stdin.write(lines)
            process.stdin.flush()
        written = b"".join(process.stdout.readline() for _ in range(answers))
        rest, errors = process.communicate(timeout=PATIENCE_SECONDS)
    return subprocess.CompletedProcess(command, process.returncode, written + rest, errors)


GREETING = frame(
    "initialize",
    {
        "protocolVersion": "2025-06-18",
        "capabilities": {},
        "clientInfo": {"name": "test", "version": "0"},
    },
    id="greeting",
)


def lines_of(*sent: Any) -> bytes:
    """Return frames as lines; bytes as they are."""
    return b"".join(
        one if isinstance(one, bytes) else json.dumps(one).encode() + b"\n" for one in sent
    )


def test_standard_output_has_nothing_but_frames_whatever_comes(service: Service) -> None:
    sent = lines_of(
        GREETING,
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        b'{"jsonrpc": "2.0", "id"\n',
        b"\xff\xfe\x00\n",
        b"\n",
        [frame("ping"), frame("ping")],
        frame("no/such", id=2),
        tool_call("no_such_tool") | {"id": 3},
        tool_call("remember", content="x" * 300_000) | {"id": 4},
        tool_call("recall", query="harbour crane") | {"id": 5},
        b'{"jsonrpc": "2.0", "id": 6, "method": "pi',
    )
    done = talk(service, sent, key=service.tokens["agent"], answers=5)
    answers = {one.get("id"): one for one in map(json.loads, done.stdout.splitlines())}
    assert done.returncode == 0, done.stderr
    assert answers["greeting"]["result"]["serverInfo"]["name"] == "engram"
    assert answers[2]["error"]["code"] == -32601
    assert answers[3]["error"]["code"] == -32602
    assert answers[4]["result"]["isError"] is True
    assert "results" in answers[5]["result"]["content"][0]["text"]
    assert service.tokens["agent"].encode() not in done.stdout + done.stderr


def test_a_service_that_is_not_there_is_an_error_of_the_tool(service: Service) -> None:
    sent = lines_of(GREETING, tool_call("recall", query="harbour crane") | {"id": 5})
    done = talk(service, sent, "--url", NOBODY, key="egr_x", answers=2)
    (_, answer) = map(json.loads, done.stdout.splitlines())
    told = json.loads(answer["result"]["content"][0]["text"])
    assert answer["result"]["isError"] is True
    assert f"does not answer at {NOBODY}" in told["detail"]


@pytest.mark.parametrize(
    ("options", "key", "told"),
    [
        ((), "", "no key"),
        ((), "egr_wrong", "unknown, revoked or expired"),
        (("--url", NOBODY), "", "no key"),
        (("--url", "127.0.0.1:8000"), "egr_x", "no address"),
    ],
)
def test_what_it_cannot_start_with_is_said_on_standard_error(
    service: Service, options: tuple[str, ...], key: str, told: str
) -> None:
    done = talk(service, b"", *options, key=key)
    assert (done.returncode, done.stdout) == (1, b"")
    assert told in done.stderr.decode()


def test_the_demo_key_is_used_here_and_sent_nowhere_else(service: Service, tmp_path: Path) -> None:
    demo = service.up.home / "demo.json"
    demo.write_text(json.dumps({"url": service.up.url, "agent_key": service.tokens["agent"]}))
    sent = lines_of(GREETING, tool_call("recall", query="harbour crane") | {"id": 5})
    try:
        for options in ((), ("--url", service.up.url)):
            done = talk(service, sent, *options, answers=2)
            assert b'\\"results\\"' in done.stdout, done.stderr
        assert b"no key" in talk(service, sent, "--url", NOBODY).stderr
        printed = talk(service, b"", "--snippets").stdout.decode()
        assert printed.count(service.tokens["agent"]) == 4
        assert printed.count(f"{service.up.url}/mcp") == 4
    finally:
        demo.unlink()


def test_settings_are_printed_and_a_url_is_called_without_services(tmp_path: Path) -> None:
    home = tmp_path / "home"
    for options in (("--snippets",), ("--url", NOBODY), ("--help",)):
        done = subprocess.run(
            [sys.executable, "manage.py", "mcp", *options],
            cwd=SOURCE,
            env={**ENVIRONMENT, "ENGRAM_HOME": str(home), "ENGRAM_KEY": "egr_x"},
            input=b"",
            capture_output=True,
            timeout=PATIENCE_SECONDS,
            check=True,
        )
        assert done.stdout.count(b"egr_x") == (4 if "--snippets" in options else 0)
    assert not (home / "services.json").exists()


def test_a_process_that_calls_a_url_loads_no_django() -> None:
    code = "import sys, engram.console.mcp.process; sys.exit('django' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], cwd=SOURCE, check=False).returncode == 0


def test_each_snippet_works_as_it_is_printed(service: Service, tmp_path: Path) -> None:
    key = service.tokens["agent"]
    shown = talk(service, b"", "--snippets", "--url", service.up.url, key=key).stdout.decode()
    lines = [line.strip() for line in shown.splitlines()]
    cursor = json.loads(lines[lines.index("Cursor (.cursor/mcp.json):") + 1])
    vs_code = json.loads(lines[lines.index("VS Code (.vscode/mcp.json):") + 1])
    for server in (cursor["mcpServers"]["engram"], vs_code["servers"]["engram"]):
        answer = httpx2.post(server["url"], headers=server["headers"], json=frame("ping"))
        assert answer.json()["result"] == {}
    plain = lines[lines.index("plain HTTP:") + 1]
    done = subprocess.run(plain, shell=True, capture_output=True, check=True, timeout=60)  # noqa: S602
    assert len(json.loads(done.stdout)["result"]["tools"]) == 8
    claude_code = lines[lines.index("Claude Code:") + 1]
    (tmp_path / "claude").write_text('#!/bin/sh\nfor one in "$@"; do echo "$one"; done\n')
    (tmp_path / "claude").chmod(0o755)
    path = {"PATH": f"{tmp_path}:{os.environ['PATH']}"}
    done = subprocess.run(claude_code, shell=True, capture_output=True, check=True, env=path)  # noqa: S602
    assert done.stdout.decode().splitlines() == [
        *(["mcp", "add", "--transport", "http", "engram"]), f"{service.up.url}/mcp",
        "--header", f"Authorization: Bearer {key}",
    ]  # fmt: skip


def test_a_call_without_a_key_or_from_a_strange_page_is_refused(service: Service) -> None:
    url, key = f"{service.up.url}/mcp", {"Authorization": f"Bearer {service.tokens['agent']}"}
    with httpx2.Client(headers={"Accept": "application/json"}, timeout=60) as http:
        assert http.post(url, json=frame("ping")).status_code == 401
        strange = {**key, "Origin": "https://evil.example"}
        assert http.post(url, json=frame("ping"), headers=strange).status_code == 403
        assert http.get(url, headers=key).status_code == 405
        large = http.post(url, content=b" " * 7_000_000, headers=key)
        assert (large.status_code, large.json()["error"]["code"]) == (413, -32600)
        chunks = (b" " * 100_000 for _ in range(70))
        assert http.post(url, content=chunks, headers=key).status_code == 413
        assert http.post(url, json=frame("ping"), headers=key).status_code == 200
