"""The example of `nearby` in the docs for authors of agents is what a new workspace answers."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from conflicts.tasks import detect_workspace
from tests.conftest import Tenant
from tests.memories.test_nearby import commit

DOCS = Path(__file__).resolve().parents[2] / "docs/agents.md"
SENT = re.compile(r"-d '(\{(?:[^']|'\$[A-Z]+')*\})'")  # with variables of the shell
BLOCK = re.compile(r"^```json\n([^`]*)\n```$", re.M)


def documented() -> tuple[list[Any], list[Any]]:
    """Return the bodies that the section sends, and its blocks of JSON."""
    text = DOCS.read_text()
    section = text[text.index("\n## Contradictions\n") : text.index("| relation | when |")]
    bodies = [json.loads(body.replace("'", "")) for body in SENT.findall(section)]
    blocks = [block if block[0] == "{" else f"{{{block}}}" for block in BLOCK.findall(section)]
    return bodies, [json.loads(block) for block in blocks]


def test_the_documented_pair_is_asked_about_and_its_answer_opens_a_card(tenant: Tenant) -> None:
    (old, new, judged), (shown, _) = documented()
    first = commit(tenant, old["content"])["memory"]
    second = commit(tenant, new["content"])
    [expected] = shown["nearby"]
    assert second["nearby"] == [
        expected | {"id": first["id"], "observed_at": first["observed_at"]},
    ]
    detect_workspace(str(tenant.workspace.pk))
    assert tenant.agent.get("conflicts").json()["results"] == []  # no rule can tell
    path = f"memories/{second['memory']['id']}/relations"
    assert tenant.agent.post(path, judged | {"other": first["id"]}).json()["outcome"] == "opened"


def test_the_documented_pair_without_common_words_is_not_asked_about(tenant: Tenant) -> None:
    (old, *_), (_, other) = documented()
    commit(tenant, old["content"])
    assert commit(tenant, other["content"])["nearby"] == []
