"""Resources: the open questions, notes, one memory, the brief of a session that was started."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from urllib.parse import quote, unquote

from mcp import MCPError, types

from engram.console.mcp import shapes
from engram.console.mcp.answers import text_of
from engram.console.mcp.calls import Api, ArgumentError, Call
from engram.console.mcp.prompts import read
from engram.console.mcp.routes import id_of

SCHEME = "engram"
OPEN_QUESTIONS = f"{SCHEME}://questions/open"
JSON, MARKDOWN = "application/json", "text/markdown"
PAGE = 50

_OPEN = types.Resource(
    uri=OPEN_QUESTIONS,
    name="open-questions",
    title="Open questions",
    description="Contradictions between memories that wait for a person's decision.",
    mime_type=JSON,
)
TEMPLATES = [
    types.ResourceTemplate(
        uri_template=f"{SCHEME}://notes/{{+path}}",
        name="note",
        title="Note",
        description="The text of a note, such as work/billing.md.",
        mime_type=MARKDOWN,
    ),
    types.ResourceTemplate(
        uri_template=f"{SCHEME}://memories/{{id}}",
        name="memory",
        title="Memory",
        description="One memory; without its text once it is not recalled any more.",
        mime_type=JSON,
    ),
    types.ResourceTemplate(
        uri_template=f"{SCHEME}://sessions/{{session_key}}",
        name="session-brief",
        title="Brief of a session",
        description="The memories that a session began with and that are still recalled.",
        mime_type=JSON,
    ),
]


async def list_resources(api: Api, cursor: str | None) -> types.ListResourcesResult:
    """Return a page of notes, last changed first; the open questions come before the first."""
    query = {"limit": PAGE, **({"cursor": cursor} if cursor else {})}
    page = await read(api, Call("GET", "notes", query=query))
    notes = [
        types.Resource(
            uri=f"{SCHEME}://notes/{quote(note['path'])}",
            name=note["path"],
            title=note["title"],
            mime_type=MARKDOWN,
        )
        for note in page["results"]
    ]
    first = [] if cursor else [_OPEN]
    return types.ListResourcesResult(
        resources=[*first, *notes], next_cursor=shapes.cursor_of(page["next"]) or None
    )


async def read_resource(api: Api, uri: str) -> types.ReadResourceResult:
    """Return the text of a resource; raise `MCPError` if there is none of this URI."""
    scheme, _, place = uri.partition("://")
    kind, _, name = place.partition("/")
    show = _KINDS.get(kind) if scheme == SCHEME and name else None
    if show is None:
        raise MCPError(types.INVALID_PARAMS, f"There is no resource {uri[:200]!r}.")
    mime_type, text = await show(api, unquote(name))
    content = types.TextResourceContents(uri=uri, mime_type=mime_type, text=text)
    return types.ReadResourceResult(contents=[content])


async def _questions(api: Api, name: str) -> tuple[str, str]:
    if name != "open":
        raise MCPError(types.INVALID_PARAMS, "Of questions there is the resource open only.")
    query = {"status": "open", "limit": PAGE}
    page = await read(api, Call("GET", "conflicts", query=query))
    return JSON, text_of(shapes.listed("conflicts")(page, api.url))


async def _note(api: Api, name: str) -> tuple[str, str]:
    note = await read(api, Call("GET", f"notes/{quote(name)}"))
    return MARKDOWN, note["content"]


async def _memory(api: Api, name: str) -> tuple[str, str]:
    try:
        memory_id = id_of({"id": name}, "id")
    except ArgumentError as error:
        raise MCPError(types.INVALID_PARAMS, str(error)) from None
    memory = await read(api, Call("GET", f"memories/{memory_id}"))
    return JSON, text_of(shapes.one_memory(memory, api.url))


async def _session(api: Api, name: str) -> tuple[str, str]:
    session = await read(api, Call("GET", f"sessions/{quote(name, safe='')}"))
    given = [
        shapes.filled(id=row["memory_id"], content=row["content"])
        for row in session["records"]
        if row["injected"] and not row["hidden"]
    ]
    return JSON, text_of({"session_key": session["session_key"], "memories": given})


_KINDS: dict[str, Callable[[Api, str], Awaitable[tuple[str, str]]]] = {
    "questions": _questions,
    "notes": _note,
    "memories": _memory,
    "sessions": _session,
}
