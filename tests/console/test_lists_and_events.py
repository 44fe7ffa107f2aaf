"""One word for everything in lists by status, and no event type that nobody writes."""

from __future__ import annotations

import ast
import re
from pathlib import Path
from typing import Any

import pytest

from engram.console.wording import WORDS
from tests.conftest import Tenant

ROOT = Path(__file__).resolve().parents[2]
LISTS = {
    "memories": "state",
    "sessions": "state",
    "conflicts": "status",
    "reviews": "status",
    "merge-suggestions": "status",
}


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields})
    assert answer.status_code == 201, answer.json()
    return str(answer.json()["memory"]["id"])


def fill(tenant: Tenant) -> None:
    """Have something hidden or done in every list, and something that is not."""
    ids = [commit(tenant, f"The fair opens in {month}.") for month in ("May", "July")]
    for pair in (ids, [commit(tenant, "Doors are red."), commit(tenant, "Doors are blue.")]):
        card = tenant.agent.post("conflicts", {"memory_ids": pair})
        assert card.status_code == 201, card.json()
    tenant.reviewer.post(f"conflicts/{card.json()['id']}/resolve", {"verdict": "dismiss"})
    tenant.agent.post("memories/forget", {"ids": ids[:1], "confirm": True})
    for key in ("a", "b"):
        tenant.agent.post("sessions", {"session_key": key})
    tenant.agent.post("sessions/b/end", {})
    for n in (1, 2):
        stated = commit(tenant, f"Tank {n} holds milk.", provenance="user_stated")
        asked = {"content": f"Tank {n} holds tea.", "supersedes": stated}
        assert tenant.agent.post("memories", asked).status_code == 202
    review = tenant.reviewer.get("reviews").json()["results"][0]["id"]
    assert tenant.reviewer.post(f"reviews/{review}/reject").status_code == 200
    for n in (1, 2):
        one, other = (
            commit(tenant, f"Bell {n} rings."),
            commit(tenant, f"The chime sounds {n} times."),
        )
        same = {"other": other, "relation": "same", "reason": "So it is."}
        assert tenant.agent.post(f"memories/{one}/relations", same).status_code == 201
    suggestion = tenant.reviewer.get("merge-suggestions").json()["results"][0]["id"]
    assert tenant.reviewer.post(f"merge-suggestions/{suggestion}/reject").status_code == 200


def test_all_is_one_word_for_everything_in_every_list(tenant: Tenant) -> None:
    fill(tenant)
    for path, name in LISTS.items():
        answer = tenant.reviewer.get(path, {name: "all", "limit": 200})
        assert answer.status_code == 200, (path, answer.json())
        everything = {row.get("id") or row["session_key"] for row in answer.json()["results"]}
        refused = tenant.reviewer.get(path, {name: "odd"})
        assert refused.status_code == 422
        words = refused.json()["detail"].rpartition("one of: ")[2].rstrip(".").split(", ")
        assert "all" in words
        found: list[str] = []
        for word in set(words) - {"all"}:
            rows = tenant.reviewer.get(path, {name: word, "limit": 200}).json()["results"]
            found += [row.get("id") or row["session_key"] for row in rows]
        assert sorted(found) == sorted(everything)
        assert len(everything) > 1


def test_unknown_event_types_are_refused_and_known_ones_named(tenant: Tenant) -> None:
    commit(tenant, "The fair opens in May.")
    found = tenant.reader.get("events", {"type": "memory.committed"}).json()["results"]
    assert [event["type"] for event in found] == ["memory.committed"]
    refused = tenant.reader.get("events", {"type": "memory.comitted"})
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["field"] == "type"
    assert all(name in refused.json()["detail"] for name in WORDS)


def recorded_types() -> set[str]:
    """Return the event types that the code hands to history, as far as they are literal."""
    families = {name.partition(".")[0] for name in WORDS}
    shape = re.compile(rf"({'|'.join(sorted(families))})\.[a-z_]+")
    found = set()
    for room in ("engram", "memories", "conflicts", "predictor"):
        for path in (ROOT / room).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text())):
                callee = getattr(node, "func", None)
                name = getattr(callee, "id", getattr(callee, "attr", ""))
                if name not in {
                    "record",
                    "event",
                    "record_unsent",
                    "told",
                    "tell",
                    "_store",
                    "_tell",
                }:
                    continue
                constants = [
                    part.value
                    for argument in node.args  # type: ignore[attr-defined]
                    for part in ast.walk(argument)
                    if isinstance(part, ast.Constant) and isinstance(part.value, str)
                ]
                found |= {value for value in constants if shape.fullmatch(value)}
    return found


def test_every_type_that_is_recorded_has_words_and_can_be_asked_for(tenant: Tenant) -> None:
    types = recorded_types()
    assert len(types) > 45
    assert types <= WORDS.keys()
    for status in ("opened", "accepted", "rejected", "lapsed", "reopened"):
        assert f"review.{status}" in WORDS


def test_a_forget_preview_shows_how_relevant_each_match_is(tenant: Tenant) -> None:
    near = commit(tenant, "The office dog is called Biscuit.")
    far = commit(tenant, "A dog was seen near the harbour.")
    asked = {"query": "the office dog is called Biscuit", "min_relevance": 0.1}
    preview = tenant.agent.post("memories/forget", asked).json()["would_forget"]
    assert [memory["id"] for memory in preview] == [near, far]
    assert preview[0]["cosine"] > preview[1]["cosine"] >= 0.1
    recalled = tenant.reader.post(
        "memories/recall", {"query": asked["query"], "record": False}
    ).json()["results"]
    cosines = {row["memory"]["id"]: row["cosine"] for row in recalled}
    assert preview[0]["cosine"] == pytest.approx(cosines[near], abs=1e-3)
    [named] = tenant.agent.post("memories/forget", {"ids": [far]}).json()["would_forget"]
    assert named["cosine"] is None
