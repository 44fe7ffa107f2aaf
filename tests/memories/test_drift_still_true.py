"""After an answer: what stays answered, and what is drift again."""

from __future__ import annotations

from uuid import UUID

import pytest
from django.utils import timezone

from engram.kernel.actors import SYSTEM
from memories.core.drift.accepted import NoteWords, is_as_accepted, passage_of
from memories.core.drift.parts import parts_of
from memories.core.drift.passages import statements_of
from memories.core.drift.verdict import Verdict
from memories.services.drift.reopen import reopen_answer
from tests.conftest import Tenant
from tests.memories.drift_world import (
    AFTER,
    BEFORE,
    SIGNER,
    SIGNING,
    UNSIGNED,
    check,
    drifted,
    errors,
    put,
    recall,
    remember,
    resolve,
    supports,
    types,
)


def test_after_a_resolution_a_new_row_opens_when_the_note_changes_again(tenant: Tenant) -> None:
    """An answered error must not keep a later change of the note from being seen (pitfall 10)."""
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true", note="checked").status_code == 200
    recall(tenant)
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []
    put(tenant, BEFORE.replace("is an open blocker for", "does not concern"))
    check(tenant)
    recall(tenant)
    [again] = errors(tenant.reader)
    assert again["id"] != row["id"]


def test_still_true_of_one_removed_sentence_is_not_said_of_the_next(tenant: Tenant) -> None:
    both = "# Pump\n\nThe red pump stops at 85 degrees.\n\nOttilie checks the red pump in May."
    rest = "\n\nThe hall is swept on Mondays.\n\nVisitors sign the book.\n"
    put(tenant, both + rest)
    remember(tenant, "The red pump stops at 85 degrees; Ottilie checks it in May ([[release]]).")
    check(tenant)
    put(tenant, both.replace("The red pump stops at 85 degrees.", "") + rest)
    recall(tenant, "red pump Ottilie")
    [row] = errors(tenant.reader)
    assert row["context"]["is_removed"]
    resolve(tenant.reviewer, row["id"], "still_true")
    put(tenant, both.replace("The red pump stops at 85 degrees.", "") + rest + "\nMore.")
    check(tenant)
    recall(tenant, "red pump Ottilie")
    assert errors(tenant.reader) == []
    put(tenant, "# Pump" + rest)
    check(tenant)
    recall(tenant, "red pump Ottilie")
    assert len(errors(tenant.reader)) == 1


def test_updated_opens_a_new_row_while_memory_and_note_still_disagree(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "updated").status_code == 200
    recall(tenant)
    [again] = errors(tenant.reader)
    assert again["id"] != row["id"]


