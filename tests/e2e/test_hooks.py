"""The coding agent's hooks with a running service: from the installer to the stored transcript."""

from __future__ import annotations

import json
from pathlib import Path

from tests.clients.hooks import Home
from tests.e2e.service import Service
from tests.homes import eventually


def test_a_coding_agent_gets_memories_and_hands_over_what_was_said(
    service: Service, subject: str, tmp_path: Path
) -> None:
    status, _ = service.call(
        "admin",
        "memories",
        {"content": f"The {subject} is locked by Ingrid at nine.", "kind": "constraint"},
    )
    assert status == 201
    home = Home(tmp_path / "home")
    done = home.install("--url", service.up.url, ENGRAM_KEY=service.tokens["agent"])
    assert (done.returncode, done.stderr) == (0, "")
    assert home.install("--status").stdout.startswith(f"all projects: {service.up.url}: answers")

    session = f"agent-{subject}"
    began = home.payload("SessionStart", source="startup") | {"session_id": session}
    assert f'constraint: "The {subject} is locked by Ingrid at nine."' in home.context(began)
    for content in (f"The {subject} is painted by Oskar.", f"Nobody else paints the {subject}."):
        assert service.call("agent", "memories", {"content": content})[0] == 201
    asked = home.payload("UserPromptSubmit") | {"prompt": f"Who paints the {subject}?"}
    context = home.context(asked | {"session_id": session})
    assert f'- "The {subject} is painted by Oskar."' in context
    assert "Ingrid" not in context

    said = {"role": "assistant", "content": [{"type": "text", "text": f"Oskar paints {subject}."}]}
    with home.transcript.open("a") as file:
        file.write(json.dumps({"type": "assistant", "message": said}) + "\n")
    home.fire(home.payload("SessionEnd", reason="clear") | {"session_id": session})
    assert home.is_sent()
    assert home.waiting("refused") == []
    _, ended = service.call("agent", f"sessions/claude-code-{session}")
    assert (ended["state"], ended["project"], ended["prompts"]) == ("ended", "shop", 1)
    assert ended["transcript_chars"] == len(f"Agent: Oskar paints {subject}.")
    assert eventually(lambda: not home.senders())
