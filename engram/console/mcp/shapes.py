"""What a model needs of an answer of the API, in few tokens.

Each function names the fields that it returns: what is not named does not reach a model. The text
of one memory that was asked for by its id is returned only while the memory can be recalled.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import parse_qs, urlsplit

Fields = dict[str, Any]
Shape = Callable[[Any, str], Fields]  # the answer, and where people open pages


def filled(**fields: Any) -> Fields:
    """Return the fields that say something."""
    return {
        name: value
        for name, value in fields.items()
        if value is not None and value is not False and value not in ("", [], {})
    }


def when(moment: str | None) -> str:
    """Return a time to the minute."""
    return f"{moment[:16]}Z" if moment else ""


def card_link(conflicts: list[str], url: str) -> str:
    """Return where people open the first of some conflicts."""
    return f"{url}/console/conflicts/{conflicts[0]}/" if conflicts else ""


def memory(row: Mapping[str, Any], url: str, **more: Any) -> Fields:
    """Return a memory as any answer of the API shows it."""
    get = row.get
    kind, said = get("kind"), get("provenance")
    conflicts = get("conflicts") or []
    return filled(
        id=get("id"),
        content=get("content"),
        state=get("state"),
        scope=get("scope"),
        project=get("project"),
        kind="" if kind == "semantic" else kind,
        when=when(get("observed_at")),
        who=get("agent"),
        said_by="" if said == "assistant_derived" else said,
        source=get("source") if "provenance" in row else "",
        expires=when(get("expires_at")),
        superseded_by=get("superseded_by"),
        disputed=get("disputed"),
        conflicts=conflicts,
        card=card_link(conflicts, url),
        **more,
    )


def one_memory(row: Mapping[str, Any], url: str) -> Fields:
    """Return a memory that was asked for by its id; without its text unless it is active."""
    if row["state"] == "active":
        answers = [filled(question=one["question"], answer=one["answer"]) for one in row["answers"]]
        return memory(row, url, answers=answers, tags=row["tags"])
    return filled(
        id=row["id"],
        state=row["state"],
        superseded_by="" if row["state"] == "forgotten" else row["superseded_by"],
        reason="It is not recalled any more, so its text is not shown.",
    )


def remembered(data: Mapping[str, Any], url: str) -> Fields:
    """Return the outcome of a commit, and what is worth judging."""
    if "outcome" not in data:
        return dict(data)  # waits for a reviewer
    kept = data["memory"]
    if kept is None:
        return filled(
            outcome=data["outcome"],
            reason="Exactly this was forgotten before; nothing is stored. Do not send it again "
            "unless the user asks for it (then with revive).",
        )
    asks = [_neighbour(near) for near in data["nearby"]]
    return filled(
        outcome=data["outcome"],
        id=kept["id"],
        content=kept["content"] if data["outcome"] in {"merged", "duplicate"} else "",
        reasons=[] if data["outcome"] == "created" else data["gate"]["reasons"],
        nearest="" if data["outcome"] == "created" else data["gate"]["nearest_id"],
        disputed=kept["disputed"],
        card=card_link(kept["conflicts"], url),
        asks=asks,
        next="For each of asks: answer with memory_id (this id), other, relation." if asks else "",
        hint="" if kept["answers"] else "No answers: add them with revise if it states a fact.",
    )


def _neighbour(row: Mapping[str, Any]) -> Fields:
    return filled(
        other=row["id"],
        content=row["content"],
        scope=row["scope"],
        who=row["agent"],
        when=when(row["observed_at"]),
        why=row["why"],
    )


def recalled(data: Mapping[str, Any], url: str) -> Fields:
    """Return recalled memories, one memory, or why a query does not return one."""
    if "results" in data:
        rows = [
            memory(one["memory"], url, relevance=round(one["relevance"], 2))
            for one in data["results"]
        ]
        return {"results": rows, **filled(reason=data.get("reason"))}
    if "reasons" not in data:
        return one_memory(data, url)
    is_active = data["state"] == "active"
    reasons = [one["message"] for one in data["reasons"] if is_active or one["code"] == "state"]
    figures = {name: data[name] for name in ("rank", "score", "relevance", "threshold")}
    told = filled(state=data["state"], reasons=reasons, **(figures if is_active else {}))
    return {"id": data["memory"], "returned": data["returned"], **told}


def given(data: Mapping[str, Any], url: str) -> Fields:
    """Return the context of a task: the text, and the ids of its memories in order."""
    rows = [one["memory"] for one in data["memories"]]
    disputed = [row["id"] for row in rows if row["disputed"]]
    return filled(
        text=data["text"],
        memory_ids=[row["id"] for row in rows],
        disputed=disputed,
        left_out={name: count for name, count in data["left_out"].items() if count},
        reason=data.get("reason"),
        notes_reason=data.get("notes_reason"),
    )


def revised(data: Mapping[str, Any], url: str) -> Fields:
    """Return a changed memory, what waits for a reviewer, or reported evidence."""
    if "error_type" in data:
        return drift(data, url)
    return dict(data) if "review" in data else {**one_memory(data, url), "outcome": "revised"}


def forgotten(data: Mapping[str, Any], url: str) -> Fields:
    """Return what would be forgotten, or what was forgotten or restored."""
    if "would_forget" not in data:
        return {name: value for name, value in data.items() if value not in (None, [])}
    found = [
        filled(
            id=row["id"],
            content=row["content"] if row["state"] == "active" else "",
            state="" if row["state"] == "active" else row["state"],
            scope=row["scope"],
            cosine=None if row.get("cosine") is None else round(row["cosine"], 2),
        )
        for row in data["would_forget"]
    ]
    waits = filled(would_wait=data.get("would_wait"), capped=data.get("capped"))
    if not found:
        return {"would_forget": [], **waits, "reason": data.get("reason") or "Nothing matches."}
    return {"would_forget": found, **waits, "next": "Send these ids with confirm to forget them."}


def conflict(row: Mapping[str, Any], url: str) -> Fields:
    """Return a card: the question, its memories and what yes keeps."""
    resolution = row.get("resolution") or {}
    return filled(
        id=row["id"],
        question=row["question"],
        kind=row["kind"],
        status="" if row["status"] == "open" else row["status"],
        severity=row["severity"],
        version=row["version"],
        reasoning=row["reasoning"],
        memories=[memory(one, url) for one in row["memories"]],
        yes_keeps=row["yes_keeps"],
        verdict=resolution.get("verdict"),
        kept=resolution.get("kept"),
        card=card_link([row["id"]], url),
    )


def known(row: Mapping[str, Any], url: str) -> Fields:
    """Return a question with the answer that holds, and its history if it has one."""
    history = [
        filled(
            answer=one["answer"],
            was=one["was"],
            memory_id=one["memory"],
            who=one["agent"],
            when=when(one["observed_at"]),
            state=one["state"],
        )
        for one in row.get("history", [])[:10]
    ]
    return filled(
        id=row["id"],
        question=row["question"],
        answer=row["answer"],
        since=when(row["since"]),
        who=row["agent"],
        memory_id=row["memory"],
        scope=row["scope"],
        disputed=row["disputed"],
        also=row["also"],
        conflicts=row["conflicts"],
        card=card_link(row["conflicts"], url),
        history=history,
    )


def drift(row: Mapping[str, Any], url: str) -> Fields:
    """Return a sign that a memory is out of date."""
    about = row["context"]
    return filled(
        id=row["id"],
        type=row["error_type"],
        memory_id=row["memory_id"],
        content=(row["memory"] or {}).get("content"),
        note=row["note_path"],
        reasons=about.get("reasons"),
        passage=(about.get("passage") or {}).get("text"),
        evidence=about.get("evidence"),
        source=row["source"],
        when=when(row["detected_at"]),
        resolution=row["resolution"],
    )


def ask(row: Mapping[str, Any], url: str) -> Fields:
    """Return a pair whose relation the caller was asked to report."""
    return filled(
        memory=memory(row["memory"], url), other=memory(row["other"], url), why=row["why"]
    )


# What an empty list means; whoever may not see a thing is told so by the API.
NOTHING = {
    "conflicts": "No conflict is open here.",
    "known": "No question with these filters has an answer here.",
    "drift": "No memory is known to be out of date.",
    "asks": "Nothing was asked that is not answered.",
}
_ROWS: dict[str, Shape] = {"conflicts": conflict, "known": known, "drift": drift, "asks": ask}


def listed(about: str) -> Shape:
    """Return the shape of a list of some kind, or of one of these."""
    shape = _ROWS[about]

    def present(data: Any, url: str) -> Fields:
        if "results" not in data:
            return shape(data, url)
        rows = [shape(row, url) for row in data["results"]]
        reason = "" if rows else NOTHING[about]
        return {"results": rows, **filled(reason=reason, next=cursor_of(data["next"]))}

    return present


def cursor_of(address: str | None) -> str:
    """Return the cursor of the next page."""
    return parse_qs(urlsplit(address).query).get("cursor", [""])[0] if address else ""


def answered(data: Mapping[str, Any], url: str) -> Fields:
    """Return what an answer has done."""
    if "error_type" in data:
        return drift(data, url)
    if "yes_keeps" in data:
        return conflict(data, url)
    if "outcome" not in data:
        return dict(data)  # waits for a reviewer
    card = data["conflict"]
    return filled(
        outcome=data["outcome"],
        detail=data["detail"],
        conflict_id=card,
        card=card_link([card] if card else [], url),
        suggestion=data["suggestion"],
    )


def of_session(data: Mapping[str, Any], url: str) -> Fields:
    """Return what a step of a session gives."""
    if "text" in data:
        return filled(
            text=data["text"],
            memory_ids=[one["id"] for one in data["memories"]],
            disputed=[one["id"] for one in data["memories"] if one["disputed"]],
            constraints_left_out=data["constraints_left_out"],
            reason=data["reason"],
            at_end=data["at_end"],
        )
    if "memories" not in data:
        return filled(**data)
    rows = [memory(one, url, relevance=round(one["relevance"], 2)) for one in data["memories"]]
    return {"memories": rows, **filled(reason="" if rows else "No memory matches the prompt.")}


def refused(data: Any, detail: str, wait_seconds: str) -> Fields:
    """Return why the API refused a call, and after how many seconds to try again."""
    named = data.get("errors") if isinstance(data, dict) and data.get("status") == 409 else None
    return filled(detail=detail, errors=named, retry_after_seconds=wait_seconds)
