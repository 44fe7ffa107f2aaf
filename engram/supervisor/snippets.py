"""How agents connect: settings for their clients, with the real address and key."""

from __future__ import annotations

import json
import shlex

SERVER = "engram"


def snippets(url: str, key: str) -> dict[str, str]:
    """Return what to run or to write into which file, by client."""
    address, bearer = f"{url}/mcp", f"Bearer {key}"
    server = {"url": address, "headers": {"Authorization": bearer}}
    cursor = {"mcpServers": {SERVER: server}}
    vs_code = {"servers": {SERVER: {"type": "http", **server}}}
    claude_code = ["claude", "mcp", "add", "--transport", "http", SERVER, address, "--header"]
    plain = [
        "curl", "-s", address, "-H", f"Authorization: {bearer}",
        "-H", "Content-Type: application/json", "-H", "Accept: application/json",
        "-d", '{"jsonrpc": "2.0", "id": 1, "method": "tools/list"}',
    ]  # fmt: skip
    return {
        "Claude Code": shlex.join([*claude_code, f"Authorization: {bearer}"]),
        "Cursor (.cursor/mcp.json)": json.dumps(cursor),
        "VS Code (.vscode/mcp.json)": json.dumps(vs_code),
        "plain HTTP": shlex.join(plain),
    }


def lines_of(url: str, key: str, indent: str = "") -> list[str]:
    """Return the snippets as lines, each below the name of its client."""
    found = []
    for client, snippet in snippets(url, key).items():
        found += [f"{indent}{client}:", f"{indent}  {snippet}"]
    return found
