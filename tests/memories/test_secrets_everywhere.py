"""Secrets are stored in no field: refused where a text is short, taken out of what is long."""

from __future__ import annotations

from typing import Any

import pytest

from engram.kernel.tenancy import in_workspace
from memories.models import Session
from tests.conftest import Tenant

SECRET = "password: hunter2"
BARE = {"question": "What is the password of the staging database?", "answer": "hunter2-x9Q"}
BARE_BEFORE = BARE | {"answer": "none", "was": "hunter2-x9Q"}
CONTENT = "The crane of berth 4 was greased."


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", f"Note: {SECRET}"),
        ("content", "pass\u200bword: hunter2"),
        ("source", SECRET),
        ("scope", SECRET),
        ("project", SECRET),
        ("agent", SECRET),
        ("session_key", SECRET),
        ("tags", ["fine", SECRET]),
        ("metadata", {"password": "hunter2"}),
        ("metadata", {"deep": [{"note": SECRET}]}),
        ("metadata", {SECRET: 1}),
        ("answers", [{"question": "How does one enter?", "answer": SECRET}]),
        ("answers", [{"question": SECRET, "answer": "yes"}]),
        ("answers", [BARE]),
        ("answers", [BARE_BEFORE]),
    ],
)
def test_commit_refuses_a_secret_in_any_field(tenant: Tenant, field: str, value: Any) -> None:
    answer = tenant.agent.post("memories", {"content": CONTENT, field: value})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)
    several = tenant.agent.post(
        "memories/batch", {"memories": [{"content": CONTENT, field: value}]}
    )
    assert several.status_code == 422
    assert tenant.reader.get("memories").json()["results"] == []


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("scope", SECRET),
        ("tags", [SECRET]),
        ("metadata", {"pwd": "letmein9"}),
        ("source", SECRET),
        ("answers", [{"question": "How does one enter?", "answer": "by key", "was": SECRET}]),
        ("answers", [BARE]),
        ("answers", [BARE_BEFORE]),
    ],
)
def test_change_refuses_a_secret_in_any_field(tenant: Tenant, field: str, value: Any) -> None:
    made = tenant.agent.post("memories", {"content": CONTENT}).json()["memory"]["id"]
    answer = tenant.reviewer.patch(f"memories/{made}", {field: value})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, field)


def test_people_are_told_when_a_note_holds_a_secret(tenant: Tenant) -> None:
    ids = [
        tenant.agent.post("memories", {"content": text, "scope": scope}).json()["memory"]["id"]
        for text, scope in ((CONTENT, "a"), ("The crane of berth 4 was never greased.", "b"))
    ]
    refused = [
        tenant.agent.post("conflicts", {"memory_ids": ids, "note": SECRET}),
        tenant.agent.post(
            f"memories/{ids[0]}/relations",
            {"other": ids[1], "relation": "same", "reason": SECRET},
        ),
        tenant.admin.post("keys", {"name": SECRET, "role": "agent"}),
    ]
    card = tenant.agent.post("conflicts", {"memory_ids": ids}).json()["id"]
    refused += [
        tenant.reviewer.post(f"conflicts/{card}/comments", {"text": SECRET}),
        tenant.reviewer.post(f"conflicts/{card}/resolve", {"verdict": "dismiss", "note": SECRET}),
        tenant.reviewer.post(
            f"conflicts/{card}/resolve", {"verdict": "none_valid", "answer": SECRET}
        ),
    ]
    told = [(one.status_code, one.json()["errors"][0]["field"]) for one in refused]
    names = ("note", "reason", "name", "text", "note", "answer")
    assert told == [(422, name) for name in names]


def test_session_refuses_names_and_keeps_the_rest_without_the_secret(tenant: Tenant) -> None:
    for name in ("session_key", "scope", "project", "agent"):
        answer = tenant.agent.post("sessions", {"session_key": "monday", name: SECRET})
        assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, name)
    context = f"Log in to the crane. {SECRET}"
    started = tenant.agent.post("sessions", {"session_key": "monday", "context": context})
    assert started.status_code == 201
    transcript = f"User: {SECRET}\nAgent: the crane of berth 4 is greased."
    for _ in range(2):  # the same end again changes nothing
        ended = tenant.agent.post("sessions/monday/end", {"transcript": transcript})
        assert ended.status_code in {200, 202}
    with in_workspace(tenant.workspace):
        session = Session.objects.get()
    assert session.context == "Log in to the crane. password: [removed: a password]"
    assert session.transcript == transcript.replace("hunter2", "[removed: a password]")


@pytest.mark.parametrize(
    "content",
    ["\u200b", "\u2063\u2064", "\ufe0f", "\U000e0041\U000e007f", "\u3164", "\u2800", "\u00ad"],
)
def test_content_of_invisible_characters_is_empty(tenant: Tenant, content: str) -> None:
    answer = tenant.agent.post("memories", {"content": content})
    assert (answer.status_code, answer.json()["errors"][0]["field"]) == (422, "content")
    assert tenant.agent.post("memories", {"content": f"a{content}"}).status_code == 201
