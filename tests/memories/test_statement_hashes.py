"""What identifies a statement, and what was hashed by the former rules."""

from __future__ import annotations

import hashlib
import unicodedata
from importlib import import_module
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from conflicts.models import Decision
from engram.kernel.tenancy import in_workspace
from memories.core.claims import compare
from memories.core.content import content_hash
from memories.models import Memory, MergeSuggestion, Observation
from memories.services.gate.suggestions import wordings_of
from tests.conftest import House

rehash = import_module("memories.migrations.0016_hashes_of_statements").rehash
effects_again = import_module("conflicts.migrations.0008_hashes_of_effects")
rehash_effects = effects_again.rehash
SAID = "Wool is dyed with “madder root”."


@pytest.mark.parametrize(
    "again",
    ["Wool is dyed with “madder root”", 'wool is dyed  with "madder root"!', f"  {SAID.upper()}\n",
     unicodedata.normalize("NFD", SAID), "Wool is dyed with \"madder\u00a0root\" …"]
)  # fmt: skip
def test_spacing_case_typography_and_closing_marks_make_no_other_statement(again: str) -> None:
    assert content_hash(again) == content_hash(SAID)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The flag is on.", "The flag is on?"),
        ("The limit is 5 MB.", "The limit is 5 Mb."),
        ("The laser emits 5 mW.", "The laser emits 5 MW."),
        ("The area is 5*3.", "The area is 5 3."),
        ("...", "!!!"),
    ],
)
def test_what_says_something_else_has_another_hash(a: str, b: str) -> None:
    assert content_hash(a) != content_hash(b)


@pytest.mark.parametrize("again", ["Wool is dyed with madder", "WOOL is dyed with madder !"])
def test_a_forgotten_statement_stays_forgotten_without_its_full_stop(
    house: House, neighbour: House, again: str
) -> None:
    said = {"content": "Wool is dyed with madder."}
    memory = house.agent.post("memories", said).json()["memory"]["id"]
    house.admin.post("memories/forget", {"ids": [memory], "confirm": True})
    assert house.agent.post("memories", {"content": again}).json()["outcome"] == "suppressed"
    assert neighbour.agent.post("memories", {"content": again}).json()["outcome"] == "created"


def former_hash(content: str) -> str:
    text = " ".join(unicodedata.normalize("NFC", content).split()).casefold()
    return hashlib.sha256(text.encode()).hexdigest()


def commit(house: House, content: str, **fields: Any) -> str:
    answer = house.agent.post("memories", {"content": content, **fields}).json()
    memory: str = answer["memory"]["id"]
    return memory


def age(house: House) -> None:
    """Store every hash of a workspace as the former rules made it."""
    with in_workspace(house.workspace):
        hashes: dict[str, str] = {}
        for model in (Memory, Observation):
            for row in model.objects.order_by("created_at"):
                hashes[row.content_hash] = former_hash(row.content)
                model.objects.filter(pk=row.pk).update(content_hash=former_hash(row.content))
        for suggestion in MergeSuggestion.objects.all():
            one, two = (hashes[name] for name in suggestion.wordings.split(":"))
            suggestion.wordings = wordings_of(one, two)
            suggestion.save()


def migrate(house: House) -> None:
    with in_workspace(house.workspace), connection.cursor() as cursor:
        rehash(cursor, house.workspace.pk)
        rehash_effects(cursor, house.workspace.pk)


def test_what_was_forgotten_under_the_former_hashes_stays_forgotten(house: House) -> None:
    memory = commit(house, "Wool is dyed with madder.")
    house.admin.post("memories/forget", {"ids": [memory], "confirm": True})
    age(house)
    again = {"content": "Wool is dyed with madder"}
    with in_workspace(house.workspace):
        assert not Memory.objects.filter(content_hash=content_hash(again["content"])).exists()
    migrate(house)
    assert house.agent.post("memories", again).json()["outcome"] == "suppressed"


def test_rejected_pairs_stay_rejected_and_live_twins_stay_two_rows(house: House) -> None:
    older = commit(house, "The deploy runs on Thursday.", provenance="user_stated")
    finer = {"content": "The deploy runs on Thursday at 14:00 UTC."}
    newer = house.agent.post("memories", finer).json()["memory"]["id"]
    (row,) = house.reader.get("merge-suggestions").json()["results"]
    house.reviewer.post(f"merge-suggestions/{row['id']}/reject", {})
    age(house)
    with in_workspace(house.workspace):
        twin = Memory.objects.get(pk=older)
        twin.pk, twin.content = newer.replace(newer[:4], "0000"), "The deploy runs on Thursday"
        twin.content_hash = former_hash(twin.content)
        twin.save(force_insert=True)
    migrate(house)
    with in_workspace(house.workspace):
        hashes = dict(Memory.objects.values_list("pk", "content_hash"))
        assert hashes[Memory.objects.get(pk=older).pk] != hashes[Memory.objects.get(pk=twin.pk).pk]
        (suggestion,) = MergeSuggestion.objects.all()
        wanted = (content_hash(finer["content"]), content_hash("The deploy runs on Thursday"))
        assert suggestion.wordings == wordings_of(*wanted)


