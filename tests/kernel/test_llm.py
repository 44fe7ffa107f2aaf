"""Schema-checked answers of language models, over a real socket."""

from __future__ import annotations

import json
import socket
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from typing import Any

import pytest
from pydantic import BaseModel, ConfigDict

from engram.kernel import llm
from engram.kernel.endpoint import Endpoint, retry_after
from engram.kernel.llm import (
    MalformedError,
    ModelError,
    RefusedError,
    RejectedError,
    UnavailableError,
    Usage,
    cost_usd,
    highest_cost_usd,
    model_name,
)
from memories.core.quoting import escape
from tests.homes import PATIENCE_SECONDS
from tests.model_server import Answer, ModelServer, completion


def ask(*asked: Any, **options: Any) -> llm.ModelAnswer[Any]:
    return llm.ask(*asked, **{"model": model_name(), "escape": escape} | options)


MESSAGES = [
    {"role": "system", "content": "Count."},
    {"role": "user", "content": "How many? Use no secret-of-the-house."},
]
GOOD = '{"count": 3}'


class Counted(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)
    count: int


@pytest.fixture
def server(settings):
    with ModelServer() as server:
        settings.ENGRAM_LLM = settings.ENGRAM_LLM | {
            "base_url": server.base_url,
            "api_key": "sk-test-secret",
            "timeout_seconds": PATIENCE_SECONDS,
            "total_seconds": PATIENCE_SECONDS,
        }
        yield server


def naps() -> tuple[list[float], Any]:
    taken: list[float] = []
    return taken, taken.append


def test_a_good_answer_comes_with_what_it_took(server):
    server.answer_chat(completion(GOOD))

    answer = ask(MESSAGES, Counted)

    assert answer.value == Counted(count=3)
    assert (answer.model, answer.usage) == ("gpt-4o-mini", Usage(100, 20, 1))
    assert answer.cost_usd == pytest.approx((100 * 0.15 + 20 * 0.60) / 1e6)
    [request] = server.requests
    assert request.headers["authorization"] == "Bearer sk-test-secret"
    sent = request.body
    assert (sent["model"], sent["temperature"], sent["max_tokens"]) == ("gpt-4o-mini", 0, 2048)
    assert sent["messages"] == MESSAGES
    assert sent["response_format"]["json_schema"]["strict"] is True
    assert sent["response_format"]["json_schema"]["schema"]["additionalProperties"] is False


@pytest.mark.parametrize(
    "text", [f"Sure! Here it is:\n```json\n{GOOD}\n```\nAnything else?", f"\n {GOOD} \n"]
)
def test_prose_around_the_one_fitting_object_is_no_matter(server, text):
    server.answer_chat(completion(text))

    assert ask(MESSAGES, Counted).value.count == 3
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        '{"count": 3',
        '{"count": "3"}',
        '{"count": 1, "x": 2}',
        f"{GOOD} or {GOOD}",
        "{" * 99999,
    ],
)
def test_what_does_not_fit_is_told_why_once(server, text):
    server.answer_chat(completion(text), completion(GOOD))

    answer = ask(MESSAGES, Counted)

    assert (answer.value.count, answer.usage) == (3, Usage(200, 40, 2))
    repair = server.requests[1].body["messages"]
    assert [m["role"] for m in repair] == ["system", "user", "assistant", "user"]
    assert repair[3]["content"].startswith("That answer does not fit: ")


@pytest.mark.parametrize("token", ["<｜User｜>", "＜|im_start|＞", "[/INST]", "<<SYS>>", "</s>"])
def test_an_unfit_answer_is_sent_back_as_data(server, token):
    server.answer_chat(completion(f'{{"count": 1, "{token}\ufe0f": "{token}"}}'), completion(GOOD))

    assert ask(MESSAGES, Counted).value.count == 3

    for message in server.requests[1].body["messages"][2:]:
        assert token not in message["content"]
        assert "\ufe0f" not in message["content"]


def test_what_never_fits_is_an_error_with_its_cost(server):
    server.answer_chat(completion("I would say three."))

    with pytest.raises(MalformedError) as refused:
        ask(MESSAGES, Counted)

    assert str(refused.value) == "gpt-4o-mini answered no fitting JSON"
    assert refused.value.usage == Usage(200, 40, 2)
    assert len(server.requests) == 2


@pytest.mark.parametrize(
    "answer",
    [completion(None, refusal="I cannot."), completion("{}", finish_reason="content_filter")],
)
def test_a_refusal_is_not_argued_with(server, answer):
    server.answer_chat(answer)

    with pytest.raises(RefusedError, match="gpt-4o-mini declined"):
        ask(MESSAGES, Counted)

    assert len(server.requests) == 1


