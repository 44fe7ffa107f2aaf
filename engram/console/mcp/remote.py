"""The API of an Engram elsewhere, for the protocol on standard input and output."""

from __future__ import annotations

import httpx2

from engram.console.mcp.calls import Call, Reply, json_of

TIMEOUT_SECONDS = 60.0


class RemoteApi:
    """The API at a URL, as the caller of a key."""

    def __init__(self, url: str, key: str):
        self.url = url.rstrip("/")
        self._http = httpx2.AsyncClient(
            headers={"Authorization": f"Bearer {key}"}, timeout=TIMEOUT_SECONDS
        )

    async def send(self, call: Call) -> Reply:
        """Send a call; a server that does not answer is a refusal, too."""
        query = call.query_string()
        try:
            answer = await self._http.request(
                call.method,
                f"{self.url}/api/v1/{call.path}{'?' if query else ''}{query}",
                json=call.body,
            )
        except httpx2.TransportError as error:
            detail = (
                f"Engram does not answer at {self.url} ({type(error).__name__}); whether the call "
                "was carried out is not known. Go on without it, and try again later."
            )
            return Reply(503, {"detail": detail})
        data = json_of(answer.content)
        if answer.status_code in range(300, 400) or (answer.is_success and data is None):
            return Reply(502, {"detail": f"At {self.url} something else answers than Engram."})
        return Reply(answer.status_code, data, answer.headers.get("Retry-After", ""))

    async def close(self) -> None:
        """Close the connections."""
        await self._http.aclose()
