"""Drift of what a note itself says to hold no longer, and of tasks in the manner of outliners."""

from __future__ import annotations

from dataclasses import replace

import pytest

from memories.core.drift.passages import SECOND_FORM, statements_of
from memories.core.drift.support import Support, support_of
from memories.core.drift.verdict import Verdict
from memories.core.drift.withdrawals import withdrawal_in_line, withdrawal_in_title
from memories.services.drift.reading import score_statements
from tests.conftest import Tenant
from tests.memories.drift_world import check, errors, put, recall, remember, resolve
from tests.memories.test_drift_core import MODEL, judge

SAYS = "The ferry leaves from pier 4."
NOTE = f"# Ferry\n\n{SAYS}\n\n## Tickets\n\nTickets are sold on board.\n"
MEMORY = "The ferry leaves from pier 4 [[ferry]]."


def changed(after: str, memory: str = MEMORY, before: str = NOTE) -> Verdict:
    return judge(memory, after, before=before)


@pytest.mark.parametrize(
    ("after", "words"),
    [
        (NOTE.replace("# Ferry", "# Ferry (obsolete)", 1), "Ferry (obsolete)"),
        (NOTE.replace("# Ferry", "# [DEPRECATED] Ferry", 1), "[DEPRECATED] Ferry"),
        (f"> [!warning] This page is out of date\n\n{NOTE}", "This page is out of date"),
        (f"> [!caution]\n> No longer valid, see [[b]].\n\n{NOTE}", "No longer valid, see b."),
        (NOTE.replace("\n\nThe", "\n\n**Deprecated** since May\n\nThe", 1), "Deprecated since May"),
        (NOTE.replace("\n\nThe", "\n\nDate: 4 May\nStatus: superseded by [[b]]\n\nThe", 1),
         "Status: superseded by b"),
        (NOTE.replace("\n\nThe", "\n\n## Status\n\nSuperseded by [[b]]\n\n## Context\n\nThe", 1),
         "Superseded by b"),
        (f"---\nstatus: deprecated\n---\n{NOTE}", "status: deprecated"),
        (f"---\nsuperseded_by: boats\n---\n{NOTE}", "superseded_by: boats"),
        (f"---\ntags: [port, obsolete]\n---\n{NOTE}", "obsolete"),
        (f"# Ferry\n\n## Until 2024 (no longer used)\n\n{SAYS}\n\n## Now\n\nThere is a bridge.\n",
         "Until 2024 (no longer used)"),
    ],
)  # fmt: skip
def test_what_the_note_has_come_to_withdraw_is_drift(after: str, words: str) -> None:
    found = changed(after)
    assert (found.is_drifted, found.reasons) == (True, (f"the note says of this part: {words}",))
    assert found.sentence
    assert (found.sentence.text, found.sentence.withdrawn) == (SAYS, words)


@pytest.mark.parametrize(
    "after",
    [
        f"---\nstatus: final\nobsolete: false\n---\n{NOTE}",
        NOTE.replace("## Tickets", "## Tickets (obsolete)"),
        NOTE.replace("Tickets are", "Deprecated: tickets are"),
        NOTE.replace("\n\nThe", "\n\nSuperseded timetables hang at the pier. The", 1),
        NOTE.replace("\n\n## T", "\n\nThis page is obsolete from June on.\n\n## T"),
        f"{NOTE}\n## Old timetable (obsolete)\n\n{SAYS}\n",
        f"> [!note] Read this first\n> The harbour is shut in March.\n\n{NOTE}",
    ],
)
def test_what_is_withdrawn_elsewhere_in_the_note_is_no_drift(after: str) -> None:
    assert not changed(after).is_drifted


def test_a_part_that_was_withdrawn_before_is_no_drift() -> None:
    before = NOTE.replace("# Ferry", "# Ferry (obsolete)", 1)
    assert not changed(f"{before}\nThe harbour is shut in March.\n", before=before).is_drifted


def test_a_memory_that_says_so_itself_is_no_drift() -> None:
    memory = "The timetable that has the ferry leave from pier 4 is obsolete [[ferry]]."
    assert not changed(f"> [!warning] Obsolete\n\n{NOTE}", memory).is_drifted


def test_what_is_withdrawn_contradicts_no_memory_of_what_holds_now() -> None:
    old = NOTE.replace("pier 4", "pier 9")
    history = "\n## Until 2024 (obsolete)\n\nThe ferry leaves from pier 4.\n"
    memory = "The ferry leaves from pier 9 [[ferry]]."
    assert not changed(old + history, memory, before=old).is_drifted
    assert changed(old.replace("pier 9", "pier 4"), memory, before=old).is_drifted


