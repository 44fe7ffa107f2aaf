"""Ask a language model for schema-checked JSON, by OpenAI's chat protocol.

`settings.ENGRAM_LLM` names it: ``model`` and the ``models`` that a workspace may choose instead,
``base_url``, ``api_key``, ``timeout_seconds`` of an attempt, ``total_seconds`` of a whole question,
``prices`` (US dollars per million tokens in and out, by model) and ``default_price`` of models that
are not listed. Nothing here uses the database, so that no connection and no lock is held while a
model answers; `kernel/spend.py` keeps the day's account. Errors contain kinds and numbers, never a
key or a text.

openai's client speaks the protocol; its own retries are off, because each attempt is charged for
what it used, and all of them share one time limit with the repair of an answer that does not fit.
stamina or tenacity would replace the fifteen lines of `_Question.put`, and neither of these two.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, Generic, TypeGuard, TypeVar

from django.conf import settings
from pydantic import BaseModel

from engram.kernel.configuration import offered_models
from engram.kernel.endpoint import Endpoint, endpoint, never_sent, retry_after
from engram.kernel.llm_reading import UnfitError, read_answer

T = TypeVar("T", bound=BaseModel)
ChatMessage = Mapping[str, str]  # role and content

ATTEMPTS: Final = 3
FIRST_PAUSE_SECONDS: Final = 0.5
MAX_PAUSE_SECONDS: Final = 10.0  # for a longer Retry-After a later run asks again
REPAIR_QUOTE_CHARS: Final = 4000
BYTES_PER_TOKEN: Final = 3  # a low estimate: English has four and more, Chinese three
MESSAGE_TOKENS: Final = 8
MAX_TOKENS_REPORTED: Final = 10_000_000  # a higher number is not believed
# Parameters that some servers reject, in the order in which they are dropped.
_OPTIONAL: Final = ("response_format", "json_schema", "max_tokens", "temperature")


@dataclass(frozen=True, slots=True)
class Usage:
    """The tokens of one or more calls.

    Estimated for a call that failed after it was sent; zero for one that did not reach the endpoint
    or was refused.
    """

    input_tokens: int = 0
    output_tokens: int = 0
    calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.input_tokens + other.input_tokens,
            self.output_tokens + other.output_tokens,
            self.calls + other.calls,
        )

    @property
    def tokens(self) -> int:
        """Return the sum of input and output tokens."""
        return self.input_tokens + self.output_tokens


class ModelError(Exception):
    """There is no usable answer; `usage` and `cost_usd` are what the attempts used."""

    def __init__(self, message: str, usage: Usage = Usage()):
        super().__init__(message)
        self.usage = usage
        self.cost_usd = 0.0  # set by `ask`, which knows the model


class UnavailableError(ModelError):
    """The endpoint cannot be reached or is overloaded; with its `retry_after_seconds`."""

    def __init__(
        self,
        message: str,
        usage: Usage = Usage(),
        retry_after_seconds: float | None = None,
    ):
        super().__init__(message, usage)
        self.retry_after_seconds = retry_after_seconds


class RejectedError(ModelError):
    """The endpoint rejects the request: key, model or size."""


class RefusedError(ModelError):
    """The model declined to answer."""


class MalformedError(ModelError):
    """The model's answer does not fit the schema, even after a repair attempt."""


@dataclass(frozen=True, slots=True)
class ModelAnswer(Generic[T]):
    """A model's answer with its usage and cost."""

    value: T
    model: str
    usage: Usage
    cost_usd: float


def model_name(chosen: str = "") -> str:
    """Return the name of the configured model, or ""; `chosen` instead, where it is offered."""
    options = settings.ENGRAM_LLM
    if not options["model"] or not (options.get("base_url") or options.get("api_key")):
        return ""
    return chosen if chosen in offered_models() else str(options["model"])


def estimate_tokens(text: str) -> int:
    """Return an upper estimate of a text's tokens."""
    return math.ceil(len(text.encode("utf-8", "replace")) / BYTES_PER_TOKEN)


