"""What identifies a statement."""

from __future__ import annotations

import unicodedata
from typing import Any

import pytest

from memories.core.claims import compare
from memories.core.content import content_hash
from tests.conftest import Tenant

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
    tenant: Tenant, neighbour: Tenant, again: str
) -> None:
    said = {"content": "Wool is dyed with madder."}
    memory = tenant.agent.post("memories", said).json()["memory"]["id"]
    tenant.admin.post("memories/forget", {"ids": [memory], "confirm": True})
    assert tenant.agent.post("memories", {"content": again}).json()["outcome"] == "suppressed"
    assert neighbour.agent.post("memories", {"content": again}).json()["outcome"] == "created"


def commit(tenant: Tenant, content: str, **fields: Any) -> str:
    answer = tenant.agent.post("memories", {"content": content, **fields}).json()
    memory: str = answer["memory"]["id"]
    return memory


HIDDEN = {
    "zero width": "Wool is d\u200byed wi\u200dth mad\u2060der.\ufeff",
    "soft hyphens": "Wo\u00adol is dy\u00aded with mad\u00adder.",
    "full width": "Ｗｏｏｌ　ｉｓ　ｄｙｅｄ　ｗｉｔｈ　ｍａｄｄｅｒ．",
    "direction and variation": "\u202eWool\ufe0f is dyed\u034f with \U000e0061madder",
}


@pytest.mark.parametrize("spelling", HIDDEN)
def test_a_forgotten_statement_stays_forgotten_however_it_is_typed(
    tenant: Tenant, neighbour: Tenant, spelling: str
) -> None:
    memory = commit(tenant, "Wool is dyed with madder.")
    tenant.admin.post("memories/forget", {"ids": [memory], "confirm": True})
    again = {"content": HIDDEN[spelling]}
    assert tenant.agent.post("memories", again).json()["outcome"] == "suppressed"
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


@pytest.mark.parametrize(
    ("text", "digest"),
    [
        (SAID, "1b87d1434c5db98aa774f7a889d1a9600bcd17798c501bbdcc513ddb0bdd694f"),
        (
            "The laser emits 5 mW.",
            "44f5824d2ed71d4d1549e82dadbe8ae554b6084a063a4b380a35aa1a71a19018",
        ),
        ("Take ½ dose at 10²…", "c900131240dbd91a137603630ec414b9c4d906f9e8ae9abfa89d54a32d782f96"),
        (
            "Straße №7, ﬁrst ＦＬＯＯＲ — “left”!",
            "8e42982a4fb6e9192bc6fdf2581b0fb878863da13d92c9b2bbd3555c8d47c0af",
        ),
    ],
)
def test_stored_hashes_are_those_of_today(text: str, digest: str) -> None:
    """Who changes the rules writes a migration that hashes all stored statements again.

    It keeps what was forgotten forgotten, rejected pairs rejected and verdicts undoable: hashes
    stand in memories, observations, revisions, wordings of suggestions and effects of decisions.
    """
    assert content_hash(text) == digest
