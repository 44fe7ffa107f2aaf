"""The Model Context Protocol over HTTP, by the client of its SDK, against a running product."""

from __future__ import annotations

from typing import Any

import httpx2
from mcp import Client
from mcp.client.streamable_http import streamable_http_client

from tests.console.mcp_door import said
from tests.e2e.service import Service

FACT = {"content": "The harbour crane is greased on Mondays.", "scope": "harbour"}


def connected(service: Service, role: str) -> tuple[Any, httpx2.AsyncClient]:
    """Return a client of the protocol with the key of a role."""
    headers = {"Authorization": f"Bearer {service.tokens[role]}"}
    http = httpx2.AsyncClient(headers=headers, timeout=60)
    return Client(streamable_http_client(f"{service.up.url}/mcp", http_client=http)), http


async def test_what_is_remembered_is_recalled_and_forgotten(service: Service) -> None:
    client, http = connected(service, "agent")
    asked = {"query": "when is the harbour crane greased?"}
    async with http, client:
        assert len((await client.list_tools()).tools) == 8
        memory_id = said(await client.call_tool("remember", FACT))["id"]
        found = said(await client.call_tool("recall", asked))
        assert found["results"][0]["id"] == memory_id
        gone = await client.call_tool("forget", {"ids": [memory_id], "confirm": True})
        assert said(gone)["forgotten"] == 1
        assert memory_id not in str(await client.call_tool("recall", asked))


def test_a_call_without_a_key_or_from_a_strange_page_is_refused(service: Service) -> None:
    url, body = f"{service.up.url}/mcp", {"jsonrpc": "2.0", "id": 1, "method": "ping"}
    accept = {"Accept": "application/json, text/event-stream"}
    key = {"Authorization": f"Bearer {service.tokens['agent']}"}
    with httpx2.Client(headers=accept, timeout=60) as http:
        assert http.post(url, json=body).status_code == 401
        strange = http.post(url, json=body, headers={**key, "Origin": "https://evil.example"})
        assert strange.status_code == 403
        half = http.post(
            url,
            content=b'{"jsonrpc": "2.0", "id"',
            headers={**key, "Content-Type": "application/json"},
        )
        assert half.status_code == 400
