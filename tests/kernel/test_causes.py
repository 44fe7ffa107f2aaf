"""Each refusal has a cause of its own, which programs can tell from the others."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from django.urls import get_resolver

from engram.kernel.causes import CAUSES, OF_STATUS
from tests.conftest import Caller, Tenant

ROOT = Path(__file__).resolve().parents[2]
# Their default says too little: what has changed, or which role is needed, differs by place.
NEEDS_CAUSE = {"StaleError", "ForbiddenError", "RefusalError"}


def raised() -> Iterator[tuple[str, ast.Call]]:
    """Yield where each refusal of the code is made."""
    for package in ("engram", "memories", "conflicts", "predictor"):
        for path in sorted((ROOT / package).rglob("*.py")):
            for node in ast.walk(ast.parse(path.read_text())):
                is_made = isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
                if is_made and node.func.id in NEEDS_CAUSE:
                    yield f"{path.relative_to(ROOT)}:{node.lineno}", node


def test_every_refusal_names_its_cause() -> None:
    found = list(raised())
    assert len(found) > 40
    silent = [
        where for where, call in found if "cause" not in {keyword.arg for keyword in call.keywords}
    ]
    assert silent == []


def documented() -> str:
    """Return the table of causes as the docs hold it."""
    rows = [
        f"| `{cause.type}` | {cause.status} | {cause.title} | {cause.meaning} | {cause.remedy} |"
        for cause in sorted(CAUSES.values(), key=lambda one: (one.status, one.name))
    ]
    head = "| `type` | status | title | what happened | what to do |"
    return "\n".join([head, "| --- | --- | --- | --- | --- |", *rows])


def test_the_docs_list_every_cause_with_what_to_do() -> None:
    get_resolver().url_patterns  # noqa: B018  loads every service with its causes
    text = (ROOT / "docs/agents.md").read_text()
    table = text.split("<!-- causes -->\n")[1].split("<!-- /causes -->")[0]
    assert table.strip() == documented()
    assert all(re.fullmatch(r"[a-z]+(-[a-z]+)*", name) for name in CAUSES)
    assert {cause.status for cause in CAUSES.values()} == OF_STATUS.keys()


def test_two_conflicts_are_told_apart_by_their_type(tenant: Tenant) -> None:
    ids = [
        tenant.agent.post("memories", {"content": f"The fair opens in {month}."}).json()["memory"][
            "id"
        ]
        for month in ("May", "July")
    ]
    card = tenant.agent.post("conflicts", {"memory_ids": ids}).json()
    path = f"conflicts/{card['id']}"
    stale = tenant.reviewer.post(f"{path}/resolve", {"verdict": "yes", "version": 99})
    undone = tenant.reviewer.post(f"{path}/undo")
    assert tenant.reviewer.post(f"{path}/resolve", {"verdict": "both_valid"}).status_code == 200
    again = tenant.reviewer.post(f"{path}/resolve", {"verdict": "yes"})
    tenant.agent.post("sessions", {"session_key": "s"})
    tenant.agent.post("sessions/s/end", {"transcript": "One."})
    ended = tenant.agent.post("sessions/s/prompts", {"prompt": "More?"})
    other = tenant.agent.post("sessions/s/end", {"transcript": "Two."})
    used = [
        tenant.agent.post("memories", {"content": content}, **{"Idempotency-Key": "k"})
        for content in ("One is one.", "Two is two.")
    ][1]
    answers = {
        "stale-version": stale,
        "nothing-to-undo": undone,
        "already-decided": again,
        "session-ended": ended,
        "session-ended-otherwise": other,
        "idempotency-key-reused": used,
    }
    for name, answer in answers.items():
        body = answer.json()
        assert (answer.status_code, body["type"]) == (409, f"/problems/{name}"), body
        assert body["title"] == CAUSES[name].title


def test_other_refusals_have_a_type_too(tenant: Tenant, anonymous: Caller) -> None:
    secret = {"content": "password: hunter2hunter2"}
    answers: list[tuple[str, Any]] = [
        ("not-authenticated", anonymous.get("memories")),
        ("not-allowed", tenant.reader.post("memories", {"content": "x"})),
        ("not-found", tenant.reader.get("conflicts/00000000-0000-0000-0000-000000000000")),
        ("not-found", tenant.reader.get("nowhere")),
        ("method-not-allowed", tenant.admin.delete("memories")),
        ("malformed-request", tenant.agent.post("memories", "{")),
        ("invalid-value", tenant.agent.post("memories", {"content": ""})),
        ("invalid-value", tenant.reader.get("memories", {"state": "odd"})),
        ("credential", tenant.agent.post("memories", secret)),
    ]
    for name, answer in answers:
        body = answer.json()
        assert body["type"] == f"/problems/{name}", body
        assert (answer.status_code, body["status"]) == (CAUSES[name].status,) * 2


@pytest.fixture
def schema(tenant: Tenant) -> dict[str, Any]:
    """Return the API's description."""
    answer = tenant.reader.get("schema/", {"format": "json"})
    assert answer.status_code == 200
    found: dict[str, Any] = answer.json()
    return found


def test_the_description_lists_the_causes(schema: dict[str, Any]) -> None:
    listed = schema["components"]["schemas"]["Problem"]["properties"]["type"]["enum"]
    assert listed == sorted(cause.type for cause in CAUSES.values())
    [path] = [path for path in schema["paths"] if re.search(r"/conflicts/{\w+}/resolve$", path)]
    stale = schema["paths"][path]["post"]["responses"]["409"]
    assert "/problems/stale-version" in stale["description"]
    assert "/problems/not-found" not in stale["description"]