def cost_usd(usage: Usage, model: str) -> float:
    """Return the cost by the configured prices; a dated model name has the price of its family."""
    options = settings.ENGRAM_LLM
    prices: Mapping[str, Sequence[float]] = options["prices"]
    fitting = [name for name in prices if model == name or model.startswith(f"{name}-")]
    price_in, price_out = prices[max(fitting, key=len)] if fitting else options["default_price"]
    return (usage.input_tokens * price_in + usage.output_tokens * price_out) / 1_000_000


def highest_cost_usd(messages: Sequence[ChatMessage], max_output_tokens: int, model: str) -> float:
    """Return the cost to reserve for a question: the first attempt and its repair at full length.

    Attempts that fail after the endpoint has read them may cost more; they are then accounted by an
    estimate.
    """
    sent = _estimate_input(messages)
    both = Usage(2 * sent + max_output_tokens + REPAIR_QUOTE_CHARS, 2 * max_output_tokens)
    return cost_usd(both, model)


def ask(
    messages: Sequence[ChatMessage],
    shape: type[T],
    *,
    model: str,
    escape: Callable[[str], str],
    max_output_tokens: int = 2048,
    sleep: Callable[[float], object] = time.sleep,
) -> ModelAnswer[T]:
    """Ask `model` (of `model_name`) for JSON of a pydantic model; repair a misfit answer once.

    For the repair the answer is sent back with the errors; `escape` escapes memory texts in it.

    Raises
    ------
    ModelError
        `UnavailableError`, `RejectedError`, `RefusedError` or `MalformedError`.
    """
    if not model:
        raise RejectedError("no model is configured")
    question = _Question(endpoint(), model, shape, max_output_tokens, sleep)
    try:
        value = _answer(question, messages, escape)
    except ModelError as error:
        error.cost_usd = cost_usd(error.usage, model)
        raise
    except Exception as odd:  # noqa: BLE001  an unexpected response counts as an outage
        what = f"{model} answered oddly: {type(odd).__name__}"
        outage = UnavailableError(what, question.used)
        outage.cost_usd = cost_usd(question.used, model)
        raise outage from None
    return ModelAnswer(value, model, question.used, cost_usd(question.used, model))


def _answer(
    question: _Question[T], messages: Sequence[ChatMessage], escape: Callable[[str], str]
) -> T:
    text, shape = question.put(messages), question.shape
    try:
        return read_answer(text, shape)
    except UnfitError as unfit:
        message = f"That answer does not fit: {unfit}. Answer again, with the JSON object alone."
        repaired = question.put(
            [
                *messages,
                {"role": "assistant", "content": escape(text[:REPAIR_QUOTE_CHARS]) or "(nothing)"},
                {"role": "user", "content": escape(message)},
            ]
        )
        try:
            return read_answer(repaired, shape)
        except UnfitError:
            what = f"{question.model} answered no fitting JSON"
            raise MalformedError(what, question.used) from None


class _TransientError(Exception):
    """The attempt can be retried; `pause_seconds` is the endpoint's Retry-After."""

    def __init__(self, what: str, pause_seconds: float | None = None):
        super().__init__(what)
        self.pause_seconds = pause_seconds


