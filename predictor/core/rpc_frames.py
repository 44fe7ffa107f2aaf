"""Parse JSON-RPC 2.0 requests and encode answers, one JSON object per line.

See jsonrpc.org/specification. Batches (arrays) are not supported, and `params` must be an object.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NoReturn

MAX_LINE_BYTES = 1 << 30  # a training on 500 sessions of 100 candidates fits

PARSE_ERROR = -32700
INVALID_REQUEST = -32600
METHOD_NOT_FOUND = -32601
INVALID_PARAMS = -32602
INTERNAL_ERROR = -32603

_NAMES: Final = frozenset({"jsonrpc", "id", "method", "params"})


class RpcFrameError(ValueError):
    """Raised for a frame that is answered with an error; the message names the field."""

    def __init__(self, code: int, message: str, request_id: Any = None):
        super().__init__(message)
        self.code = code
        self.message = message
        self.request_id = request_id


@dataclass(frozen=True, slots=True)
class Request:
    """A well-formed frame; one without an id is a notification and gets no answer."""

    method: str
    params: Mapping[str, Any]
    request_id: str | int | float | None
    is_notification: bool


def parse(line: bytes) -> Request:
    """Return the request of a line.

    Raises
    ------
    FrameError
        When it is not JSON (NaN and infinities are rejected), or not a request.
    """
    try:
        frame = json.loads(line.decode("utf-8"), parse_constant=_refuse)
    except UnicodeDecodeError:
        raise RpcFrameError(PARSE_ERROR, "a frame must be UTF-8") from None
    except RecursionError:
        raise RpcFrameError(PARSE_ERROR, "the frame is nested too deeply") from None
    except json.JSONDecodeError as error:
        raise RpcFrameError(PARSE_ERROR, f"the frame is no JSON: {error}") from None
    except RpcFrameError:
        raise
    except ValueError:  # Python reads no integer of more digits
        most = sys.get_int_max_str_digits()
        raise RpcFrameError(PARSE_ERROR, f"a number has more than {most} digits") from None
    if not isinstance(frame, dict):
        raise RpcFrameError(
            INVALID_REQUEST, "a frame must be one JSON object; no batches are taken"
        )
    request_id = _id_of(frame)
    if frame.get("jsonrpc") != "2.0":
        raise RpcFrameError(INVALID_REQUEST, 'jsonrpc: must be "2.0"', request_id)
    method = frame.get("method")
    if not isinstance(method, str):
        raise RpcFrameError(INVALID_REQUEST, "method: must be a string", request_id)
    if unknown := sorted(set(frame) - _NAMES):
        raise RpcFrameError(
            INVALID_REQUEST, f"{unknown[0][:60]}: there is no such field", request_id
        )
    params = frame.get("params", {})
    is_notification = "id" not in frame
    if not isinstance(params, dict):
        if is_notification:  # never answered, whatever it holds
            return Request("", {}, None, is_notification=True)
        raise RpcFrameError(INVALID_PARAMS, "params: must be an object", request_id)
    return Request(method, params, request_id, is_notification)


def _id_of(frame: Mapping[str, Any]) -> str | int | float | None:
    request_id = frame.get("id")
    is_known = request_id is None or type(request_id) in {str, int, float}
    if not is_known or request_id in {float("inf"), float("-inf")}:
        raise RpcFrameError(INVALID_REQUEST, "id: must be a string, a finite number or null")
    return request_id


def _refuse(name: str) -> NoReturn:
    raise RpcFrameError(PARSE_ERROR, f"the frame is no JSON: {name} is no number")


def answer(request_id: Any, result: Mapping[str, Any]) -> bytes:
    """Return the line of a result.

    Raises
    ------
    ValueError
        When a number in it is not finite.
    """
    return _line({"jsonrpc": "2.0", "id": request_id, "result": result})


def refusal(error: RpcFrameError) -> bytes:
    """Return the line of an error."""
    fields = {"code": error.code, "message": error.message}
    return _line({"jsonrpc": "2.0", "id": error.request_id, "error": fields})


def _line(frame: Mapping[str, Any]) -> bytes:
    return json.dumps(frame, allow_nan=False, separators=(",", ":")).encode() + b"\n"
