"""Erasing for good (census pitfall 39): a canary takes part in everything, then is nowhere."""

from __future__ import annotations

import json
import os
from typing import Any

import psycopg
import pytest
from django.db import connection
from django.utils import timezone

from conflicts.services.detection.detect import detect_due
from engram import embedded
from engram.kernel import broker
from engram.kernel.models import Event, IdempotentAnswer
from engram.kernel.tenancy import in_workspace
from memories.models import CorpusSize, Memory, Session, TermCount
from tests.conftest import Caller, Tenant, build_tenant

CANARY = "zyzzyvaquux"
STATEMENT = f"The vault word of the north tower is {CANARY} and it changes every week."


def commit(caller: Caller, content: str, **fields: Any) -> dict[str, Any]:
    answer = caller.post("memories", {"content": content, **fields})
    assert answer.status_code in {200, 201}, answer.json()
    memory: dict[str, Any] = answer.json()["memory"]
    return memory


def tables_holding(needle: str) -> dict[str, int]:
    """Return how many rows of each table hold a text, read as the owner past row security."""
    found = {}
    with connection.cursor() as cursor:
        cursor.execute("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")
        names = [row[0] for row in cursor.fetchall()]
        cursor.execute("SELECT id FROM kernel_workspace")
        workspaces = [row[0] for row in cursor.fetchall()]
        for name in names:
            hits = 0
            for workspace in workspaces:
                cursor.execute("SELECT set_config('engram.workspace', %s, true)", [str(workspace)])
                cursor.execute(
                    f'SELECT count(*) FROM "{name}" AS t WHERE t::text ILIKE %s',  # noqa: S608
                    [f"%{needle}%"],
                )
                hits += cursor.fetchone()[0]
            if hits:
                found[name] = hits
        cursor.execute("SELECT set_config('engram.workspace', '', true)")
    return found


def redis_keys_holding(needle: str) -> list[str]:
    """Return the keys of the broker whose name or value holds a text."""
    client = broker.client()
    found = []
    for key in client.scan_iter():
        value = client.dump(key) or b""
        if needle.encode() in key or needle.encode() in value:
            found.append(repr(key))
    return found


def log_files_holding(needle: str) -> list[str]:
    """Return the log files of this home that hold a text."""
    logs = embedded.home_folder() / "logs"
    assert logs.is_dir()
    return [
        str(p) for p in logs.rglob("*") if p.is_file() and needle in p.read_text("utf-8", "replace")
    ]


def let_it_take_part(tenant: Tenant) -> dict[str, Any]:
    """Let the canary leave its words wherever memories leave them."""
    asked = {"question": f"What does {CANARY} open?", "answer": "the vault", "was": CANARY}
    place = {
        "answers": [asked],
        "scope": "tower",
        "tags": [CANARY],
        "metadata": {"word": CANARY},
        "source": CANARY,
    }
    memory = commit(
        tenant.agent,
        "The vault word of the north tower is secret for now.",
        provenance="user_stated",
    )
    tenant.reviewer.patch(f"memories/{memory['id']}", {"content": STATEMENT, **place})
    tenant.reviewer.patch(f"memories/{memory['id']}", {"importance": 0.9})
    tenant.agent.post(
        "memories", {"content": STATEMENT, "scope": "tower"}, **{"Idempotency-Key": "k1"}
    )
    commit(tenant.agent, STATEMENT, scope="elsewhere")
    rival = commit(tenant.agent, "The vault word of the north tower is swordfish.", scope="tower")
    card = tenant.agent.post("conflicts", {"memory_ids": [memory["id"], rival["id"]]}).json()
    path = f"conflicts/{card['id']}"
    tenant.reviewer.post(f"{path}/comments", {"text": f"Is {CANARY} still right?"})
    verdict = {"verdict": "keep", "keep": [rival["id"]], "note": f"not {CANARY}"}
    assert tenant.reviewer.post(f"{path}/resolve", verdict).status_code == 200
    assert tenant.reviewer.post(f"{path}/undo", {}).status_code == 200
    summary = commit(tenant.agent, "The tower has a vault.", derived_from=[memory["id"]])
    guarded = commit(tenant.agent, "The moat is deep.", provenance="user_stated", scope="moat")
    asked = {"content": STATEMENT.upper(), "supersedes": guarded["id"], "scope": "moat"}
    assert tenant.agent.post("memories", asked).status_code == 202
    assert tenant.agent.patch(f"memories/{memory['id']}", {"tags": ["x"]}).status_code == 202
    tenant.reader.post("memories/recall", {"query": f"vault word {CANARY}", "session_key": "s"})
    tenant.agent.post("memories/forget", {"query": STATEMENT, "min_relevance": 0.99})
    detect_due(tenant.workspace, clock=timezone.now)
    return {**memory, "summary": summary["id"], "card": card["id"], "rival": rival["id"]}