def test_each_row_is_hashed_from_its_own_text(house: House) -> None:
    """The former hash of both was one: 5 MB/s and 5 Mb/s."""
    big, small = "The link does 5 MB/s.", "The link does 5 Mb/s."
    first = commit(house, big, scope="a")
    second = commit(house, small, scope="b")
    with in_workspace(house.workspace):
        Observation.objects.filter(memory=first).update(content=small)
    age(house)
    migrate(house)
    with in_workspace(house.workspace):
        hashes = {
            str(pk): digest for pk, digest in Memory.objects.values_list("pk", "content_hash")
        }
        assert hashes == {first: content_hash(big), second: content_hash(small)}
        assert Observation.objects.get(memory=first).content_hash == content_hash(small)


def test_a_hash_that_another_row_gives_up_is_taken(house: House) -> None:
    """The younger row holds the older one's new hash until it is hashed again itself."""
    older = commit(house, "The link does 5 mb.")
    younger = commit(house, "The relay does 7 mb.")
    with in_workspace(house.workspace):
        Memory.objects.filter(pk=younger).update(content="The link does 5 Mb")
    age(house)
    migrate(house)
    with in_workspace(house.workspace):
        hashes = {
            str(pk): digest for pk, digest in Memory.objects.values_list("pk", "content_hash")
        }
    wanted = {older: "The link does 5 mb", younger: "The link does 5 Mb"}
    assert hashes == {pk: content_hash(text) for pk, text in wanted.items()}


def test_a_verdict_given_before_can_be_undone(house: House) -> None:
    older = commit(house, "The kiln is fired at 900 degrees.")
    newer = commit(house, "The kiln is fired at 1000 degrees.")
    card = house.agent.post("conflicts", {"memory_ids": [older, newer], "note": ""}).json()
    decided = {"verdict": "yes"}
    answer = house.reviewer.post(f"conflicts/{card['id']}/resolve", decided)
    assert answer.status_code == 200, answer.json()
    age(house)
    with in_workspace(house.workspace):
        decision = Decision.objects.get()
        contents = {str(m.pk): m.content for m in Memory.objects.all()}
        for effect in decision.effects:
            effect["content_hash"] = former_hash(contents[effect["memory"]])
        decision.save()
    migrate(house)
    assert house.reviewer.post(f"conflicts/{card['id']}/undo", {}).status_code == 200
    assert house.reader.get(f"memories/{older}").json()["state"] == "active"


HIDDEN = {
    "zero width": "Wool is d\u200byed wi\u200dth mad\u2060der.\ufeff",
    "soft hyphens": "Wo\u00adol is dy\u00aded with mad\u00adder.",
    "full width": "Ｗｏｏｌ　ｉｓ　ｄｙｅｄ　ｗｉｔｈ　ｍａｄｄｅｒ．",
    "direction and variation": "\u202eWool\ufe0f is dyed\u034f with \U000e0061madder",
}


@pytest.mark.parametrize("spelling", HIDDEN)
def test_a_forgotten_statement_stays_forgotten_however_it_is_typed(
    house: House, neighbour: House, spelling: str
) -> None:
    memory = commit(house, "Wool is dyed with madder.")
    house.admin.post("memories/forget", {"ids": [memory], "confirm": True})
    again = {"content": HIDDEN[spelling]}
    assert house.agent.post("memories", again).json()["outcome"] == "suppressed"
    assert neighbour.agent.post("memories", again).json()["outcome"] == "created"


def test_rules_read_what_people_see() -> None:
    plain = "The wool of the north mill is dyed with madder."
    finer = "The wo\u00adol of the ｎｏｒｔｈ mill i\u200bs dyed with madder at 14:00 UTC."
    assert compare(plain, finer).relation == compare(plain, visible_of(finer)).relation == "refines"


def visible_of(text: str) -> str:
    return text.replace("\u00ad", "").replace("\u200b", "").replace("ｎｏｒｔｈ", "north")


@pytest.mark.parametrize(
    ("a", "b"), [("The area is 10².", "The area is 102."), ("Take ½ dose.", "Take 1⁄2 dose.")]
)
def test_characters_of_another_meaning_are_not_made_alike(a: str, b: str) -> None:
    assert content_hash(a) != content_hash(b)


def test_effects_of_many_decisions_are_renamed_page_by_page(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(effects_again, "BATCH", 2)
    memory = commit(house, "The kiln is fired at 900 degrees.")
    former = former_hash("The kiln is fired at 900 degrees.")
    with in_workspace(house.workspace):
        answer = house.agent.post("conflicts", {"memory_ids": [memory, commit(house, "Other.")]})
        for _ in range(5):
            Decision.objects.create(
                conflict_id=answer.json()["id"], verdict="keep", decided_at=timezone.now(),
                undone_at=timezone.now(),
                effects=[{"memory": memory, "content_hash": former}],
            )  # fmt: skip
        with CaptureQueriesContext(connection) as asked, connection.cursor() as cursor:
            rehash_effects(cursor, house.workspace.pk)
        pages = [q["sql"] for q in asked if "FROM conflicts_decision" in q["sql"]]
        assert len(pages) == 4
        assert all("LIMIT 2" in sql for sql in pages)
        today = content_hash("The kiln is fired at 900 degrees.")
        for decision in Decision.objects.all():
            assert decision.effects[0]["content_hash"] == today
