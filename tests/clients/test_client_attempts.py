"""The Python client sends a call again where that is safe, under the same key, and says why not."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import httpx
import pytest
from engram_client import AsyncEngram, Engram, Retry, errors

QUICK = Retry(first_wait=0.0)
COMMITTED = {"outcome": "created", "memory": {"id": "m"}}
Answer = httpx.Response | Exception


def problem(status: int, cause: str, **more: Any) -> httpx.Response:
    headers = {"Retry-After": str(more.pop("after"))} if "after" in more else {}
    body = {"type": f"/problems/{cause}", "title": cause, "status": status, "detail": ""} | more
    return httpx.Response(status, json=body, headers=headers)


class Script:
    """Answers one after the other, and keeps what was asked."""

    def __init__(self, *answers: Answer):
        self.answers = list(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        self.asked.append(request)
        answer = self.answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def keys(self) -> list[str | None]:
        """The Idempotency-Key of each request."""
        return [request.headers.get("Idempotency-Key") for request in self.asked]


def client(script: Callable[[httpx.Request], httpx.Response], retry: Retry = QUICK) -> Engram:
    http = httpx.Client(transport=httpx.MockTransport(script))
    return Engram("https://engram.example/", "egr_key", http=http, retry=retry)


LOST: tuple[Callable[[], Answer], ...] = (
    lambda: httpx.ConnectError("refused"),
    lambda: httpx.ReadTimeout("slow"),
    lambda: httpx.RemoteProtocolError("cut"),
    lambda: httpx.Response(502, text="<html>bad gateway"),
    lambda: problem(503, "service-unavailable", after=0),
    lambda: httpx.Response(504),
    lambda: problem(429, "too-many-requests", after=0),
    lambda: problem(409, "written-meanwhile"),
)


@pytest.mark.parametrize("lost", LOST)
def test_a_write_is_repeated_under_one_key(lost: Callable[[], Answer]) -> None:
    script = Script(lost(), lost(), httpx.Response(201, json=COMMITTED))
    assert client(script).memories.commit("Tea is at four.") == COMMITTED
    assert len(set(script.keys)) == 1
    assert None not in script.keys
    assert len({request.content for request in script.asked}) == 1


def test_each_call_has_a_key_of_its_own() -> None:
    script = Script(*[httpx.Response(201, json=COMMITTED) for _ in range(3)])
    engram = client(script)
    engram.memories.commit("Tea is at four.")
    engram.memories.commit("Tea is at four.")
    engram.memories.commit("Tea is at four.", idempotency_key="mine")
    assert len(set(script.keys)) == 3
    assert script.keys[2] == "mine"


def test_attempts_end_with_what_happened_last() -> None:
    script = Script(*[httpx.ConnectError("refused") for _ in range(4)])
    with pytest.raises(errors.ConnectionFailedError, match="POST /memories/recall: refused"):
        client(script).recall("tea")
    assert len(script.asked) == 4
    with pytest.raises(errors.TimedOutError):
        client(Script(httpx.ReadTimeout("slow")), Retry(attempts=1)).recall("tea")
    with pytest.raises(errors.ServerError) as refused:
        client(Script(httpx.Response(502, text="no")), Retry(attempts=1)).recall("tea")
    assert (refused.value.status, refused.value.detail) == (502, "no")


def test_a_change_without_a_key_is_not_repeated_when_its_answer_was_lost() -> None:
    for lost in (httpx.ReadTimeout("slow"), httpx.Response(502)):
        script = Script(lost)
        with pytest.raises(errors.EngramError):
            client(script).memories.update("m", content="Tea is at five.")
        assert len(script.asked) == 1
    script = Script(
        httpx.ConnectError("refused"),
        problem(429, "too-many-requests", after=0),
        httpx.Response(200, json={"id": "m"}),
    )
    assert client(script).memories.update("m", content="Tea is at five.") == {"id": "m"}


def test_a_deletion_whose_answer_was_lost_is_done() -> None:
    script = Script(httpx.ReadTimeout("slow"), problem(404, "not-found"))
    assert client(script).memories.erase("m") is None
    script = Script(httpx.ConnectError("refused"), problem(404, "not-found"))
    with pytest.raises(errors.NotFoundError):
        client(script).memories.erase("m")


def test_no_wait_is_longer_than_allowed() -> None:
    script = Script(problem(429, "too-many-requests", after=140))
    with pytest.raises(errors.TooManyRequestsError) as refused:
        client(script).recall("tea")
    assert refused.value.retry_after == 140.0
    assert len(script.asked) == 1


def test_a_date_in_retry_after_is_read() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(hours=1), usegmt=True)
    with pytest.raises(errors.ServerError) as refused:
        client(Script(problem(503, "service-unavailable", after=soon))).recall("tea")
    assert refused.value.retry_after is not None
    assert 3000 < refused.value.retry_after <= 3600
    with pytest.raises(errors.ServerError) as refused:
        client(Script(problem(503, "x", after="soon")), Retry(attempts=1)).recall("tea")
    assert refused.value.retry_after is None
    far = "Mon, 01 Jan 99999999999999999999 00:00:00 GMT"
    with pytest.raises(errors.ServerError) as refused:
        client(Script(problem(503, "x", after=far)), Retry(attempts=1)).recall("tea")
    assert refused.value.retry_after is None


def test_a_problem_says_its_cause_and_fields() -> None:
    wrong = [{"field": "k", "message": "Must be at most 100."}]
    script = Script(problem(422, "invalid-value", detail="See errors.", errors=wrong))
    with pytest.raises(errors.InvalidError) as refused:
        client(script).recall("tea", k=1000)
    error = refused.value
    assert (error.cause, error.type) == ("invalid-value", "/problems/invalid-value")
    assert (error.detail, error.errors) == ("See errors.", wrong)
    assert str(error) == "422 invalid-value: See errors. (k: Must be at most 100.)"


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        (400, errors.MalformedError),
        (401, errors.NotAuthenticatedError),
        (403, errors.NotAllowedError),
        (404, errors.NotFoundError),
        (409, errors.ConflictError),
        (413, errors.TooLargeError),
        (415, errors.ProblemError),
        (500, errors.ServerError),
        (302, errors.ProblemError),
    ],
)
def test_each_status_has_its_exception(status: int, kind: type[Exception]) -> None:
    with pytest.raises(kind) as refused:
        client(Script(httpx.Response(status, json=["no", "problem"]))).recall("tea")
    assert type(refused.value) is kind


def test_an_answer_that_is_not_json_is_refused() -> None:
    with pytest.raises(errors.UnexpectedAnswerError):
        client(Script(httpx.Response(200, text="<html>Sign in"))).recall("tea")


def test_an_answer_that_cannot_be_read_is_an_error_of_the_client() -> None:
    for lost in (httpx.DecodingError("no gzip"), httpx.TooManyRedirects("in a circle")):
        script = Script(lost)
        with pytest.raises(errors.UnexpectedAnswerError, match="POST /memories/recall"):
            client(script).recall("tea")
        assert len(script.asked) == 1
    odd = httpx.Response(422, json={"errors": ["no object", {"field": "k", "message": "too much"}]})
    with pytest.raises(errors.InvalidError, match=r"k: too much"):
        client(Script(odd)).recall("tea")


def test_a_list_follows_its_pages_and_no_other_address() -> None:
    def page(next_: str | None, *rows: int) -> httpx.Response:
        return httpx.Response(200, json={"results": [{"n": n} for n in rows], "next": next_})

    script = Script(
        page("https://elsewhere.example/steal?cursor=a%2Bb&q=tea", 1, 2),
        page("/api/v1/memories?cursor=c", 3),
        page(None),
    )
    found = client(script).memories.list(q="tea", limit=2)
    assert list(found) == [{"n": 1}, {"n": 2}, {"n": 3}]
    assert [str(request.url) for request in script.asked] == [
        "https://engram.example/api/v1/memories?limit=2&q=tea",
        "https://engram.example/api/v1/memories?cursor=a%2Bb&q=tea",
        "https://engram.example/api/v1/memories?cursor=c",
    ]


async def test_the_asynchronous_client_does_the_same() -> None:
    def page(next_: str | None, *rows: int) -> httpx.Response:
        return httpx.Response(200, json={"results": [{"n": n} for n in rows], "next": next_})

    script = Script(
        httpx.ReadTimeout("slow"),
        problem(429, "too-many-requests", after=0),
        httpx.Response(201, json=COMMITTED),
        page("/api/v1/memories?cursor=c", 1),
        httpx.ConnectError("refused"),
        page(None, 2),
    )
    http = httpx.AsyncClient(transport=httpx.MockTransport(script))
    async with AsyncEngram("https://engram.example", "egr_key", http=http, retry=QUICK) as engram:
        assert await engram.memories.commit("Tea is at four.") == COMMITTED
        assert [row async for row in engram.memories.list()] == [{"n": 1}, {"n": 2}]
    assert len(set(script.keys[:3])) == 1
    assert script.asked[0].headers["Authorization"] == "Bearer egr_key"
    assert script.asked[0].headers["User-Agent"].startswith("engram-client/")
    assert not http.is_closed, "whoever hands a client in closes it"
    await http.aclose()


def test_what_would_name_another_address_is_not_sent() -> None:
    script = Script()
    engram = client(script)
    for id_ in ("", ".", ".."):
        with pytest.raises(ValueError, match="memory_id"):
            engram.memories.get(id_)
    for path in ("", "a//b", "../keys", "a/./b"):
        with pytest.raises(ValueError, match="note_path"):
            engram.notes.get(path)
    with pytest.raises(ValueError, match="time zone"):
        engram.recall("tea", as_of=datetime(2026, 1, 1))  # noqa: DTZ001  what is refused
    assert script.asked == []


def test_address_and_key_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_URL", "https://engram.example/api/v1/")
    monkeypatch.setenv("ENGRAM_KEY", "egr_other")
    script = Script(httpx.Response(200, json={"results": []}))
    with httpx.Client(transport=httpx.MockTransport(script)) as http:
        Engram(http=http).recall("tea")
    assert str(script.asked[0].url) == "https://engram.example/api/v1/memories/recall"
    assert script.asked[0].headers["Authorization"] == "Bearer egr_other"
    monkeypatch.delenv("ENGRAM_KEY")
    with pytest.raises(ValueError, match="ENGRAM_KEY"):
        Engram()
    with pytest.raises(ValueError, match="http://"):
        Engram("engram.example", "egr_key")


def test_a_key_that_cannot_be_sent_is_refused_without_quoting_it() -> None:
    for key in ("egr_one\negr_two", "egr_sécret", "egr secret", "egr_\x00"):
        with pytest.raises(ValueError, match="visible ASCII") as refused:
            Engram("https://engram.example", key)
        assert key not in str(refused.value)
    script = Script(httpx.Response(200, json={"results": []}))
    with httpx.Client(transport=httpx.MockTransport(script)) as http:
        Engram("https://engram.example", "egr_key\n", http=http).recall("tea")
    assert script.asked[0].headers["Authorization"] == "Bearer egr_key"