def test_a_canary_is_nowhere_after_erasing(tenant: Tenant) -> None:
    memory = let_it_take_part(tenant)
    assert set(tables_holding(CANARY)) >= {
        "memories_memory", "memories_observation", "memories_revision", "memories_posting",
        "memories_termcount", "memories_memoryanswer", "memories_memorytag",
        "memories_review", "conflicts_conflict",
        "conflicts_conflictcomment", "conflicts_decision", "kernel_idempotentanswer",
    }  # fmt: skip
    assert tenant.admin.delete(f"memories/{memory['id']}").status_code == 204
    assert tables_holding(CANARY) == {}
    assert redis_keys_holding(CANARY) == []
    assert log_files_holding(CANARY) == []


@pytest.mark.parametrize(
    ("content", "quote"),
    [
        ("Große Grüße aus der Straße.", "GROSSE GRÜSSE AUS DER STRASSE."),
        ("Große Grüße aus der Straße.", "Große Grüße aus der Straße."),
        ("The oﬃce ﬂoor is waxed.", "The office floor is waxed."),
        ("ſilence iſ kept in the library.", "Silence is kept in the library."),
        ("Сад открыт по средам.", "САД ОТКРЫТ ПО СРЕДАМ."),
        ("The vault is under the oak.", "The va\u200bult is un\u00adder the o\u2060ak."),
        ("The vault is under the oak.", "Ｔｈｅ ｖａｕｌｔ ｉｓ ｕｎｄｅｒ ｔｈｅ ｏａｋ."),
        ("MB of data are free at night.", "5 MB of data are free at night."),
        ("The link carries 5 MB at night.", "The link carries 5 mb at night."),
    ],
)
def test_kept_answers_lose_every_spelling_of_what_is_erased(
    tenant: Tenant, neighbour: Tenant, content: str, quote: str
) -> None:
    for each in (tenant, neighbour):
        memory = commit(each.agent, content)
        with in_workspace(each.workspace):
            IdempotentAnswer.objects.create(
                caller="key:1", key="k", path="/", digest="d", status=200,
                body=json.dumps({"question": f"Is it so that {quote}"}, ensure_ascii=False),
                created_at=timezone.now(),
            )  # fmt: skip
        if each is tenant:
            assert tenant.admin.delete(f"memories/{memory['id']}").status_code == 204
    for each, is_gone in ((tenant, True), (neighbour, False)):
        with in_workspace(each.workspace):
            assert (IdempotentAnswer.objects.get().body is None) is is_gone


@pytest.mark.parametrize("name", ["transcript", "context"])
@pytest.mark.parametrize(
    "quote", ["The va\u200bult is un\u00adder the oak", "Ｔｈｅ ｖａｕｌｔ ｉｓ under the oak"]
)
def test_sessions_lose_what_hides_an_erased_text(
    tenant: Tenant, neighbour: Tenant, name: str, quote: str
) -> None:
    for each in (tenant, neighbour):
        memory = commit(each.agent, "The vault is under the oak.")
        body = {"session_key": "s1", "context": "the vault"}
        assert each.agent.post("sessions", body).status_code == 201
        with in_workspace(each.workspace):
            Session.objects.update(**{name: f"User: {quote}. Agent: noted."})
        if each is tenant:
            assert tenant.admin.delete(f"memories/{memory['id']}").status_code == 204
    for each, left in ((tenant, False), (neighbour, True)):
        with in_workspace(each.workspace):
            assert bool(getattr(Session.objects.get(), name)) is left


def test_erasing_leaves_one_event_without_content(tenant: Tenant) -> None:
    memory = let_it_take_part(tenant)
    tenant.admin.delete(f"memories/{memory['id']}")
    told = tenant.admin.get("events", {"object": memory["id"]}).json()["results"]
    assert told[0]["type"] == "memory.erased"
    assert told[0]["data"] == {"copies": 1, "flagged": 1}
    assert all(event["data"] == {} for event in told[1:])
    with in_workspace(tenant.workspace):
        assert Event.objects.filter(type="memory.erased").count() == 1


def test_what_others_said_outlives_an_erased_memory(tenant: Tenant) -> None:
    memory = let_it_take_part(tenant)
    tenant.admin.delete(f"memories/{memory['id']}")
    for path in ("", "/history"):
        assert tenant.admin.get(f"memories/{memory['id']}{path}").status_code == 404
    assert tenant.admin.delete(f"memories/{memory['id']}").status_code == 404
    assert tenant.reader.get(f"memories/{memory['rival']}").json()["state"] == "active"
    waiting = tenant.reviewer.get("reviews", {"kind": "source_forgotten"}).json()["results"]
    assert [row["memory"]["id"] for row in waiting] == [memory["summary"]]
    card = tenant.reader.get(f"conflicts/{memory['card']}").json()
    assert (card["status"], len(card["memories"])) == ("resolved", 1)
    assert [c["text"] for c in card["comments"]] == ["Erased."]