def test_a_short_retry_after_is_waited_for(server):
    server.answer_chat(Answer({}, 429, {"Retry-After": "1.25"}), completion(GOOD))
    taken, sleep = naps()

    assert ask(MESSAGES, Counted, sleep=sleep).value.count == 3
    assert taken == [1.25]


def test_a_retry_after_may_be_a_date(server):
    at = format_datetime(datetime.now(UTC) + timedelta(seconds=2), usegmt=True)
    server.answer_chat(Answer({}, 503, {"Retry-After": at}), completion(GOOD))
    taken, sleep = naps()

    ask(MESSAGES, Counted, sleep=sleep)

    assert len(taken) == 1
    assert 0 < taken[0] <= 2


def test_a_long_retry_after_is_left_to_a_later_run(server):
    server.answer_chat(Answer({}, 429, {"Retry-After": "120"}))
    taken, sleep = naps()

    with pytest.raises(UnavailableError) as busy:
        ask(MESSAGES, Counted, sleep=sleep)

    assert (busy.value.retry_after_seconds, taken, len(server.requests)) == (120, [], 1)
    assert busy.value.usage == Usage()


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("21600", 21600),
        ("1e300", 86400),
        ("Mon, 01 Jan 2024 00:00:00 +99999999999999", None),
        ("Mon, 01 Jan 2024 00:00:00 -9999", None),
        ("Fri, 31 Dec 9999 23:59:59 GMT", 86400),
        ("inf", None),
        ("soon", None),
    ],
)
def test_a_retry_after_is_a_day_at_most_and_never_odd(said, seconds):
    told = retry_after({"retry-after": said})

    assert told in ({seconds} if seconds else {None, 0.0})


@pytest.mark.parametrize(
    "answer",
    [
        Answer({}, 429, {"Retry-After": "Mon, 01 Jan 2024 00:00:00 +99999999999999"}),
        Answer("[" * 200_000),
        Answer('{"error": ' * 50_000 + "1" + "}" * 50_000, 400),
        Answer("[" * 200_000, 500),
        Answer('{"choices": [{"message": {"content": 1' + "0" * 9000 + "}}]}"),
        Answer({"choices": "xx"}),
        Answer([1]),
        Answer("null"),
        completion("[" * 100_000),
        completion('{"count": ' * 50_000),
        completion("\ud800 half"),
        completion('{"count": 1' + "0" * 9000 + "}"),
    ],
    ids=range(12),
)
def test_whatever_an_endpoint_answers_is_a_model_error(server, answer):
    server.answer_chat(answer)

    with pytest.raises(ModelError):
        ask(MESSAGES, Counted, sleep=lambda _: None)


def test_a_call_that_never_reached_the_endpoint_has_used_nothing(server, settings):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": f"http://127.0.0.1:{port}/v1"}

    with pytest.raises(UnavailableError) as refused:
        ask(MESSAGES, Counted, sleep=lambda _: None)

    assert refused.value.usage == Usage()


@pytest.mark.parametrize("status", [400, 401, 429, 500, 503])
def test_a_call_that_the_endpoint_refused_has_used_nothing(server, status):
    server.answer_chat(Answer({"error": {"message": "no"}}, status))

    with pytest.raises(ModelError) as refused:
        ask(MESSAGES, Counted, sleep=lambda _: None)

    assert refused.value.usage == Usage()


def test_a_call_that_broke_off_after_it_was_sent_may_be_paid_for(server, settings):
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"timeout_seconds": 0.3}
    server.answer_chat(Answer(completion(GOOD).body, trickle_seconds=0.2))

    with pytest.raises(UnavailableError) as late:
        ask(MESSAGES, Counted, sleep=lambda _: None)

    asked = sum(llm.estimate_tokens(m["content"]) + 8 for m in MESSAGES)
    assert late.value.usage == Usage(3 * asked, 0, 3)


def test_an_exception_that_nobody_thought_of_is_an_outage(server, monkeypatch):
    def break_off(self, body, *, seconds):
        raise LookupError("the secret of the house")

    monkeypatch.setattr(Endpoint, "post", break_off)

    with pytest.raises(UnavailableError) as odd:
        ask(MESSAGES, Counted, sleep=lambda _: None)

    assert str(odd.value) == "gpt-4o-mini answered oddly: LookupError"


def test_server_errors_are_tried_three_times(server):
    server.answer_chat(Answer("<html>gateway</html>", 500))
    taken, sleep = naps()

    with pytest.raises(UnavailableError, match="gpt-4o-mini did not answer: status 500"):
        ask(MESSAGES, Counted, sleep=sleep)

    assert (taken, len(server.requests)) == ([0.5, 1.0], 3)


def test_an_answer_that_is_no_completion_is_tried_again(server):
    server.answer_chat(Answer("<html>"), Answer({"choices": []}), completion(GOOD))

    assert ask(MESSAGES, Counted, sleep=lambda _: None).value.count == 3


