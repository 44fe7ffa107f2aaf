"""Call a tool: from its arguments to its result, which is one text.

The result has no structured content. Some clients show a model the text and the structured content
(it would read everything twice), some only one of the two, and all of them show a text that stands
alone.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from mcp import types

from engram.console.mcp import shapes
from engram.console.mcp.calls import Api, ArgumentError
from engram.console.mcp.tools import ToolSpec


def text_of(shown: Mapping[str, Any]) -> str:
    """Return JSON without blanks; characters that no text may hold are escaped."""
    compact = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    return compact.encode("utf-8", "backslashreplace").decode()


def result(shown: Mapping[str, Any], *, is_error: bool = False) -> types.CallToolResult:
    """Return the result of a tool."""
    content: Any = [types.TextContent(type="text", text=text_of(shown))]
    return types.CallToolResult(content=content, is_error=is_error)


async def call_tool(api: Api, tool: ToolSpec, arguments: Mapping[str, Any]) -> types.CallToolResult:
    """Return what the API answers; wrong arguments and its refusals are errors of the tool."""
    unknown = sorted(set(arguments) - set(tool.properties))
    if unknown:
        known = ", ".join(tool.properties)
        detail = f"{unknown[0][:60]}: There is no such argument; {tool.name} has {known}."
        return result({"detail": detail}, is_error=True)
    try:
        reply = await api.send(tool.route(arguments))
    except ArgumentError as error:
        return result({"detail": str(error)}, is_error=True)
    if reply.is_refused:
        shown = shapes.refused(reply.data, reply.detail, reply.wait_seconds)
        return result(shown, is_error=True)
    return result(tool.shape(arguments)(reply.data, api.url))