def test_erasing_keeps_the_counts_of_words_right(tenant: Tenant) -> None:
    kept = commit(tenant.agent, "The cedar crate is heavy.")
    gone = commit(tenant.agent, "The cedar crate smells of pine.", scope="x")
    tenant.admin.delete(f"memories/{gone['id']}")
    with in_workspace(tenant.workspace):
        assert CorpusSize.objects.get().memories == Memory.objects.count() == 1
        assert CorpusSize.objects.get().words == Memory.objects.get(pk=kept["id"]).word_count
        assert TermCount.objects.get(term="cedar").memories == 1
        assert not TermCount.objects.filter(term="pine").exists()


def test_the_words_of_a_former_wording_are_counted_no_more(tenant: Tenant) -> None:
    memory = commit(tenant.agent, f"The {CANARY} sleeps.")
    tenant.agent.patch(f"memories/{memory['id']}", {"content": "Nobody sleeps."})
    assert "memories_termcount" in tables_holding(CANARY)
    tenant.admin.delete(f"memories/{memory['id']}")
    assert tables_holding(CANARY) == {}


def test_what_was_erased_may_be_said_again(tenant: Tenant) -> None:
    memory = commit(tenant.agent, STATEMENT)
    tenant.agent.post("memories/forget", {"ids": [memory["id"]], "confirm": True})
    tenant.admin.delete(f"memories/{memory['id']}")
    assert tenant.agent.post("memories", {"content": STATEMENT}).json()["outcome"] == "created"


def test_a_short_wording_erases_no_bystander(tenant: Tenant) -> None:
    short = commit(tenant.agent, "Yes.")
    a, b = (commit(tenant.agent, f"Yes, the gate opens at {n}.", scope="g") for n in (8, 9))
    card = tenant.agent.post("conflicts", {"memory_ids": [a["id"], b["id"]]}).json()
    tenant.admin.delete(f"memories/{short['id']}")
    assert tenant.reader.get(f"conflicts/{card['id']}").json()["question"] == card["question"]


def test_erasing_is_for_admins_of_the_workspace(tenant: Tenant, neighbour: Tenant) -> None:
    memory = commit(tenant.agent, STATEMENT)
    for caller in (tenant.reader, tenant.agent, tenant.reviewer):
        assert caller.delete(f"memories/{memory['id']}").status_code == 403
    other = commit(neighbour.agent, STATEMENT)
    assert tenant.admin.delete(f"memories/{other['id']}").status_code == 404
    tenant.admin.delete(f"memories/{memory['id']}")
    assert neighbour.agent.get(f"memories/{other['id']}").json()["content"] == STATEMENT


def test_a_failed_write_leaves_no_text_in_the_log_of_the_database(
    transactional_db: None,
) -> None:
    """PostgreSQL would quote the statement, or the row, of an error."""
    tenant = build_tenant("busy")
    memory = commit(tenant.agent, STATEMENT)
    with psycopg.connect(
        os.environ["DATABASE_URL"], dbname=connection.settings_dict["NAME"]
    ) as raw:
        raw.execute("SELECT set_config('engram.workspace', %s, true)", [str(tenant.workspace.pk)])
        with pytest.raises(psycopg.errors.CheckViolation):
            raw.execute(
                f"UPDATE memories_memory SET confidence = 7, content = '{STATEMENT}' WHERE id = %s",  # noqa: S608
                [memory["id"]],
            )
    assert log_files_holding(CANARY) == []
    assert (embedded.home_folder() / "logs" / "postgres.log").exists()


def test_what_was_merged_is_erased_with_its_survivor(tenant: Tenant) -> None:
    older = commit(tenant.agent, STATEMENT, provenance="user_stated")
    newer = commit(tenant.agent, STATEMENT.replace("every week", "every week at 14:00 UTC"))
    (row,) = tenant.reader.get("merge-suggestions").json()["results"]
    assert tenant.reviewer.post(f"merge-suggestions/{row['id']}/accept", {}).status_code == 200
    assert tenant.admin.delete(f"memories/{older['id']}").status_code == 204
    assert tenant.admin.get(f"memories/{newer['id']}").status_code == 404
    assert tables_holding(CANARY) == {}


def test_notes_and_kept_answers_that_quote_it_are_emptied(tenant: Tenant) -> None:
    pears = commit(tenant.reviewer, "Pears ripen in August.", provenance="user_stated")
    asked = [
        tenant.agent.patch(f"memories/{pears['id']}", change).json()["review"]
        for change in ({"confidence": 0.2}, {"content": STATEMENT.upper()})
    ]
    bystander = tenant.agent.post(
        "memories", {"content": "The north tower is old."}, **{"Idempotency-Key": "k2"}
    )
    memory = commit(tenant.agent, STATEMENT)
    tenant.reviewer.post(f"reviews/{asked[0]}/reject", {"note": f"No: {STATEMENT}"})
    tenant.reviewer.post(f"reviews/{asked[1]}/reject", {}, **{"Idempotency-Key": "k1"})
    tenant.admin.delete(f"memories/{memory['id']}")
    assert tables_holding(CANARY) == {}
    assert tenant.agent.get(f"reviews/{asked[0]}").json()["note"] == "Erased."
    again = tenant.agent.post(
        "memories", {"content": "The north tower is old."}, **{"Idempotency-Key": "k2"}
    )
    assert again.json() == bystander.json()