def test_repeating_a_statement_or_setting_answers_keeps_drift_and_signals(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    path = f"memories/{memory_id}"
    signal = {"source": "git", "evidence": {"commit": "8d1f"}}
    assert tenant.agent.post(f"{path}/signals", signal).status_code == 201
    both = ["memory_drift", "memory_external_signal"]
    assert types(tenant) == both
    assert remember(tenant) == memory_id
    assert types(tenant) == both
    answers = {"answers": [{"question": "Who books the rooms?", "answer": "Ines"}]}
    assert tenant.reviewer.patch(path, answers).status_code == 200
    check(tenant)
    assert types(tenant) == both
    assert tenant.reviewer.patch(path, {"content": SIGNER}).status_code == 200
    assert types(tenant) == []


def test_repeating_a_statement_that_the_note_lost_keeps_what_it_leaned_on(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant, SIGNER)
    check(tenant)
    put(tenant, UNSIGNED)
    assert remember(tenant, SIGNER) == memory_id
    check(tenant)
    recall(tenant, SIGNING)
    assert types(tenant) == ["memory_drift"]


def test_still_true_that_is_taken_back_waits_after_the_next_check(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    reopen_answer(tenant.workspace, UUID(row["id"]), actor=SYSTEM, now=timezone.now())
    assert check(tenant) == 1
    recall(tenant)
    assert [one["id"] for one in errors(tenant.reader)] == [row["id"]]


def test_still_true_holds_while_the_note_changes_elsewhere(tenant: Tenant) -> None:
    drifted(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    put(tenant, AFTER.replace("Tuesdays", "Fridays"))
    recall(tenant)
    assert errors(tenant.reader) == []
    assert supports(tenant)[0].checked_version == 3


def test_after_still_true_each_other_text_in_this_place_is_drift(tenant: Tenant) -> None:
    def note(time: str) -> str:
        return f"# Ferries\n\nThe ferry number 4100 leaves at {time}.\n\nTickets are sold on board."

    put(tenant, note("14:00"))
    remember(tenant, "Ferry 4100 leaves at 14:00, see [[work/release]].")
    check(tenant)
    found = []
    for time in ("16:30", "19:45", "21:15"):
        put(tenant, note(time))
        recall(tenant, "When does ferry 4100 leave?")
        [row] = errors(tenant.reader)
        found.append(row["context"]["passage"]["text"])
        assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    assert found == [f"The ferry number 4100 leaves at {t}." for t in ("16:30", "19:45", "21:15")]


SOLD = """# Ferries

The ferry number 4100 leaves at 14:00. Tickets are sold on board.

## Crew

Ines pilots the ferry.
"""
FERRY = "Ferry 4100 leaves at 14:00, see [[work/release]]."


def answered_still_true(tenant: Tenant, after: str) -> None:
    put(tenant, SOLD)
    remember(tenant, FERRY)
    check(tenant)
    put(tenant, after)
    assert asked_again(tenant)
    [row] = errors(tenant.reader)
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    assert not asked_again(tenant)


def asked_again(tenant: Tenant) -> bool:
    check(tenant)
    recall(tenant, "When does ferry 4100 leave?")
    return errors(tenant.reader) != []


MOVED = SOLD.replace("14:00", "16:30")
GONE = SOLD.replace("The ferry number 4100 leaves at 14:00. ", "")


@pytest.mark.parametrize("after", [MOVED, GONE])
def test_still_true_holds_while_unrelated_sentences_come_and_go(tenant: Tenant, after: str) -> None:
    answered_still_true(tenant, after)
    for added in ("Bicycles need a ticket. ", "The kiosk sells soup. ", "", "Dogs stay outside. "):
        put(tenant, after.replace("Tickets are", f"{added}Tickets are"))
        assert not asked_again(tenant), added


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("leaves at 16:30", "leaves at 19:45"),
        ("leaves at 16:30", "does not leave at 16:30"),
        ("Tickets are", "Since May ferry 4100 leaves at 21:15. Tickets are"),
    ],
)
def test_still_true_ends_when_the_note_says_something_else_about_the_memory(
    tenant: Tenant, old: str, new: str
) -> None:
    answered_still_true(tenant, MOVED)
    put(tenant, MOVED.replace(old, new))
    assert asked_again(tenant)


def test_still_true_of_a_statement_that_is_gone_ends_with_another_one(tenant: Tenant) -> None:
    answered_still_true(tenant, GONE)
    put(tenant, GONE.replace("Tickets are", "Ferry 4100 leaves at 21:15. Tickets are"))
    assert asked_again(tenant)


def test_a_verdict_that_nobody_was_shown_holds_no_answer() -> None:
    first, *_ = present = statements_of(MOVED)
    verdict = Verdict(True, 0.4, 0.9, (), sentence=first)
    shown = {"passage": passage_of(first), "bearing": "of then"}
    assert is_as_accepted(shown, verdict, "of now", present)
    assert not is_as_accepted(shown | {"bearing": None}, verdict, "of now", present)


def test_a_note_is_read_once_for_all_memories_that_link_it() -> None:
    words = NoteWords(statements_of(SOLD))
    one = words.bearing_on(FERRY, ())
    read = parts_of.cache_info()
    other = words.bearing_on("Ines pilots the ferry.", ())
    assert parts_of.cache_info() == read
    assert other != one
