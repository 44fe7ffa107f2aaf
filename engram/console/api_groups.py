"""The groups of the API's operations in the order in which a newcomer needs them, and how to begin.

Both go into the OpenAPI document, from which the page of the API is made.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

AUTHENTICATION: Final = (
    "Every call needs an API key in a header: `Authorization: Bearer egr_…`. An administrator of a"
    " workspace adds keys (Settings, Keys; by program `POST /api/v1/keys`), and the token is"
    " shown once. A key belongs to one workspace, and its role says what it may do: a reader"
    " recalls, an agent also writes, a reviewer also decides, an admin also changes settings and"
    " keys. Without a key, or with one that is unknown, revoked or expired, the answer is 401;"
    " where its role is too low, 403."
)
EXAMPLE: Final = """curl -s {host}/api/v1/memories/recall \\
  -H "Authorization: Bearer $KEY" -H "Content-Type: application/json" \\
  -d '{{"query": "When are invoices issued?"}}'"""
GROUPS: Final[Mapping[str, str]] = {
    "memories": "Commit, recall, change, forget and bring back memories.",
    "context": "What a task needs to know, composed from memories and notes.",
    "sessions": "Begin a session with memories, send prompts, say what helped, end it.",
    "questions": "What is known: questions with the answers that hold, and former ones.",
    "notes": "Markdown files that memories may link.",
    "conflicts": "Memories that disagree, and people's verdicts on them.",
    "reviews": "Requests of agents that a person decides.",
    "inbox": "All that waits for people.",
    "merge-suggestions": "Memories that may say the same.",
    "prediction-errors": "Memories in doubt, because a note says something else now.",
    "session-reports": "What agents missed in memory, or found wrong.",
    "gate": "Merges of near-duplicates, and judgements of them.",
    "detections": "Runs of the detective.",
    "mutings": "Rules of the detective that people often dismissed.",
    "janitor": "Unused memories that are lowered or hidden.",
    "predictor": "The learned ranking: its state, trainings and ratings.",
    "timeline": "What happened in one session, step by step.",
    "events": "The history of the workspace.",
    "workspace": "Settings, retention and deletion of the workspace.",
    "keys": "API keys.",
    "webhooks": "Addresses that are told of events.",
    "jobs": "Work in the background that a call asked for.",
    "diagnostics": "Whether all is well.",
    "pipeline": "The processes and their counts.",
    "analytics": "Errors and durations.",
}


def introduce(result: dict[str, Any], **kwargs: Any) -> dict[str, Any]:
    """Add the groups in their order, and how to authenticate (a hook of the generator)."""
    result["tags"] = [{"name": name, "description": words} for name, words in GROUPS.items()]
    example = EXAMPLE.format(host="https://engram.example.com")
    info = result["info"]
    info["description"] += f"\n\n## Authentication\n\n{AUTHENTICATION}\n\n```sh\n{example}\n```"
    return result