@pytest.mark.parametrize(
    "line",
    [
        "Deprecated", "DEPRECATED: use the bridge", "Outdated, see boats.", "Obsolete since 2024",
        "⚠️ Deprecated", "#obsolete", "Replaced by boats", "Cancelled", "Not valid any more.",
        "This section no longer applies", "This document has been superseded by boats",
        "The information below is outdated.", "Note: this page is now obsolete",
        "State: withdrawn", "No longer in use.",
    ],
)  # fmt: skip
def test_lines_that_withdraw_a_section(line: str) -> None:
    assert withdrawal_in_line(line)


@pytest.mark.parametrize(
    "line",
    [
        "Deprecated endpoints answer for a year", "Cancelled orders are refunded",
        "Outdated copies of this page circulate", "This page is not out of date",
        "This page is about obsolete timetables", "Replaced parts are thrown away",
        "Rejected by the committee were two proposals, which are listed below" * 6,
        "Status: open", "The old timetable is deprecated", "",
    ],
)  # fmt: skip
def test_lines_that_are_about_something_else(line: str) -> None:
    assert not withdrawal_in_line(line)


def test_headings_that_withdraw_their_section() -> None:
    titles = ["Ferry (deprecated)", "Ferry [obsolete since 2024]", "Ferry \u2013 outdated",
              "Obsolete timetables", "No longer used", "DEPRECATED: ferry"]  # fmt: skip
    assert [title for title in titles if withdrawal_in_title(title)] == titles
    others = ["Ferry (summer)", "What becomes obsolete", "Cancelled orders", "Ferry", ""]
    assert not any(map(withdrawal_in_title, others))


def test_supports_of_notes_that_were_read_without_withdrawals_are_not_flagged() -> None:
    after = f"> [!warning] Obsolete\n\n{NOTE}"
    texts = statements_of(NOTE, form=SECOND_FORM)
    stored = support_of(MEMORY, score_statements([MEMORY], texts, MODEL)[0])
    record = replace(stored, form=SECOND_FORM).as_record()
    assert Support.from_record(record).form == SECOND_FORM
    assert not any(one.withdrawn for one in statements_of(after, form=SECOND_FORM))
    assert all(one.withdrawn for one in statements_of(after))


def test_a_person_is_asked_again_when_the_note_is_withdrawn(tenant: Tenant) -> None:
    put(tenant, NOTE, "ferry.md")
    remember(tenant, MEMORY)
    check(tenant)
    put(tenant, f"> [!warning] Obsolete\n\n{NOTE}", "ferry.md")
    check(tenant)
    recall(tenant, "ferry pier")
    [row] = errors(tenant.reader)
    assert row["context"]["reasons"] == ["the note says of this part: Obsolete"]
    assert row["context"]["passage"]["withdrawn"] == "Obsolete"
    assert resolve(tenant.reviewer, row["id"], "still_true").status_code == 200
    put(tenant, f"> [!warning] Obsolete\n\n{NOTE}\nThe harbour is shut in March.\n", "ferry.md")
    check(tenant)
    recall(tenant, "ferry pier")
    assert errors(tenant.reader) == []
    put(tenant, f"> [!warning] No longer valid: the ferry was sold\n\n{NOTE}", "ferry.md")
    check(tenant)
    recall(tenant, "ferry pier")
    assert len(errors(tenant.reader)) == 1


@pytest.mark.parametrize(
    ("before", "after", "reason"),
    [
        ("- TODO pay the deposit", "- DONE pay the deposit", "the task was open, and is done now"),
        ("- LATER pay the deposit", "- CANCELED pay the deposit",
         "the task was open, and is cancelled now"),
        ("- [ ] pay the deposit", "- [-] pay the deposit",
         "the task was open, and is cancelled now"),
        ("- [/] pay the deposit", "- [x] pay the deposit", "the task was open, and is done now"),
    ],
)  # fmt: skip
def test_tasks_in_the_manner_of_outliners_are_read(before: str, after: str, reason: str) -> None:
    memory = "The deposit still has to be paid [[trip]]."
    notes = [f"# Trip\n\n{line}\n- TODO book the hotel\n" for line in (before, after)]
    assert changed(notes[1], memory, before=notes[0]).reasons == (reason,)
    assert not changed(f"{notes[0]}- DONE pack\n", memory, before=notes[0]).is_drifted


def test_tasks_are_read_as_they_were_stored() -> None:
    [narrow] = statements_of("- TODO pay the deposit", form=SECOND_FORM)
    [read] = statements_of("- TODO pay the deposit")
    assert (narrow.text, narrow.task) == ("TODO pay the deposit", "")
    assert (read.text, read.task) == ("pay the deposit", "open")