@dataclass(slots=True)
class _Question(Generic[T]):
    """One question with its usage over all attempts, and its deadline."""

    endpoint: Endpoint
    model: str
    shape: type[T]
    max_output_tokens: int
    sleep: Callable[[float], object]
    used: Usage = Usage()
    ends_at: float = field(
        default_factory=lambda: time.monotonic() + settings.ENGRAM_LLM["total_seconds"]
    )

    def put(self, messages: Sequence[ChatMessage]) -> str:
        """Return the text of an answer, with retries of transient errors."""
        wait: float | None = None
        what = "timed out"
        for attempt in range(ATTEMPTS):
            if attempt:
                pause = FIRST_PAUSE_SECONDS * 2 ** (attempt - 1) if wait is None else wait
                if pause > min(MAX_PAUSE_SECONDS, self.ends_at - time.monotonic()):
                    break
                self.sleep(pause)
            try:
                return self._text(self._post(messages), messages)
            except _TransientError as error:
                what, wait = str(error), error.pause_seconds
        raise UnavailableError(f"{self.model} did not answer: {what}", self.used, wait)

    def _post(self, messages: Sequence[ChatMessage]) -> Any:
        """Send once; drop a parameter that the server rejects from then on."""
        import httpx2
        from openai import APIConnectionError, APIStatusError, OpenAIError

        while True:
            body = self._body(messages)
            try:
                return self.endpoint.post(body, seconds=self._seconds_left())
            except APIStatusError as error:
                if not self._drop_parameter(error, body):
                    raise self._classify(error) from None
            except (APIConnectionError, httpx2.HTTPError, TimeoutError) as error:
                # A request that was sent may be charged, even without a response.
                if not never_sent(error):
                    self.used += Usage(_estimate_input(messages), 0, 1)
                raise _TransientError(type(error).__name__) from None
            except (OpenAIError, ValueError, RecursionError) as error:
                self.used += Usage(_estimate_input(messages), 0, 1)
                raise _TransientError(type(error).__name__) from None

    def _seconds_left(self) -> float:
        seconds = min(settings.ENGRAM_LLM["timeout_seconds"], self.ends_at - time.monotonic())
        if seconds <= 0:
            raise _TransientError("timed out")
        return float(seconds)

    def _body(self, messages: Sequence[ChatMessage]) -> dict[str, Any]:
        unknown = self.endpoint.unknown_parameters(self.model)
        schema = self.shape.model_json_schema()
        sent = [dict(message) for message in messages]
        body: dict[str, Any] = {"model": self.model, "messages": sent}
        if "response_format" in unknown:
            sent[0]["content"] += (
                "\n\nAnswer with one JSON object and nothing else. It must fit this schema: "
                + json.dumps(schema, separators=(",", ":"))
            )
        else:
            named = {"name": self.shape.__name__.lower(), "strict": True, "schema": schema}
            body["response_format"] = {"type": "json_schema", "json_schema": named}
        if "temperature" not in unknown:
            body["temperature"] = 0
        limit = "max_completion_tokens" if "max_tokens" in unknown else "max_tokens"
        return body | {limit: self.max_output_tokens}

    def _drop_parameter(self, error: Any, body: Mapping[str, Any]) -> bool:
        """Drop the parameter that the error names; return False if it names none."""
        if error.status_code not in {400, 404, 415, 422, 501}:
            return False
        message = str(error.body if error.body is not None else error).lower()
        named = [name for name in _OPTIONAL if name in message]
        if not named and error.status_code != 404:
            named = ["response_format"]
        wanted = next((name.replace("json_schema", "response_format") for name in named), None)
        if wanted is None or wanted not in body:
            return False
        self.endpoint.note_unknown(self.model, wanted)
        return True

    def _classify(self, error: Any) -> Exception:
        status = error.status_code
        if status in {408, 409, 425, 429} or status >= 500:
            return _TransientError(f"status {status}", retry_after(error.response.headers))
        return RejectedError(f"{self.model} answered status {status}", self.used)

    def _text(self, answer: Any, messages: Sequence[ChatMessage]) -> str:
        """Return the text of a completion and count its usage."""
        try:
            choice = answer["choices"][0]
            message = choice["message"]
            text, refusal = message.get("content") or "", message.get("refusal")
            if not isinstance(text, str):
                raise TypeError
        except (KeyError, IndexError, TypeError, AttributeError):
            self.used += Usage(_estimate_input(messages), 0, 1)
            raise _TransientError("what it answered is no completion") from None
        self.used += _usage(answer.get("usage"), messages, text)
        if refusal or choice.get("finish_reason") == "content_filter":
            raise RefusedError(f"{self.model} declined", self.used)
        return text.encode("utf-8", "replace").decode()  # without lone surrogates


def _estimate_input(messages: Sequence[ChatMessage]) -> int:
    return sum(estimate_tokens(m["content"]) + MESSAGE_TOKENS for m in messages)


def _usage(reported: Any, messages: Sequence[ChatMessage], text: str) -> Usage:
    """Return the usage that a response states; estimate what it does not state."""
    counts = reported if isinstance(reported, dict) else {}
    sent, answered = counts.get("prompt_tokens"), counts.get("completion_tokens")
    if _is_count(sent) and _is_count(answered):
        return Usage(sent, answered, 1)
    return Usage(_estimate_input(messages), estimate_tokens(text), 1)


def _is_count(value: Any) -> TypeGuard[int]:
    return isinstance(value, int) and 0 <= value <= MAX_TOKENS_REPORTED