@pytest.mark.parametrize("status", [400, 401, 403, 404, 413])
def test_a_request_that_is_not_taken_is_not_repeated(server, status):
    server.answer_chat(Answer({"error": {"message": "no key sk-test-secret"}}, status))

    with pytest.raises(RejectedError) as refused:
        ask(MESSAGES, Counted)

    assert str(refused.value) == f"gpt-4o-mini answered status {status}"
    assert len(server.requests) <= 2


def test_a_stall_ends_at_the_timeout_and_counts_what_was_asked(server, settings):
    def stall(request):
        server.stall(PATIENCE_SECONDS)
        return completion(GOOD)

    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"timeout_seconds": 1.0}
    server.answer_chat(stall, completion(GOOD))

    answer = ask(MESSAGES, Counted, sleep=lambda _: None)

    assert answer.usage.calls >= 2  # a busy machine may be late a second time
    assert answer.usage.input_tokens > 100


def test_an_answer_that_trickles_ends_at_the_timeout(server, settings):
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"total_seconds": 0.6}
    late = completion(GOOD)
    server.answer_chat(Answer(late.body, trickle_seconds=0.02))

    with pytest.raises(UnavailableError):
        ask(MESSAGES, Counted, sleep=lambda _: None)


def test_a_cut_connection_is_tried_again(server):
    server.answer_chat(Answer(completion(GOOD).body, is_cut=True), completion(GOOD))

    assert ask(MESSAGES, Counted, sleep=lambda _: None).value.count == 3


def test_nobody_there_is_unavailable(settings):
    with ModelServer() as server:
        address = server.base_url
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"base_url": address}

    with pytest.raises(UnavailableError, match="did not answer: APIConnectionError"):
        ask(MESSAGES, Counted, sleep=lambda _: None)


def test_a_server_that_knows_no_schema_is_told_it_in_words_and_remembered(server):
    def old_server(request):
        if "response_format" in request.body:
            return Answer({"error": {"message": "Unrecognized argument: response_format"}}, 400)
        return completion(GOOD)

    server.answer_chat(old_server)

    assert [ask(MESSAGES, Counted).value.count for _ in range(2)] == [3, 3]
    assert ["response_format" in r.body for r in server.requests] == [True, False, False]
    system = server.requests[1].body["messages"][0]["content"]
    assert json.dumps(Counted.model_json_schema(), separators=(",", ":")) in system
    assert MESSAGES[0]["content"] == "Count."


def test_a_server_with_other_names_of_parameters_is_obliged(server):
    def new_server(request):
        for name in ("max_tokens", "temperature"):
            if name in request.body:
                return Answer({"error": {"message": f"Unsupported parameter: '{name}'"}}, 400)
        return completion(GOOD)

    server.answer_chat(new_server)

    ask(MESSAGES, Counted, max_output_tokens=77)

    last = server.requests[-1].body
    assert (last["max_completion_tokens"], "temperature" in last) == (77, False)


@pytest.mark.parametrize("usage", [None, {}, {"prompt_tokens": -1, "completion_tokens": 10**18}])
def test_usage_that_is_not_told_is_estimated(server, usage):
    body = completion(GOOD).body | {"usage": usage}
    server.answer_chat(Answer(body))

    used = ask(MESSAGES, Counted).usage

    assert used == Usage(sum(llm.estimate_tokens(m["content"]) + 8 for m in MESSAGES), 4, 1)


def test_prices_are_by_family_and_unknown_models_count_by_the_default(settings):
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {
        "prices": {"gpt-4o": (2.5, 10.0), "gpt-4o-mini": (0.15, 0.6), "mine": (0.0, 0.0)},
        "default_price": (1.0, 2.0),
    }
    million = Usage(1_000_000, 1_000_000, 1)

    costs = [
        cost_usd(million, name)
        for name in ("gpt-4o-mini-2024-07-18", "gpt-4o-2024-08-06", "mine", "minerva")
    ]

    assert costs == pytest.approx([0.75, 12.5, 0.0, 3.0])


def test_what_is_reserved_covers_an_answer_and_its_repair(server):
    server.answer_chat(completion("x" * 9000), completion(GOOD))
    body = completion("no").body | {"usage": None}
    server.answer_chat(Answer(body), Answer(completion(GOOD).body | {"usage": None}))

    answer = ask(MESSAGES, Counted, max_output_tokens=50)

    assert answer.usage.calls == 2
    assert answer.cost_usd < highest_cost_usd(MESSAGES, 50, model_name())


def test_without_a_key_or_an_address_there_is_no_model(settings):
    assert model_name() == ""
    with pytest.raises(RejectedError, match="no model is configured"):
        ask(MESSAGES, Counted)
    settings.ENGRAM_LLM = settings.ENGRAM_LLM | {"api_key": "x", "model": ""}
    assert model_name() == ""
