"""The client's functions for models that call tools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import httpx
import jsonschema
import pytest
from engram_client import Engram, Retry, errors
from engram_client.tools import Tool, memory_tools

MEMORY = {"id": "m1", "content": "Tea is at four.", "scope": "shop"}


class Service:
    """Answers by path, and keeps what was asked."""

    def __init__(self) -> None:
        self.answers: dict[str, tuple[int, Any]] = {}
        self.asked: list[tuple[str, str, Any]] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path.removeprefix("/api/v1")
        self.asked.append((request.method, path, json.loads(request.content or b"null")))
        status, answer = self.answers[path]
        return httpx.Response(status, json=answer)


@pytest.fixture
def service() -> Service:
    return Service()


@pytest.fixture
def tools(service: Service) -> Iterator[dict[str, Tool]]:
    with httpx.Client(transport=httpx.MockTransport(service)) as http:
        engram = Engram("https://engram.example", "egr_key", http=http, retry=Retry(attempts=1))
        yield {t.name: t for t in memory_tools(engram, scope="shop", session_key="run-1")}


def test_there_are_five_with_valid_schemas(tools: dict[str, Tool]) -> None:
    assert list(tools) == ["remember", "recall", "revise", "forget", "questions"]
    for tool in tools.values():
        jsonschema.Draft202012Validator.check_schema(tool.parameters)
        assert tool.parameters["additionalProperties"] is False
        assert set(tool.required) <= tool.parameters["properties"].keys()
        described = tool.for_chat()["function"]
        assert described["parameters"] == tool.for_responses()["parameters"]
        assert tool.for_responses()["name"] == described["name"] == tool.name


def test_a_statement_is_stored_where_the_caller_says(
    tools: dict[str, Tool], service: Service
) -> None:
    service.answers["/memories"] = (
        201,
        {"outcome": "kept_apart", "memory": MEMORY, "nearby": [MEMORY | {"why": "x"}]},
    )
    said = json.loads(tools["remember"]('{"content": "Tea is at five.", "answers": null}'))
    assert said == {
        "outcome": "kept_apart",
        "id": "m1",
        "nearby": [{"id": "m1", "content": "Tea is at four."}],
    }
    [(_, _, body)] = service.asked
    assert body == {
        "content": "Tea is at five.", "scope": "shop", "project": "", "agent": "",
        "session_key": "run-1",
    }  # fmt: skip
    service.answers["/memories"] = (202, {"status": "pending", "review": "r"})
    assert json.loads(tools["remember"]({"content": "x"})) == {"outcome": "pending"}
    service.answers["/memories"] = (200, {"outcome": "suppressed", "memory": None, "nearby": []})
    assert json.loads(tools["remember"]({"content": "x"})) == {"outcome": "suppressed", "id": None}


def test_recall_says_what_is_disputed_and_why_there_is_nothing(
    tools: dict[str, Tool], service: Service
) -> None:
    row = {"memory": MEMORY, "relevance": 0.876, "disputed": True}
    service.answers["/memories/recall"] = (200, {"results": [row]})
    assert json.loads(tools["recall"]('{"query": "tea?"}')) == {
        "memories": [
            {"id": "m1", "content": "Tea is at four.", "relevance": 0.88, "disputed": True}
        ]
    }
    service.answers["/memories/recall"] = (200, {"results": [], "reason": "no memories"})
    assert json.loads(tools["recall"]('{"query": "tea?", "k": 3}')) == {
        "memories": [],
        "reason": "no memories",
    }
    assert service.asked[-1][2] == {
        "query": "tea?", "k": 3, "scope": "shop", "project": "", "session_key": "run-1",
    }  # fmt: skip


def test_nothing_is_forgotten_by_a_query_alone(tools: dict[str, Tool], service: Service) -> None:
    service.answers["/memories/forget"] = (200, {"would_forget": [MEMORY]})
    preview = json.loads(tools["forget"]('{"query": "tea"}'))
    assert preview == {"would_forget": [{"id": "m1", "content": "Tea is at four."}]}
    for arguments in ({"query": "tea", "confirm": True}, {}, {"query": "t", "ids": ["m1"]}):
        assert "error" in json.loads(tools["forget"](arguments))
    assert len(service.asked) == 1
    service.answers["/memories/forget"] = (200, {"forgotten": 1, "ids": ["m1"]})
    assert json.loads(tools["forget"]({"ids": ["m1"], "confirm": True}))["forgotten"] == 1
    assert service.asked[-1][2] == {"ids": ["m1"], "confirm": True}


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        ("{", "Expecting property name"),
        ("[1]", "must be an object"),
        ('{"query": "x", "scope": "/"}', "unknown arguments: scope"),
        ("", "missing arguments: query"),
        ('{"query": null}', "missing arguments: query"),
    ],
)
def test_wrong_arguments_are_said_to_the_model(
    tools: dict[str, Tool], arguments: str, error: str
) -> None:
    assert error in json.loads(tools["recall"](arguments))["error"]


def test_a_refusal_is_said_to_the_model_and_a_failure_is_raised(
    tools: dict[str, Tool], service: Service
) -> None:
    wrong = [{"field": "k", "message": "Must be at most 100."}]
    problem = {"title": "Invalid value", "detail": "", "errors": wrong}
    service.answers["/memories/recall"] = (422, problem)
    assert json.loads(tools["recall"]('{"query": "x"}')) == {
        "error": "422 Invalid value (k: Must be at most 100.)"
    }
    for status in (401, 429, 500, 503):
        service.answers["/memories/recall"] = (status, {})
        with pytest.raises(errors.ProblemError):
            tools["recall"]('{"query": "x"}')


def test_an_id_that_would_name_another_address_is_said_to_the_model(
    tools: dict[str, Tool], service: Service
) -> None:
    assert "error" in json.loads(tools["revise"]('{"id": "..", "content": "x"}'))
    assert service.asked == []
