"""POST /memories: what is stored, what is refused, what is kept apart."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.models import Memory, Observation, Posting
from tests.conftest import Tenant


def test_commit_answers_every_stored_field(tenant: Tenant) -> None:
    answer = tenant.agent.post(
        "memories",
        {
            "content": "The invoice service listens on port 8443.",
            "scope": "infra/billing",
            "project": "apollo",
            "kind": "decision",
            "provenance": "user_stated",
            "importance": 0.8,
            "tags": ["ports", "billing"],
            "agent": "ops-bot",
            "session_key": "s-1",
            "pinned": True,
            "metadata": {"ticket": 7},
            "source": "runbooks/billing.md",
        },
    )
    assert answer.status_code == 201
    body = answer.json()
    assert body["outcome"] == "created"
    assert body["detection"] == {"status": "queued"}
    memory = body["memory"]
    expected = {
        "content": "The invoice service listens on port 8443.",
        "scope": "infra/billing",
        "project": "apollo",
        "kind": "decision",
        "provenance": "user_stated",
        "confidence": 1.0,
        "importance": 0.8,
        "tags": ["billing", "ports"],
        "agent": "ops-bot",
        "session_key": "s-1",
        "pinned": True,
        "metadata": {"ticket": 7},
        "source": "runbooks/billing.md",
        "state": "active",
        "revision": 1,
        "recall_count": 0,
        "supersedes": None,
        "superseded_by": None,
        "derived_from": [],
        "disputed": False,
        "conflicts": [],
    }
    assert {name: memory[name] for name in expected} == expected


def test_confidence_defaults_by_provenance(tenant: Tenant) -> None:
    """Pitfall 20."""
    derived = tenant.agent.post("memories", {"content": "Deploys take nine minutes."}).json()
    assert derived["memory"]["confidence"] == 0.7
    assert derived["memory"]["provenance"] == "assistant_derived"


def test_exact_duplicate_is_the_same_row_and_keeps_what_was_sent(tenant: Tenant) -> None:
    first = tenant.agent.post("memories", {"content": "Backups run at night."}).json()
    again = tenant.agent.post("memories", {"content": "  backups RUN at\tnight. "})
    assert again.status_code == 200
    assert again.json()["outcome"] == "duplicate"
    assert again.json()["memory"]["id"] == first["memory"]["id"]
    with in_workspace(tenant.workspace):
        assert Memory.objects.count() == 1
        assert sorted(Observation.objects.values_list("content", flat=True)) == sorted(
            ["Backups run at night.", "  backups RUN at\tnight. "]
        )


def test_the_same_words_in_another_scope_are_another_memory(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "Backups run at night.", "scope": "a"})
    other = tenant.agent.post("memories", {"content": "Backups run at night.", "scope": "b"})
    assert other.json()["outcome"] == "created"


def test_a_text_too_long_for_rules_is_stored_unmerged_and_says_so(tenant: Tenant) -> None:
    table = "The limits are " + "30, " * 1900
    first = tenant.agent.post("memories", {"content": f"{table} and 10 for the API."})
    second = tenant.agent.post("memories", {"content": f"{table} and 20 for the API."})
    assert first.json()["outcome"] == second.json()["outcome"] == "created"
    assert second.json()["gate"]["reasons"] == [
        "too long to compare by rules: a text of more than 2,000 words and signs"
    ]
    again = tenant.agent.post("memories", {"content": f"{table} and 20 for the API."})
    assert again.json()["outcome"] == "duplicate"


def test_contradiction_is_kept_apart_with_a_reason(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": "The API rate limit is 1000 requests per second."})
    answer = tenant.agent.post(
        "memories", {"content": "The API rate limit is 5000 requests per second."}
    )
    assert answer.status_code == 201
    assert answer.json()["outcome"] == "kept_apart"
    assert answer.json()["gate"]["relation"] == "contradicts"
    assert answer.json()["gate"]["reasons"] != []


def test_superseding_hides_the_old_one_and_links_both(tenant: Tenant) -> None:
    old = tenant.agent.post("memories", {"content": "Prod runs Postgres 14."}).json()["memory"]
    new = tenant.agent.post(
        "memories", {"content": "Prod runs Postgres 17.", "supersedes": old["id"]}
    ).json()["memory"]
    assert new["supersedes"] == old["id"]
    assert new["lineage"] == old["lineage"]
    hidden = tenant.agent.get(f"memories/{old['id']}").json()
    assert (hidden["state"], hidden["superseded_by"]) == ("superseded", new["id"])


def test_forgotten_content_is_suppressed_anywhere_unless_revived(tenant: Tenant) -> None:
    memory = tenant.agent.post("memories", {"content": "Mara likes oolong tea.", "scope": "x"})
    memory_id = memory.json()["memory"]["id"]
    tenant.agent.post("memories/forget", {"ids": [memory_id], "confirm": True})
    again = tenant.agent.post("memories", {"content": "mara likes  OOLONG tea.", "scope": "y"})
    assert again.status_code == 200
    assert (again.json()["outcome"], again.json()["memory"]) == ("suppressed", None)
    revived = tenant.agent.post(
        "memories", {"content": "Mara likes oolong tea.", "scope": "y", "revive": True}
    )
    assert revived.json()["memory"]["id"] == memory_id
    assert revived.json()["memory"]["state"] == "active"


@pytest.mark.parametrize(
    "secret",
    [
        "Use AKIAABCDEFGHIJKLMNOP for the bucket.",
        "-----BEGIN RSA PRIVATE KEY----- abc",
        "db is postgres://app:hunter22@db.internal/app",
        "The password is Tr0ub4dor&3xyz",
    ],
)
def test_credentials_are_refused_and_not_stored(tenant: Tenant, secret: str) -> None:
    answer = tenant.agent.post("memories", {"content": secret})
    assert answer.status_code == 422
    assert answer.json()["errors"][0]["field"] == "content"
    with in_workspace(tenant.workspace):
        assert Memory.objects.count() == 0


@pytest.mark.parametrize(
    "fields",
    [
        {"metadata": {"key": "AKIAABCDEFGHIJKLMNOP"}},
        {"source": "https://user:s3cr3tPa55@host.example/"},
        {"tags": ["ghp_" + "a1B2" * 10]},
    ],
)
def test_credentials_beside_the_statement_are_refused(
    tenant: Tenant, fields: dict[str, object]
) -> None:
    answer = tenant.agent.post("memories", {"content": "The bucket is public.", **fields})
    assert answer.status_code == 422
    assert [e["field"] for e in answer.json()["errors"]] == list(fields)


def test_batch_is_all_or_nothing(tenant: Tenant) -> None:
    answer = tenant.agent.post(
        "memories/batch",
        {"memories": [{"content": "One fact."}, {"content": "x", "supersedes": "0" * 32}]},
    )
    assert answer.status_code == 422
    with in_workspace(tenant.workspace):
        assert Memory.objects.count() == 0
        assert Posting.objects.count() == 0


def test_batch_answers_in_order(tenant: Tenant) -> None:
    contents = ["Trains leave at nine.", "The cellar is damp.", "Trains leave at nine."]
    answer = tenant.agent.post("memories/batch", {"memories": [{"content": c} for c in contents]})
    assert answer.status_code == 201
    results = answer.json()["results"]
    assert [r["outcome"] for r in results] == ["created", "created", "duplicate"]
    assert results[2]["memory"]["id"] == results[0]["memory"]["id"]


def test_time_to_live_becomes_an_expiry(tenant: Tenant) -> None:
    memory = tenant.agent.post("memories", {"content": "Freeze on.", "ttl_seconds": 60}).json()
    expires_at = memory["memory"]["expires_at"]
    assert expires_at > timezone.now().isoformat()
    assert expires_at < (timezone.now() + timedelta(seconds=61)).isoformat()


def test_expired_memories_leave_the_list(tenant: Tenant) -> None:
    said, past = ((timezone.now() - timedelta(hours=n)).isoformat() for n in (2, 1))
    told = {"content": "Old news.", "observed_at": said, "expires_at": past}
    assert tenant.agent.post("memories", told).status_code == 201
    told_late = {"content": "Old news.", "expires_at": past}
    assert tenant.agent.post("memories", told_late).status_code == 422
    assert tenant.agent.get("memories").json()["results"] == []
    expired = tenant.agent.get("memories", {"state": "expired"}).json()["results"]
    assert [m["content"] for m in expired] == ["Old news."]


def test_revision_keeps_the_old_wording_in_history(tenant: Tenant) -> None:
    memory = tenant.agent.post("memories", {"content": "Standup is at nine."}).json()["memory"]
    changed = tenant.agent.patch(f"memories/{memory['id']}", {"content": "Standup is at ten."})
    assert changed.status_code == 200
    assert (changed.json()["content"], changed.json()["revision"]) == ("Standup is at ten.", 2)
    history = tenant.agent.get(f"memories/{memory['id']}/history").json()["results"]
    assert [(e["type"], e["content"]) for e in history] == [
        ("memory.revised", "Standup is at nine."),
        ("memory.committed", "Standup is at nine."),
    ]


def test_forget_previews_then_hides_once_then_restores(tenant: Tenant) -> None:
    memory = tenant.agent.post("memories", {"content": "The cat is called Pixel."}).json()["memory"]
    preview = tenant.agent.post("memories/forget", {"ids": [memory["id"]]}).json()
    assert [m["id"] for m in preview["would_forget"]] == [memory["id"]]
    assert tenant.agent.get("memories").json()["results"] != []
    confirmed = {"ids": [memory["id"]], "confirm": True}
    assert tenant.agent.post("memories/forget", confirmed).json()["forgotten"] == 1
    assert tenant.agent.post("memories/forget", confirmed).json()["forgotten"] == 0
    assert tenant.agent.get("memories").json()["results"] == []
    assert tenant.agent.post("memories/restore", {"ids": [memory["id"]]}).json()["restored"] == 1
    assert tenant.agent.get(f"memories/{memory['id']}").json()["state"] == "active"
