"""A link with a heading that its note does not have leads to the note, and says so."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from memories.core.note_anchors import anchors_of
from tests.conftest import Caller, Tenant

HOUSE = """---
title: House rules
tags: x
---
# The house

## Kitchen & bath
Wash up. ^wash

Garden
------

### Tools
```
# Not a heading
```
## Kitchen & bath 2
"""


@pytest.mark.parametrize(
    "anchor",
    ["Kitchen & bath", "kitchen bath", "The house#Kitchen & bath", "Garden#Tools", "Tools",
     "Garden", "Kitchen & bath 2", "^wash", "^Wash", "The house#Garden#Tools", "&"],
)  # fmt: skip
def test_an_anchor_of_the_note_is_found(anchor: str) -> None:
    assert anchors_of(HOUSE).has(anchor)


@pytest.mark.parametrize(
    "anchor",
    ["Cellar", "Kitchen", "Kitchen & bath#Tools", "Tools#Garden", "Not a heading", "tags x",
     "^cellar", "^wash up", "House rules"],
)  # fmt: skip
def test_an_anchor_that_the_note_does_not_have_is_not_found(anchor: str) -> None:
    assert not anchors_of(HOUSE).has(anchor)


@pytest.mark.parametrize(
    ("anchor", "is_there"),
    [("Rules", True), ("Rules #rules", True), ("Rules rules", True), ("Rules#rules", False),
     ("Prices#Rules", True), ("Prices#Rules #rules #x", True), ("Rules #other", False),
     ("Prices #Rules", True), ("C", False), ("only", True), ("#a #b", True), ("money", False),
     ("Ticket", False), ("Ticket 12", True)],
)  # fmt: skip
def test_a_heading_is_found_with_and_without_the_tags_at_its_end(
    anchor: str, is_there: bool
) -> None:
    note = (
        "# Prices #money\n## Rules #rules #x\n## Rules #rules\n## only\n## #a #b\n## Ticket #12\n"
    )
    assert anchors_of(note).has(anchor) == is_there


def put(caller: Caller, path: str, content: str) -> dict[str, Any]:
    answer = caller._send("put", f"notes/{path}", {"content": content}, {})
    assert answer.status_code in {200, 201}
    body: dict[str, Any] = answer.json()
    return body


def test_a_link_to_a_missing_heading_leads_to_the_note_and_says_so(tenant: Tenant) -> None:
    put(tenant.agent, "house.md", HOUSE)
    said = put(tenant.agent, "a.md", "[[house#Cellar]] [[house#Garden]] [[house]] [[nowhere#x]]")
    assert [(one["target"], one["reason"], one["path"]) for one in said["unresolved_links"]] == [
        ("house", "heading_missing", "house.md"),
        ("nowhere", "unresolved", None),
    ]
    links = tenant.agent.get("notes/a.md").json()["links"]
    assert [(one["heading"], one["reason"]) for one in links] == [
        ("Cellar", "heading_missing"), ("Garden", None), ("", None), ("x", "unresolved"),
    ]  # fmt: skip
    put(tenant.agent, "house.md", f"{HOUSE}# Cellar\n")
    links = tenant.agent.get("notes/a.md").json()["links"]
    assert links[0]["reason"] is None
    assert [one["path"] for one in tenant.agent.get("notes/house.md").json()["backlinks"]["notes"]]


def test_a_link_of_a_memory_says_so_too(tenant: Tenant) -> None:
    put(tenant.agent, "house.md", HOUSE)
    memory = tenant.agent.post("memories", {"content": "Ole keeps the key, see [[house#Cellar]]."})
    links = tenant.agent.get(f"memories/{memory.json()['memory']['id']}/note-links").json()["links"]
    assert [(one["path"], one["reason"]) for one in links] == [("house.md", "heading_missing")]


def test_many_linked_notes_take_as_many_queries_as_one(tenant: Tenant) -> None:
    counts = []
    for n in (1, 30):
        for i in range(n):
            put(tenant.agent, f"n{i}.md", "# A")
        put(tenant.agent, "a.md", " ".join(f"[[n{i}#B]]" for i in range(n)))
        with CaptureQueriesContext(connection) as queries:
            links = tenant.agent.get("notes/a.md").json()["links"]
        assert [one["reason"] for one in links] == ["heading_missing"] * n
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_a_link_by_the_title_of_an_outliners_page_leads_to_it(tenant: Tenant) -> None:
    put(tenant.agent, "pages/f1.md", "title:: Ovens of the north\n\n- ## Heat #oven\n- x")
    links = put(tenant.agent, "a.md", "[[Ovens of the north#Heat]] [[Ovens]]")["unresolved_links"]
    assert [(link["target"], link["reason"]) for link in links] == [("Ovens", "unresolved")]
