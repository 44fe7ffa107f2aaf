"""The tools: what each says to a model, its arguments, and the call of the API that it makes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from engram.console.mcp.calls import Call

Arguments = Mapping[str, Any]


class ArgumentError(Exception):
    """The arguments do not say which operation is meant."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; `route` turns its arguments into a call."""

    name: str
    description: str
    properties: dict[str, Any]
    required: tuple[str, ...]
    route: Callable[[Arguments], Call]
    is_read: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }


def without(arguments: Arguments, *names: str) -> dict[str, Any]:
    """Return the arguments except some."""
    return {name: value for name, value in arguments.items() if name not in names}


def part(arguments: Arguments, name: str) -> str:
    """Return an argument as one segment of a path."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{name}: This text is required here.")
    return quote(value, safe="")


def _context(arguments: Arguments) -> Call:
    return Call("POST", "context", arguments)


def _recall(arguments: Arguments) -> Call:
    if "memory_id" in arguments:
        about = f"memories/{part(arguments, 'memory_id')}"
        if "query" in arguments:
            return Call("GET", f"{about}/why-not", query=without(arguments, "memory_id"))
        return Call("GET", about)
    return Call("POST", "memories/recall", arguments)


def _revise(arguments: Arguments) -> Call:
    path = f"memories/{part(arguments, 'memory_id')}"
    if "evidence" in arguments:
        return Call("POST", f"{path}/signals", without(arguments, "memory_id"))
    return Call("PATCH", path, without(arguments, "memory_id"))


def _forget(arguments: Arguments) -> Call:
    if arguments.get("restore") is True:
        return Call("POST", "memories/restore", without(arguments, "restore"))
    return Call("POST", "memories/forget", without(arguments, "restore"))


_LISTS = {
    "conflicts": "conflicts",
    "known": "questions",
    "drift": "prediction-errors",
    "asks": "memories/asks",
}


def _questions(arguments: Arguments) -> Call:
    about = arguments.get("about", "conflicts")
    if about not in _LISTS:
        raise ArgumentError(f"about: Must be one of {', '.join(_LISTS)}.")
    query = {"limit": 10, **without(arguments, "about", "id")}
    if "id" in arguments:
        return Call("GET", f"{_LISTS[about]}/{part(arguments, 'id')}")
    if about == "conflicts":
        query["status"] = "open"
    return Call("GET", _LISTS[about], query=query)


def _answer(arguments: Arguments) -> Call:
    targets = [n for n in ("memory_id", "conflict_id", "drift_id") if n in arguments]
    if len(targets) != 1:
        raise ArgumentError("Give exactly one of memory_id, conflict_id and drift_id.")
    path = {
        "memory_id": "memories/{}/relations",
        "conflict_id": "conflicts/{}/resolve",
        "drift_id": "prediction-errors/{}/resolve",
    }[targets[0]]
    return Call("POST", path.format(part(arguments, targets[0])), without(arguments, targets[0]))


def _session(arguments: Arguments) -> Call:
    action = arguments.get("action")
    if action == "start":
        return Call("POST", "sessions", without(arguments, "action"))
    ends = {"prompt": "prompts", "feedback": "feedback", "end": "end"}
    if action not in ends:
        raise ArgumentError("action: Must be one of start, prompt, feedback, end.")
    path = f"sessions/{part(arguments, 'session_key')}/{ends[action]}"
    return Call("POST", path, without(arguments, "action", "session_key"))


TEXT: dict[str, Any] = {"type": "string"}
FLAG: dict[str, Any] = {"type": "boolean"}
NUMBER: dict[str, Any] = {"type": "number"}
WHOLE: dict[str, Any] = {"type": "integer"}
TEXTS: dict[str, Any] = {"type": "array", "items": TEXT}
ANSWERS: dict[str, Any] = {
    "type": "array",
    "maxItems": 3,
    "items": {
        "type": "object",
        "properties": {"question": TEXT, "answer": TEXT, "was": TEXT},
        "required": ["question", "answer"],
    },
}


def choice(*values: str) -> dict[str, Any]:
    """Return the schema of one of some texts."""
    return {"type": "string", "enum": list(values)}


TOOLS = (
    ToolSpec(
        "remember",
        "Store one plain statement that a later conversation needs: a decision, preference, owner, "
        "limit or date. Not for chatter, plans nobody decided, or credentials. Give `answers`: up "
        "to three short questions that the statement answers, each with the value alone; `was` "
        "only if the statement says that it changed. Returns the outcome, the id, and `nearby` "
        'memories: say with `answer` how each relates. Example: {"content": "Invoices go out on '
        'the 1st.", "scope": "billing", "answers": [{"question": "When do invoices go '
        'out?", "answer": "on the 1st"}]}',
        {
            "content": TEXT,
            "answers": ANSWERS,
            "scope": TEXT,
            "project": TEXT,
            "kind": TEXT,
            "provenance": choice("user_stated", "episode_summary", "assistant_derived"),
            "confidence": NUMBER,
            "tags": TEXTS,
            "supersedes": TEXT,
            "derived_from": TEXTS,
            "observed_at": TEXT,
            "ttl_seconds": WHOLE,
            "source": TEXT,
            "session_key": TEXT,
            "revive": FLAG,
        },
        ("content",),
        lambda arguments: Call("POST", "memories", arguments),
    ),
    ToolSpec(
        "recall",
        "Find what is known before you answer or act on facts of this user, project or system. Not "
        "for general knowledge. Returns the best memories first, with `disputed` where another one "
        "contradicts it (say so when you rely on it), or the reason why there is none. With "
        "`memory_id` alone shows that memory; with `query` too, why the query does not return it. "
        'Example: {"query": "when do invoices go out?"}',
        {
            "query": TEXT,
            "k": WHOLE,
            "scope": TEXT,
            "project": TEXT,
            "as_of": TEXT,
            "graph": FLAG,
            "session_key": TEXT,
            "memory_id": TEXT,
        },
        (),
        _recall,
        is_read=True,
    ),
    ToolSpec(
        "context",
        "Get memories and passages of notes for a task, as text to read before you begin it. Use "
        '`recall` for one question. Example: {"task": "explain why a payment was not retried"}',
        {"task": TEXT, "k": WHOLE, "project": TEXT, "budget_chars": WHOLE},
        ("task",),
        _context,
    ),
    ToolSpec(
        "revise",
        "Correct the wording or fields of one memory; or, if you only have evidence that it may be "
        "out of date, report `source` and `evidence` (an object) instead of `content`. If the fact "
        "itself changed, `remember` the new one with `supersedes`. A change over a person's word "
        'comes back `pending`: go on. Example: {"memory_id": "…", "content": "…"}',
        {
            "memory_id": TEXT,
            "content": TEXT,
            "answers": ANSWERS,
            "tags": TEXTS,
            "confidence": NUMBER,
            "expires_at": TEXT,
            "source": TEXT,
            "evidence": {"type": "object"},
            "weight": NUMBER,
        },
        ("memory_id",),
        _revise,
    ),
    ToolSpec(
        "forget",
        "Hide memories when the user asks to forget something; never because one is outdated (then "
        "`revise`). Without `confirm` it only previews. Give `ids` or a `query`. `restore` with "
        '`ids` undoes it. Example: {"query": "my old address"}, then its ids with '
        '"confirm": true',
        {
            "ids": TEXTS,
            "query": TEXT,
            "min_relevance": NUMBER,
            "scope": TEXT,
            "project": TEXT,
            "confirm": FLAG,
            "restore": FLAG,
        },
        (),
        _forget,
    ),
    ToolSpec(
        "questions",
        "List what is open or known. `about`: `conflicts` (open contradictions to ask the user "
        "about), `known` (questions with the answer that holds; filter `q`), `drift` (memories "
        "their notes no longer support), `asks` (pairs you were asked to compare). With `id` one "
        'in full. Example: {"about": "known", "q": "refunds"}',
        {"about": choice(*_LISTS), "q": TEXT, "scope": TEXT, "id": TEXT, "limit": WHOLE},
        (),
        _questions,
        is_read=True,
    ),
    ToolSpec(
        "answer",
        "Answer what is asked. How two memories relate (after `nearby` or `asks`): `memory_id`, "
        "`other`, `relation`, `reason`. A conflict that the user decided (reviewer keys): "
        "`conflict_id`, `verdict`, `version` as shown, `keep` ids. A drift (reviewer keys): "
        '`drift_id`, `action`. Never decide a conflict by yourself. Example: {"memory_id": '
        '"…", "other": "…", "relation": "replaces", "reason": "dated later"}',
        {
            "memory_id": TEXT,
            "other": TEXT,
            "relation": choice("contradicts", "replaces", "same", "refines", "different"),
            "reason": TEXT,
            "conflict_id": TEXT,
            "verdict": choice("yes", "no", "keep", "both_valid", "none_valid", "dismiss"),
            "keep": TEXTS,
            "answer": TEXT,
            "version": WHOLE,
            "note": TEXT,
            "drift_id": TEXT,
            "action": choice("still_true", "dismiss", "updated"),
        },
        (),
        _answer,
    ),
    ToolSpec(
        "session",
        "Tell Engram about your run. `start` once (`session_key`, `context`): returns `text` to "
        "follow. `prompt` with each message of the user: returns matches. `feedback`: "
        "`memory_id` and `value` from -1 (misled) to 1 (helped). `end` with the `transcript`; "
        '`extract` turns it into memories. Example: {"action": "start", "session_key": '
        '"run-42", "context": "send overdue invoices"}',
        {
            "action": choice("start", "prompt", "feedback", "end"),
            "session_key": TEXT,
            "context": TEXT,
            "project": TEXT,
            "scope": TEXT,
            "k": WHOLE,
            "budget_chars": WHOLE,
            "prompt": TEXT,
            "memory_id": TEXT,
            "value": NUMBER,
            "transcript": TEXT,
            "extract": FLAG,
        },
        ("action", "session_key"),
        _session,
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
