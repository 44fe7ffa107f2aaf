"""Drift from the note to the list of errors: found, refreshed, reported, resolved by itself."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from engram.kernel.tenancy import in_workspace
from memories.core.drift.passages import MAX_STATEMENTS
from memories.core.drift.verdict import CERTAIN, FROM_THE_START
from memories.models import NoteSupport, PredictionError
from memories.services.drift.due import mark_due
from memories.services.drift.report import report_drift, report_served
from memories.services.notes import links
from memories.services.recall.log import count_recalls
from memories.tasks import sweep_notes
from tests.conftest import Tenant
from tests.memories.drift_world import (
    AFTER,
    BEFORE,
    MEMORY,
    PATH,
    SIGNER,
    SIGNING,
    UNSIGNED,
    check,
    drifted,
    errors,
    give,
    put,
    recall,
    remember,
    resolve,
    stored,
    supports,
)


def test_a_note_that_agrees_gives_no_error(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant)
    assert check(tenant) == 1
    put(tenant, BEFORE.replace("Tuesdays", "Fridays").replace("Ines", "Zoe"))
    assert memory_id in recall(tenant)
    assert errors(tenant.reader) == []


def test_a_removed_sentence_is_reported_as_removed(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant, SIGNER)
    check(tenant)
    put(tenant, UNSIGNED)
    recall(tenant, SIGNING)
    context = errors(tenant.reader)[0]["context"]
    assert (context["is_removed"], context["passage"]) == (True, None)
    assert context["before"]["text"] == "Marek signs the release notes."
    assert context["reasons"][0] == "the supporting sentence was removed"
    drifted(tenant)
    assert errors(tenant.reader)[0]["context"]["is_removed"] is False


def test_a_changed_note_gives_an_error_with_memory_path_and_passage(tenant: Tenant) -> None:
    """A note that calls a blocker resolved must not leave its memory unquestioned (pitfall 10)."""
    memory_id = drifted(tenant, tags=["release"])
    [row] = errors(tenant.reader)
    assert (row["error_type"], row["memory_id"], row["note_path"]) == (
        "memory_drift", memory_id, PATH,
    )  # fmt: skip
    assert row["memory"]["content"] == MEMORY
    assert row["memory"]["tags"] == ["release"]
    assert row["query"] == f"memory:{memory_id}"
    assert 0 < row["cosine_distance"] < 2
    assert row["context"]["passage"] == {
        "heading": "Release", "text": "The licence review was resolved last week.",
    }  # fmt: skip
    assert row["context"]["before"]["text"].startswith("The licence review is an open blocker")
    assert row["context"]["reasons"]
    assert row["context"]["is_supported"] is True
    assert (row["resolved_at"], row["resolution"]) == (None, None)
    one = tenant.reader.get(f"prediction-errors/{row['id']}").json()
    assert one == row


def test_nothing_is_listed_before_the_memory_is_retrieved(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    put(tenant, AFTER)
    assert supports(tenant)[0].is_drifted
    assert errors(tenant.reader) == []
    recall(tenant, record=False)
    assert errors(tenant.reader) == []
    recall(tenant)
    assert len(errors(tenant.reader)) == 1


def test_a_note_changed_before_a_worker_has_read_the_support_is_compared_with_its_old_text(
    tenant: Tenant,
) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant)
    put(tenant, AFTER)
    assert memory_id in recall(tenant)
    [row] = errors(tenant.reader)
    assert row["context"]["before"]["text"].startswith("The licence review is an open blocker")


def test_context_sessions_and_their_prompts_report_drift_as_recall_does(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    put(tenant, AFTER)
    assert tenant.agent.post("context", {"task": MEMORY}).json()["memories"]
    [row] = errors(tenant.reader)
    assert (row["context"]["origin"], row["occurrences"]) == ("context", 1)
    started = tenant.agent.post("sessions", {"session_key": "s1", "context": MEMORY}).json()
    assert started["memories"]
    [row] = errors(tenant.reader)
    assert row["occurrences"] == 2
    assert tenant.agent.post("sessions/s1/prompts", {"prompt": MEMORY}).json()["memories"]
    [row] = errors(tenant.reader)
    assert row["occurrences"] == 3


def test_a_content_edit_resolves_and_a_tag_edit_does_not(tenant: Tenant) -> None:
    """Changed tags must not close an error whose statement is as wrong as before (pitfall 10)."""
    memory_id = drifted(tenant)
    assert tenant.agent.patch(f"memories/{memory_id}", {"tags": ["x"]}).status_code == 200
    assert len(errors(tenant.reader)) == 1
    text = "The licence review was resolved last week ([[work/release]])."
    assert tenant.agent.patch(f"memories/{memory_id}", {"content": text}).status_code == 200
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="true")
    assert row["resolution"] == "updated"
    check(tenant)
    recall(tenant)
    assert errors(tenant.reader) == []


def test_hot_retrieval_keeps_one_row(tenant: Tenant) -> None:
    """A memory that is recalled often must not fill the list with one error again (pitfall 10)."""
    drifted(tenant)
    before = stored(tenant)[0]
    recall(tenant)
    recall(tenant)
    [row] = stored(tenant)
    assert (row.pk, row.occurrences, row.detected_at) == (before.pk, 3, before.detected_at)
    assert row.last_seen_at > before.last_seen_at


def test_after_25_hours_there_is_still_one_open_row(tenant: Tenant) -> None:
    """An open error must not be listed a second time a day later (pitfall 10)."""
    memory_id = drifted(tenant)
    later = timezone.now() + timedelta(hours=25)
    with in_workspace(tenant.workspace):
        report_drift(tenant.workspace, [UUID(memory_id)], origin="recall", now=later)
    [row] = stored(tenant)
    assert (row.occurrences, row.last_seen_at) == (2, later)


def test_the_stronger_signal_stays(tenant: Tenant) -> None:
    drifted(tenant)
    with in_workspace(tenant.workspace):
        PredictionError.objects.update(weight=1.0, context={"kept": True})
    recall(tenant)
    [row] = stored(tenant)
    assert (row.weight, row.context, row.occurrences) == (1.0, {"kept": True}, 2)
    put(tenant, AFTER.replace("last week", "in May"))
    recall(tenant)
    [row] = stored(tenant)
    assert row.note_version == 3
    assert row.context["passage"]["text"] == "The licence review was resolved in May."


def test_a_note_that_agrees_again_resolves_by_itself(tenant: Tenant) -> None:
    drifted(tenant)
    put(tenant, BEFORE)
    assert errors(tenant.reader) == []
    [row] = errors(tenant.reader, resolved="true")
    assert row["resolution"] == "note_agrees"


def test_pointers_are_never_flagged(tenant: Tenant) -> None:
    """A memory that only says where to read on must not be called outdated (pitfall 11)."""
    put(tenant, BEFORE)
    pointer = remember(tenant, "What blocks the release is described in [[work/release]].")
    tagged = remember(tenant, tags=["promoted"])
    check(tenant)
    put(tenant, AFTER)
    assert {pointer, tagged} & set(recall(tenant, "what blocks the release", min_score=None))
    assert errors(tenant.reader) == []


def test_a_memory_that_becomes_a_pointer_is_resolved(tenant: Tenant) -> None:
    memory_id = drifted(tenant)
    tenant.agent.patch(f"memories/{memory_id}", {"tags": ["promoted"]})
    assert errors(tenant.reader) == []
    sweep_notes()
    [row] = errors(tenant.reader, resolved="all")
    assert row["resolution"] == "promoted"
    recall(tenant)
    assert errors(tenant.reader) == []


def test_switching_drift_off_reports_nothing(tenant: Tenant) -> None:
    put(tenant, BEFORE)
    remember(tenant)
    check(tenant)
    answer = tenant.admin.patch("workspace/settings", {"drift_enabled": False})
    assert answer.status_code == 200
    put(tenant, AFTER)
    recall(tenant)
    assert errors(tenant.reader) == []


def test_the_threshold_of_the_workspace_decides(tenant: Tenant) -> None:
    assert tenant.admin.patch("workspace/settings", {"drift_threshold": 0.99}).status_code == 422
    put(tenant, BEFORE)
    remember(tenant, "Marek signs the release notes ([[work/release]]).")
    check(tenant)
    tenant.admin.patch("workspace/settings", {"drift_threshold": 0.9})
    vague = BEFORE.replace("Marek signs the release notes.", "Marek signs what goes out.")
    put(tenant, vague)
    recall(tenant, "who signs release notes")
    assert errors(tenant.reader) == []
    tenant.admin.patch("workspace/settings", {"drift_threshold": 0.5})
    put(tenant, vague + "\nMore.")
    recall(tenant, "who signs release notes")
    assert len(errors(tenant.reader)) == 1


def test_a_recall_asks_as_many_queries_for_one_drift_as_for_ten(tenant: Tenant) -> None:
    counts = []
    for size in (1, 9):
        for n in range(size):
            put(tenant, BEFORE, f"area{size}{n}/release.md")
            remember(tenant, MEMORY.replace("work", f"area{size}{n}") + f" Team {size}{n}.")
        check(tenant)
        for n in range(size):
            put(tenant, AFTER, f"area{size}{n}/release.md")
        recall(tenant, k=20)
        with CaptureQueriesContext(
            connection,
        ) as asked:
            recall(tenant, k=20)
        counts.append(len(asked))
    assert len(stored(tenant)) == 10
    assert counts[0] == counts[1]


def long_note(items: int, new: int = 0, pump: str = "Pump 3 stops at 85 degrees.") -> str:
    told = [f"- Valve N{n} was read on day {n}" for n in range(new)]
    told += [f"- Valve {n} was read on day {n}" for n in range(items)]
    return "\n".join(["# Log", "", *told, "", pump, ""])


@pytest.mark.parametrize("items", [1990, MAX_STATEMENTS + 10])
def test_what_is_inserted_above_a_long_note_is_no_drift(tenant: Tenant, items: int) -> None:
    put(tenant, long_note(items), "work/log.md")
    remember(tenant, "Pump 3 stops at 85 degrees ([[work/log]]).")
    check(tenant)
    put(tenant, long_note(items, new=20), "work/log.md")
    check(tenant)
    assert [support.is_drifted for support in supports(tenant)] == [False]


def very_long_note(said: str) -> str:
    return f"# Log\n\n{said}\n\n" + "- Valve 3 was read\n" * (MAX_STATEMENTS + 10)


@pytest.mark.parametrize(
    ("after", "is_certain"),
    [("Pump 3 stops at 70 degrees.", True), ("Pump 3 was sold to the vineyard.", False),
     ("Shelves are white.", False)],
)  # fmt: skip
def test_drift_before_the_end_of_what_is_read_of_a_very_long_note_is_found(
    tenant: Tenant, after: str, is_certain: bool
) -> None:
    put(tenant, very_long_note("Pump 3 stops at 85 degrees."), "work/log.md")
    memory_id = remember(tenant, "Pump 3 stops at 85 degrees ([[work/log]]).")
    check(tenant)
    assert supports(tenant)[0].is_drifted is False
    put(tenant, very_long_note(after), "work/log.md")
    check(tenant)
    assert memory_id in recall(tenant, "pump 3 stops at 85 degrees")
    [error] = errors(tenant.reader)
    assert error["context"]["is_cut"] is True
    assert (error["weight"] == CERTAIN) is is_certain


def test_of_a_note_that_is_read_as_a_whole_nothing_is_said_to_be_cut(tenant: Tenant) -> None:
    drifted(tenant)
    assert [row["context"]["is_cut"] for row in errors(tenant.reader)] == [False]


def test_a_memory_that_was_recalled_before_its_changed_note_was_checked_is_reported_once(
    tenant: Tenant,
) -> None:
    memory_id, others = recalled_before_the_check(tenant)
    [error] = errors(tenant.reader)
    assert (error["memory_id"], error["occurrences"]) == (memory_id, 1)
    assert error["context"]["origin"] == "check"
    with in_workspace(tenant.workspace):
        report_served(tenant.workspace, [row.pk for row in others], now=timezone.now())
        mark_due(NoteSupport.objects.all(), now=timezone.now())
    check(tenant)
    assert [row["occurrences"] for row in errors(tenant.reader)] == [1]
    resolve(tenant.reviewer, error["id"], "updated")
    with in_workspace(tenant.workspace):
        mark_due(NoteSupport.objects.all(), now=timezone.now())
    check(tenant)
    assert errors(tenant.reader) == []


def recalled_before_the_check(tenant: Tenant) -> tuple[str, list[NoteSupport]]:
    """Recall a memory between an edit of its long note and the check; another one before it."""
    put(tenant, long_note(300), "work/log.md")
    memory_id = remember(tenant, "Pump 3 stops at 85 degrees ([[work/log]]).")
    check(tenant)
    recall(tenant, "pump 3 stops at 85 degrees")
    count_recalls(tenant.workspace)
    put(tenant, long_note(300, pump="Pump 3 stops at 70 degrees."), "work/log.md")
    assert recall(tenant, "pump 3 stops at 85 degrees") == [memory_id]
    assert errors(tenant.reader) == []
    check(tenant)
    return memory_id, supports(tenant)


def test_a_memory_that_was_recalled_before_its_note_changed_is_not_reported(
    tenant: Tenant,
) -> None:
    put(tenant, long_note(300), "work/log.md")
    remember(tenant, "Pump 3 stops at 85 degrees ([[work/log]]).")
    check(tenant)
    recall(tenant, "pump 3 stops at 85 degrees")
    put(tenant, long_note(300, pump="Pump 3 stops at 70 degrees."), "work/log.md")
    check(tenant)
    assert [row.is_drifted for row in supports(tenant)] == [True]
    assert errors(tenant.reader) == []


@pytest.mark.parametrize("how", ["recall", "context", "session", "prompt"])
def test_whatever_gave_a_memory_before_the_check_counts_also_when_it_was_counted(
    tenant: Tenant, how: str
) -> None:
    asked = "pump 3 stops at 85 degrees"
    put(tenant, long_note(300), "work/log.md")
    remember(tenant, "Pump 3 stops at 85 degrees ([[work/log]]).")
    check(tenant)
    if how == "prompt":  # of a session that was given the memory before
        give(tenant, "session", asked)
    put(tenant, long_note(300, pump="Pump 3 stops at 70 degrees."), "work/log.md")
    give(tenant, how, asked)
    count_recalls(tenant.workspace)
    check(tenant)
    assert len(errors(tenant.reader)) == 1


def test_drift_at_the_end_of_a_long_note_is_found(tenant: Tenant) -> None:
    put(tenant, long_note(2100), "work/log.md")
    remember(tenant, "Pump 3 stops at 85 degrees ([[work/log]]).")
    check(tenant)
    put(tenant, long_note(2100, pump="Pump 3 stops at 70 degrees."), "work/log.md")
    check(tenant)
    assert [support.is_drifted for support in supports(tenant)] == [True]


def test_a_memory_that_contradicts_its_note_from_the_start_is_reported_until_somebody_answers(
    tenant: Tenant,
) -> None:
    put(tenant, BEFORE)
    memory_id = remember(tenant, "Builds run on Fridays ([[work/release]]).")
    check(tenant)
    assert memory_id in recall(tenant, "when do builds run")
    [error] = errors(tenant.reader)
    assert (error["note_version"], error["context"]["before"]) == (1, None)
    assert error["context"]["reasons"][1] == FROM_THE_START
    assert error["context"]["passage"]["text"] == "Builds run on Tuesdays."
    put(tenant, f"{BEFORE}\nShelves are white.\n")
    check(tenant)
    assert [row["id"] for row in errors(tenant.reader)] == [error["id"]]
    resolve(tenant.reviewer, error["id"], "still_true")
    put(tenant, f"{BEFORE}\nShelves are grey.\n")
    check(tenant)
    recall(tenant, "when do builds run")
    assert errors(tenant.reader) == []


def test_renamed_sections_of_a_few_notes_are_looked_for(
    tenant: Tenant, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "FOLLOWED_NOTES_READ", 1)
    note = "# {0}\n\n## Closed\n\n- The {0} is closed on {1}.\n"
    for path, day in (("zoo", "Mondays"), ("spa", "Fridays")):
        put(tenant, note.format(path, day), f"{path}.md")
    memory_id = remember(
        tenant,
        "Closed on Mondays is the zoo ([[zoo#Closed]]), on Fridays the spa ([[spa#Closed]]).",
    )
    check(tenant)
    for path, day in (("zoo", "Mondays"), ("spa", "Fridays")):
        put(tenant, note.format(path, day).replace("## Closed", "## Days off"), f"{path}.md")
    found = tenant.reader.get(f"memories/{memory_id}/note-links").json()["links"]
    assert [(one["renamed_to"], one["reason"]) for one in found] == [
        ("Days off", None),
        (None, "heading_missing"),
    ]


def test_a_link_follows_its_section_to_a_new_name(tenant: Tenant) -> None:
    note = (
        "# Museum\n\n## Closed\n\n- Mondays\n- 24 December\n\n## Tickets\n\nA ticket is 9 euros.\n"
    )
    put(tenant, note, "museum.md")
    memory_id = remember(tenant, "The museum is closed on Mondays ([[museum#Closed]]).")
    check(tenant)

    def link() -> tuple[str, str | None, str | None]:
        [found] = tenant.reader.get(f"memories/{memory_id}/note-links").json()["links"]
        return found["heading"], found["renamed_to"], found["reason"]

    assert link() == ("Closed", None, None)
    put(tenant, note.replace("## Closed", "## Days off"), "museum.md")
    check(tenant)
    recall(tenant, "when is the museum closed")
    assert link() == ("Closed", "Days off", None)
    assert errors(tenant.reader) == []
    put(tenant, note.replace("## Closed", "## Open"), "museum.md")
    assert link() == ("Closed", None, "heading_missing")
    recall(tenant, "when is the museum closed")
    assert len(errors(tenant.reader)) == 1
