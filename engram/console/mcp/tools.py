"""The eight tools: what each says to a model, its arguments, its call and its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from engram.console.mcp import routes, shapes
from engram.console.mcp.calls import Call

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


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """One tool; `route` turns its arguments into a call, `shape` the answer into its result."""

    name: str
    title: str
    description: str
    properties: dict[str, Any]
    route: Callable[[routes.Arguments], Call]
    shape: Callable[[routes.Arguments], shapes.Shape]
    required: tuple[str, ...] = ()
    is_read: bool = False
    is_destructive: bool = False  # it changes or hides what is stored; all of it can be undone
    is_idempotent: bool = False

    @property
    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the arguments."""
        return {
            "type": "object",
            "properties": self.properties,
            "required": list(self.required),
            "additionalProperties": False,
        }


TOOLS = (
    ToolSpec(
        "remember",
        "Remember a statement",
        "Store one plain statement that a later conversation needs: a decision, preference, owner, "
        "limit or date. Not for chatter, guesses, plans nobody decided, or credentials. Give "
        "`answers`: up to three short questions that it answers, with subject and limits in full, "
        "and the value alone; yes/no for what is allowed; `was` only if the statement says what "
        "it replaced. Returns outcome (created, merged, duplicate, kept_apart: a contradiction, "
        "people are asked; pending: a reviewer is asked, go on) and id; judge `asks`, "
        "if any, with `answer`. "
        'Example: {"content": "Invoices go out on the 1st, no longer on the 5th.", "scope": '
        '"billing", "answers": [{"question": "When do invoices go out?", "answer": "on the 1st", '
        '"was": "on the 5th"}]}',
        {
            "content": TEXT,
            "answers": ANSWERS,
            "scope": TEXT,
            "project": TEXT,
            "kind": choice("semantic", "episodic", "procedural", "decision", "constraint"),
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
        routes.remember,
        lambda _: shapes.remembered,
        required=("content",),
    ),
    ToolSpec(
        "recall",
        "Recall memories",
        "Find what is known before you answer or act on facts of this user, project or system. Not "
        "for general knowledge, and not twice for one question. Returns the best first with "
        "relevance (0 to 1), when and who; `disputed`: another memory contradicts it, say so and "
        "name `card`, where people decide. If empty, `reason` says why. `as_of` asks a past time. "
        "With memory_id alone shows one memory; with query too, why that query does not return "
        'it. Example: {"query": "when do invoices go out?", "k": 5}',
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
        routes.recall,
        lambda _: shapes.recalled,
        is_read=True,
    ),
    ToolSpec(
        "context",
        "Get the context of a task",
        "Get memories and passages of notes for a task as one text, before you begin it. Not for "
        "one question: `recall`. Returns text, memory_ids in its order, or why there "
        'is nothing. Example: {"task": "why was a payment not retried?"}',
        {"task": TEXT, "k": WHOLE, "project": TEXT, "budget_chars": WHOLE},
        routes.context,
        lambda _: shapes.given,
        required=("task",),
        is_read=True,
    ),
    ToolSpec(
        "revise",
        "Correct a memory",
        "Correct the wording or fields of one memory; send `answers` with new content. If the fact "
        "itself changed, `remember` the new one with supersedes. If you only have evidence that it "
        "may be outdated, send source and evidence (an object) instead. Returns the memory; "
        "pending: it is a "
        'person\'s word, a reviewer is asked, go on. Example: {"memory_id": "<id>", "content": '
        '"Invoices go out on the 1st of each month."}',
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
        routes.revise,
        lambda _: shapes.revised,
        required=("memory_id",),
        is_destructive=True,
        is_idempotent=True,
    ),
    ToolSpec(
        "forget",
        "Forget memories",
        "Hide memories because the user asks to forget something; never because one is outdated "
        "(then `revise`). Give ids or a query. Without confirm it only previews: show the user, "
        "then send those ids with confirm. restore with ids undoes it. "
        'Example: {"query": "my old address"}, then {"ids": ["<id>"], "confirm": true}',
        {
            "ids": TEXTS,
            "query": TEXT,
            "min_relevance": NUMBER,
            "scope": TEXT,
            "project": TEXT,
            "confirm": FLAG,
            "restore": FLAG,
        },
        routes.forget,
        lambda _: shapes.forgotten,
        is_destructive=True,
        is_idempotent=True,
    ),
    ToolSpec(
        "questions",
        "List questions",
        "List what is open or known. about: conflicts (contradictions to ask the user about), "
        "known (questions and what holds; q, as_of), drift (memories their notes no longer "
        "support), asks (pairs to compare). id shows one in full; cursor takes `next`. Not to look "
        "up a fact: `recall`. "
        'Example: {"about": "known", "q": "refunds"}',
        {
            "about": choice(*routes.LISTS),
            "q": TEXT,
            "scope": TEXT,
            "as_of": TEXT,
            "id": TEXT,
            "limit": WHOLE,
            "cursor": TEXT,
        },
        routes.questions,
        lambda arguments: shapes.listed(arguments.get("about", "conflicts")),
        is_read=True,
    ),
    ToolSpec(
        "answer",
        "Answer a question",
        "Answer what was asked. How two memories relate (`asks`): memory_id, other, relation, "
        "reason; different is an answer, too. What the user decided about a conflict (reviewer "
        "keys): conflict_id, verdict, version as listed; keep with ids where several remain. About "
        "a drift (reviewer keys): drift_id, action. Never decide a conflict or drift yourself: ask "
        'the user. Returns what it did. Example: {"memory_id": "<id>", "other": "<id>", '
        '"relation": "replaces", "reason": "dated later"}',
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
        routes.answer,
        lambda _: shapes.answered,
        is_destructive=True,
    ),
    ToolSpec(
        "session",
        "Report a session",
        "Tell about your run, so that the right memories come first next time. start once, with "
        "session_key and context: returns text to read. prompt with each message of the user: "
        "returns memories that match. feedback: memory_id and value, -1 (misled) to 1 (helped). "
        "end with used (id of a memory you were given: 0 to 1), wrong (memory and reason of those "
        "that are false by now), missing (what you had to find out), transcript; extract turns it "
        "into memories. Not needed for one question. "
        'Example: {"action": "start", "session_key": "run-42", "context": "send invoices"}',
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
            "used": {"type": "object"},
            "wrong": {"type": "array", "items": {"type": "object"}},
            "missing": TEXTS,
            "transcript": TEXT,
            "extract": FLAG,
        },
        routes.session,
        lambda _: shapes.of_session,
        required=("action", "session_key"),
    ),
)
BY_NAME = {tool.name: tool for tool in TOOLS}
