"""Drift of structured notes: task lists, lines with labels, front matter, comments."""

from __future__ import annotations

import pytest

from engram.kernel.tenancy import in_workspace
from memories.core.answers import Answer
from memories.core.claims import compare
from memories.core.drift.passages import FIRST_FORM, statements_of
from memories.core.drift.support import support_of
from memories.core.drift.tasks import state_said
from memories.core.drift.verdict import Verdict
from memories.models import NoteSupport
from memories.services.drift.reading import score_statements
from tests.conftest import Tenant
from tests.memories.drift_world import check, errors, put, recall, remember, supports
from tests.memories.test_drift_core import judge

GARDEN = (
    "# Garden\n\n- [ ] Prune the cherry tree\n- [x] Repair the greenhouse\n- [ ] Pay the plumber\n"
)
PRUNED = GARDEN.replace("[ ] Prune", "[x] Prune")
BROKEN = GARDEN.replace("[x] Repair", "[ ] Repair")
SHEET = "# Choir\n\nConductor: Lena Voss\nHall: St. Mark\nFee: 120 EUR\nRehearsal: Tuesday\n"
CARD = "---\nstage: proposal\nkeeper: Omar Diaz\n---\n\n# Mill\n\nThe wheel turns in spring.\n"


def changed(memory: str, before: str, after: str, *answers: Answer) -> Verdict:
    return judge(f"{memory} [[n]].", after, before=before, answers=answers)


@pytest.mark.parametrize(
    ("memory", "after", "reason"),
    [
        ("The cherry tree still has to be pruned", PRUNED, "the task was open, and is done now"),
        ("The cherry tree has not been pruned", PRUNED, "the task was open, and is done now"),
        ("The greenhouse is repaired", BROKEN, "the task was done, and is open now"),
        ("Pruning the cherry tree is an open task", PRUNED, "the task was open, and is done now"),
    ],
)
def test_a_box_that_was_ticked_or_cleared_is_drift(memory: str, after: str, reason: str) -> None:
    found = changed(memory, GARDEN, after)
    assert (found.is_drifted, found.reasons) == (True, (reason,))
    assert {one.task for one in (found.sentence, found.before) if one} == {"open", "done"}
    assert not changed(memory, GARDEN, GARDEN).is_drifted


@pytest.mark.parametrize(
    ("memory", "after"),
    [
        ("The plumber is not paid", PRUNED),  # another item
        ("The cherry tree is pruned", PRUNED),  # what it says came true
        ("The cherry tree stands beside the pond", PRUNED),  # its thing, not its state
        ("Pruning the cherry tree takes an hour", PRUNED),
        ("The cherry tree still has to be pruned", f"{GARDEN}- [x] Mow the lawn\n"),
    ],
)
def test_a_box_of_something_else_is_no_drift(memory: str, after: str) -> None:
    assert not changed(memory, GARDEN, after).is_drifted


@pytest.mark.parametrize(
    "memory",
    ["The plumber is not paid", "The cherry tree has not been pruned yet"],
)
def test_an_open_task_does_not_contradict_that_it_is_not_done(memory: str) -> None:
    assert not judge(f"{memory} [[n]].", GARDEN, before=None).is_drifted
    assert not changed(memory, GARDEN, f"{GARDEN}\nThe pond is deep.\n").is_drifted


def test_what_is_to_be_done_does_not_contradict_that_it_is_not_done() -> None:
    pairs = [
        ("The boiler is not repaired", "Repair the boiler"),
        ("The boiler has not been serviced yet", "The boiler should be serviced"),
        ("The visas were not issued yet", "The visas must be issued by June"),
    ]
    assert {compare(*pair).relation for pair in pairs} == {"different"}
    denied = [
        ("The boiler is not serviced", "The boiler is serviced"),
        ("Do not open the valve", "Open the valve"),
        ("Parcels are not sent by bike", "Send parcels by bike"),
    ]
    assert {compare(*pair).relation for pair in denied} == {"contradicts"}


def test_memories_say_that_a_task_is_open_done_or_neither() -> None:
    said = {text: state_said(text) for text in (
        "Order the tiles", "The tiles must be ordered", "The tiles are not ordered yet",
        "The tiles were ordered in May", "The order of the tiles is complete", "The tiles shine",
        "The gate of tiles is open",
    )}  # fmt: skip
    assert list(said.values()) == ["open", "open", "open", "done", "done", "", "done"]


