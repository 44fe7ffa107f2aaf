"""Turn the arguments of a tool into the call of the API that it makes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any
from urllib.parse import quote
from uuid import UUID

from engram.console.mcp.calls import ArgumentError, Call

Arguments = Mapping[str, Any]
# What `questions` lists, and where.
LISTS = {
    "conflicts": "conflicts",
    "known": "questions",
    "drift": "prediction-errors",
    "asks": "memories/asks",
}
LIST_LIMIT = 5
_STEPS = {"prompt": "prompts", "feedback": "feedback", "end": "end"}
_ANSWERED = {
    "memory_id": "memories/{}/relations",
    "conflict_id": "conflicts/{}/resolve",
    "drift_id": "prediction-errors/{}/resolve",
}


def without(arguments: Arguments, *names: str) -> dict[str, Any]:
    """Return the arguments except some."""
    return {name: value for name, value in arguments.items() if name not in names}


def segment_of(arguments: Arguments, name: str) -> str:
    """Return an argument as one segment of a path."""
    value = arguments.get(name)
    if not isinstance(value, str) or not value:
        raise ArgumentError(f"{name}: This text is required here.")
    try:
        return quote(value, safe="")
    except UnicodeEncodeError:
        raise ArgumentError(f"{name}: Lone surrogates are not allowed.") from None


def id_of(arguments: Arguments, name: str) -> str:
    """Return an argument that is an id; a word would lead to another operation."""
    try:
        return str(UUID(arguments[name]))
    except (KeyError, ValueError, AttributeError, TypeError):
        raise ArgumentError(f"{name}: Must be an id, as answers show it.") from None


def remember(arguments: Arguments) -> Call:
    """Commit a memory."""
    return Call("POST", "memories", arguments)


def recall(arguments: Arguments) -> Call:
    """Recall, show one memory, or explain why a query does not return it."""
    if "memory_id" not in arguments:
        return Call("POST", "memories/recall", {"k": 5, **arguments})
    path = f"memories/{id_of(arguments, 'memory_id')}"
    asked = without(arguments, "memory_id")
    if "query" in asked:
        return Call("GET", f"{path}/why-not", query=asked)
    if asked:
        raise ArgumentError(f"{next(iter(asked))}: Not with memory_id alone.")
    return Call("GET", path)


def context(arguments: Arguments) -> Call:
    """Collect what belongs to a task."""
    return Call("POST", "context", arguments)


def revise(arguments: Arguments) -> Call:
    """Change a memory, or report evidence that it is out of date."""
    path = f"memories/{id_of(arguments, 'memory_id')}"
    sent = without(arguments, "memory_id")
    return (
        Call("POST", f"{path}/signals", sent) if "evidence" in sent else Call("PATCH", path, sent)
    )


def forget(arguments: Arguments) -> Call:
    """Preview, forget, or restore."""
    if arguments.get("restore") is True:
        return Call("POST", "memories/restore", without(arguments, "restore", "confirm"))
    return Call("POST", "memories/forget", without(arguments, "restore"))


def questions(arguments: Arguments) -> Call:
    """List what is open or known, or show one of these."""
    about = arguments.get("about", "conflicts")
    if not isinstance(about, str) or about not in LISTS:
        raise ArgumentError(f"about: Must be one of {', '.join(LISTS)}.")
    asked = without(arguments, "about")
    if "id" not in asked:
        status = {"status": "open"} if about == "conflicts" else {}
        return Call("GET", LISTS[about], query={"limit": LIST_LIMIT, **status, **asked})
    if about == "asks":
        raise ArgumentError("id: Asks have no more than the list shows; leave it out.")
    moment = {"as_of": asked["as_of"]} if about == "known" and "as_of" in asked else {}
    if without(asked, "id", *moment):
        raise ArgumentError("id: Not together with filters.")
    return Call("GET", f"{LISTS[about]}/{id_of(asked, 'id')}", query=moment)


def answer(arguments: Arguments) -> Call:
    """Report a relation, decide a conflict or resolve a drift."""
    targets = [name for name in _ANSWERED if name in arguments]
    if len(targets) != 1:
        raise ArgumentError("Give exactly one of memory_id, conflict_id and drift_id.")
    path = _ANSWERED[targets[0]].format(id_of(arguments, targets[0]))
    return Call("POST", path, without(arguments, targets[0]))


def session(arguments: Arguments) -> Call:
    """Start or end a session, or report a prompt or feedback in it."""
    action = arguments.get("action")
    if action == "start":
        return Call("POST", "sessions", without(arguments, "action"))
    if not isinstance(action, str) or action not in _STEPS:
        raise ArgumentError("action: Must be one of start, prompt, feedback, end.")
    path = f"sessions/{segment_of(arguments, 'session_key')}/{_STEPS[action]}"
    return Call("POST", path, without(arguments, "action", "session_key"))