def test_a_changed_line_flags_no_memory_of_the_lines_beside_it() -> None:
    after = SHEET.replace("120 EUR", "150 EUR")
    assert changed("The choir's fee is 120 EUR", SHEET, after).is_drifted
    for memory in ("The choir's conductor is Lena Voss", "The choir has its rehearsal on Tuesday"):
        assert not changed(memory, SHEET, after).is_drifted, memory


def test_a_changed_field_of_front_matter_is_drift_of_what_it_said() -> None:
    after = CARD.replace("Omar Diaz", "Ida Lund")
    assert changed("The keeper of the mill is Omar Diaz", CARD, after).is_drifted
    assert not changed("The stage of the mill is proposal", CARD, after).is_drifted
    assert not changed("The wheel of the mill turns in spring", CARD, after).is_drifted


def test_fields_that_move_into_front_matter_are_not_removed() -> None:
    body = "# Mill\n\nstage: proposal\nkeeper: Omar Diaz\n\nThe wheel turns in spring.\n"
    assert not changed("The keeper of the mill is Omar Diaz", body, CARD).is_drifted
    gone = body.replace("keeper: Omar Diaz\n", "")
    assert changed("The keeper of the mill is Omar Diaz", body, gone).is_drifted


def test_a_sentence_in_a_comment_is_no_longer_said() -> None:
    said = "# Mill\n\nThe wheel turns in spring.\n\nVisitors may not touch the wheel.\n"
    hidden = said.replace(
        "Visitors may not touch the wheel.", "%% Visitors may not touch the wheel. %%"
    )
    assert changed("Visitors may not touch the wheel", said, hidden).is_removed


def test_an_answer_is_not_missed_in_a_statement_about_something_else() -> None:
    answer = Answer("Who leads the [[archive]]?", "Nora Falk")
    note = "The archive is in the cellar.\n\nStray cats are fed by Nora Falk.\n"
    found = changed(
        "Nora Falk leads the archive", note, note.replace("Nora Falk", "Piet Roos"), answer
    )
    assert not any("archive" in reason for reason in found.reasons)
    led = "Nora Falk leads the archive.\n\nIt is in the cellar.\n"
    found = changed(
        "Nora Falk leads the archive", led, led.replace("Nora Falk", "Piet Roos"), answer
    )
    assert found.is_drifted
    assert not any("[[" in reason for reason in found.reasons)


def test_supports_of_notes_that_were_read_in_the_first_form_are_not_flagged(
    tenant: Tenant,
) -> None:
    """As before the upgrade: joined lines, no front matter, comments as text, no boxes."""
    note = (
        "---\nvenue: old town\n---\n\n"
        + SHEET
        + "\n<!-- The tour goes to Riga. -->\n\nAltos wait.\n"
    )
    put(tenant, note, "choir.md")
    ids = [
        remember(tenant, f"{said} ([[choir]]).")
        for said in ("The choir's conductor is Lena Voss", "The tour of the choir goes to Riga")
    ]
    check(tenant)
    store_as_first_form(tenant, note)
    put(tenant, f"{note}\nSopranos stand right.\n", "choir.md")
    check(tenant)
    assert all(row.checked_version == 2 for row in supports(tenant))
    recall(tenant, "choir conductor tour Riga")
    assert errors(tenant.reader) == []
    put(tenant, note.replace("Lena Voss", "Ute Kern"), "choir.md")
    check(tenant)
    with in_workspace(tenant.workspace):
        flagged = NoteSupport.objects.filter(is_drifted=True).values_list("memory_id", flat=True)
        assert [str(pk) for pk in flagged] == [ids[0]]


def store_as_first_form(tenant: Tenant, note: str) -> None:
    """Store what memories lean on as it was read before statements had their present form."""

    with in_workspace(tenant.workspace):
        for row in NoteSupport.objects.select_related("memory"):
            said = statements_of(note, form=FIRST_FORM)
            [scored] = score_statements([row.memory.content], said, row.model)
            record = support_of(row.memory.content, scored).as_record()
            del record["form"]
            for sentence in record["sentences"]:
                del sentence["task"]
            row.support = record
            row.save(update_fields=["support"])
