"""The pure part of drift: statements of Markdown, pointers, support, verdicts."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.answers import Answer
from memories.core.drift.calibration import CALIBRATIONS
from memories.core.drift.edits import edit_between, edits_of
from memories.core.drift.evidence import FEATURES, evidence_of
from memories.core.drift.opposition import opposition
from memories.core.drift.parts import parts_of, words_of
from memories.core.drift.passages import (
    FIRST_FORM,
    MAX_CHARS,
    MAX_STATEMENTS,
    THIRD_FORM,
    Statement,
    plain_of,
    statements_of,
    without_links,
)
from memories.core.drift.pointers import is_pointer
from memories.core.drift.support import Scored, Support, covered, support_of
from memories.core.drift.verdict import CERTAIN, FROM_THE_START, Verdict, has_drifted

MODEL = "all-MiniLM-L6-v2"
NOTE = """# Pump room

The room is cleaned on Mondays. Visitors sign the book.

## Alarms

- Pump 3 stops at 85 degrees
- Pump 4 has no alarm

| Valve | Position | Owner |
|---|---|---|
| V1 | open | Ines |
| V2 | closed | Tomas |

The key hangs behind the door. Lamps were replaced last year.
"""


def scored(memory: str, markdown: str) -> list[Scored]:
    """Statements with a stand-in for cosines: the share of the memory's words that they have."""
    wanted = words_of(without_links(memory)).keys()
    return [
        Scored(statement, 0.1 + 0.8 * len(wanted & covered(statement).keys()) / len(wanted))
        for statement in statements_of(markdown)
    ]


def judge(
    memory: str,
    after: str,
    *,
    before: str | None = NOTE,
    model: str = MODEL,
    tags: Sequence[str] = (),
    answers: Sequence[Answer] = (),
    threshold: float | None = None,
) -> Verdict:
    support = None if before is None else support_of(memory, scored(memory, before), answers)
    return has_drifted(
        memory,
        support,
        scored(memory, after),
        calibration=CALIBRATIONS.get(model),
        tags=tags,
        answers=answers,
        threshold=threshold,
    )


def test_struck_out_text_is_no_longer_said() -> None:
    note = "~~The shuttle leaves from the north gate.~~\n\n- ~~It is red.~~\n- It ~~waits~~ goes.\n"
    assert [s.text for s in statements_of(note)] == ["It goes."]
    memory = "The shuttle leaves from the north gate"
    said = "# Shuttle\n\nThe shuttle leaves from the north gate.\n\nBring a badge.\n"
    struck = said.replace("The shuttle leaves from the north gate.", "~~{}~~".format(f"{memory}."))
    assert not judge(memory, said, before=said).is_drifted
    assert judge(memory, struck, before=said).is_drifted


def test_statements_carry_their_headings_and_no_formatting() -> None:
    found = statements_of(NOTE)
    assert [(s.heading, s.text) for s in found[:4]] == [
        ("Pump room", "The room is cleaned on Mondays."),
        ("Pump room", "Visitors sign the book."),
        ("Pump room > Alarms", "Pump 3 stops at 85 degrees"),
        ("Pump room > Alarms", "Pump 4 has no alarm"),
    ]
    assert found[4].text == "V1: Position open, Owner Ines"
    bold = "**Pump** _3_ stops at `85` ==degrees== ([manual](http://x.test/a))"
    assert statements_of(bold) == (Statement("Pump 3 stops at 85 degrees (manual)"),)
    assert statements_of("Text", "A > B") == (Statement("Text", "A > B"),)


def test_fields_of_front_matter_are_statements_of_a_note() -> None:
    note = (
        "---\ntitle: Pump 3\ntags: [pump]\ncreated: 2026-01-04\nkeeper: '[[people/ines|Ines]]'\n"
        "parts: [rotor]\nseen:\n---\nThe pump is open.\n"
    )
    field, said = Statement("keeper: Ines", "Pump 3"), Statement("The pump is open.")
    assert statements_of(note) == (field, said)
    assert statements_of(f"{note}\n# Room\n\nIt is dry.\n")[0].heading == "Room"
    assert statements_of(note, form=FIRST_FORM) == (said,)


def test_a_labelled_line_begins_a_statement_and_other_lines_go_on() -> None:
    fields = "Status: open\n**Lead:** Ann\nBudget (EUR): 40\n"
    assert texts_of(fields) == ["Status: open", "Lead: Ann", "Budget (EUR): 40"]
    assert texts_of("lead: Ann\nand Bo\nsite: Ulm\n") == ["lead: Ann and Bo", "site: Ulm"]
    assert texts_of("We go where\nthe road ends: at the pier\n") == [
        "We go where the road ends: at the pier"
    ]
    assert texts_of("It opens at\n12: 30 and at 14:00\n") == ["It opens at 12: 30 and at 14:00"]
    assert [one.text for one in statements_of(fields, form=FIRST_FORM)] == [
        "Status: open Lead: Ann Budget (EUR): 40"
    ]


def test_comments_are_no_statements() -> None:
    note = "The pier is open. <!-- The pier is wet. -->\n\n%%\nBoats wait.\n%%\n\n`%%` is a mark.\n"
    assert texts_of(note) == ["The pier is open.", "%% is a mark."]


def test_a_task_keeps_the_state_of_its_box() -> None:
    note = "- [ ] Oil the gate. It squeaks.\n- [x] Sweep\n- Plain\n\nText.\n"
    assert [(one.text, one.task) for one in statements_of(note)] == [
        ("Oil the gate.", "open"), ("It squeaks.", ""), ("Sweep", "done"), ("Plain", ""),
        ("Text.", ""),
    ]  # fmt: skip


def texts_of(markdown: str) -> list[str]:
    return [one.text for one in statements_of(markdown)]


def test_code_is_read_line_by_line_and_never_as_headings_or_tables() -> None:
    assert [s.text for s in statements_of("```\n# no heading\n| no | table |\n```\nAfter.")] == [
        "no heading",
        "| no | table |",
        "After.",
    ]


def test_headings_and_fences_are_those_that_passages_have() -> None:
    note = "Billing\n=====\n\nInvoices are monthly.\n\n````\n```\n# comment\n```\n````\nEnd."
    assert [(s.heading, s.text) for s in statements_of(note)] == [
        ("Billing", "Invoices are monthly."),
        ("Billing", "comment"),
        ("Billing", "End."),
    ]


def test_a_note_of_any_size_gives_a_bounded_number_of_statements() -> None:
    assert len(statements_of("One. Two.\n" * 10_000)) == MAX_STATEMENTS
    assert {len(s.text) for s in statements_of("x" * 200_000)} == {600, 200_000 % 600}
    assert [len(s.text) for s in statements_of("x" * 200_000, form=THIRD_FORM)] == [600]


def long_line(*items: str) -> str:
    told = [f"valve {n} was read on the {n}th round" for n in range(200)]
    return ", ".join([*told[:120], *items, *told[120:]]) + "\n"


def test_a_long_sentence_is_read_to_its_end_in_pieces_that_an_edit_leaves_alone() -> None:
    before, after = (statements_of(long_line(stop)) for stop in ("pump 3 stops", "pump 3 runs on"))
    assert " ".join(one.text for one in before) == long_line("pump 3 stops").strip()
    assert max(len(one.text) for one in before) <= MAX_CHARS
    assert len(set(before) - set(after)) <= 2
    inserted = statements_of(f"On Monday and on Tuesday, {long_line('pump 3 stops')}")
    assert len(set(before) - set(inserted)) <= 3


def test_a_change_far_behind_in_a_line_is_found() -> None:
    before, after = (long_line(f"pump 3 stops at {n} degrees") for n in (85, 70))
    assert judge("Pump 3 stops at 85 degrees ([[pumps]]).", after, before=before).is_drifted


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    statements = statements_of(text)
    found = support_of(text, [Scored(statement, 0.5) for statement in statements])
    assert Support.from_record(found.as_record()) == found
    assert edits_of(found, [Scored(statement, 0.5) for statement in statements]) == ()
    is_pointer(text)


@pytest.mark.parametrize(
    ("text", "is_one"),
    [
        ("[[ops/pumps]]", True),
        ("See [[ops/pumps]].", True),
        ("How pumps are vented is described in [[ops/pumps]].", True),
        ("Contacts for the pump room: see [[ops/pumps]].", True),
        ("Runbooks live at [[a]] and [[b|the other]]", True),
        ("[[ops/pumps]] - moved there, see the note.", True),
        ("Pump 3 stops at 85 degrees ([[ops/pumps]]).", False),
        ("Pump 3 stops at 85 degrees, see [[ops/pumps]].", False),
        ("The limit in [[ops/pumps]] is 85 degrees.", False),
        ("According to [[ops/pumps]], pump 3 stops at 85 degrees.", False),
        ("We moved to new pumps in March. See [[ops/pumps]].", False),
        ("Pump 3 stops at 85 degrees.", False),
        ("Emergency contacts are in [[ops/contacts]].", True),
        ("Please read [[ops/pumps]] before venting.", True),
        ("The list of valves moved to [[ops/valves]].", True),
        ("[[ops/pumps]] describes how we vent.", True),
        ("See [[adr-4]]", True),
        ("Mirjam owns payroll [[rp/pay]].", False),
        ("Mirjam owns payroll: [[rp/pay]]", False),
        ("Neptune runs on [[PostgreSQL]].", False),
        ("[[Mirjam]] owns payroll.", False),
        ("[[Mirjam]] covers payroll.", False),
        ("[[Ana]] and [[Bo]] share the budget.", False),
        ("We decided in [[adr-4]] to drop Kafka.", False),
        ("Backups are encrypted with age [[backup]].", False),
        ("When Kafka lags, [[oncall]] restarts it.", False),
        ("Pumps fail weekly and are described in [[ops/pumps]].", False),
        ("Jobs check [[Neptune]] hourly.", False),
    ],
)
def test_pointers_are_told_from_statements(text: str, is_one: bool) -> None:
    assert is_pointer(text) is is_one


def test_links_are_no_part_of_what_a_memory_says() -> None:
    assert without_links("Pump 3 stops (see [[ops/pumps]]).") == "Pump 3 stops."
    assert without_links("Pump 3 stops, steps in [[ops/pumps]]") == "Pump 3 stops"
    assert without_links("The [[ops/pumps|third pump]] stops") == "The third pump stops"
    assert without_links("[[people/mirjam|Mirjam]] owns payroll") == "owns payroll"
    assert without_links("Runs on [[infra/days|Tuesdays]]") == "Runs on Tuesdays"


def test_a_link_in_a_note_reads_as_the_name_that_it_shows() -> None:
    told = ("[[people/mirjam]] pays", "[[people/mirjam.md#Role]] pays", "[[mirjam|She]] pays",
            "[[#Role]] pays")  # fmt: skip
    assert [plain_of(text) for text in told] == [
        "mirjam pays", "mirjam pays", "She pays", "Role pays",
    ]  # fmt: skip


def test_support_names_the_sentences_and_the_words_they_share() -> None:
    found = support_of("Pump 3 stops at 85 degrees.", scored("Pump 3 stops at 85 degrees.", NOTE))
    first = found.sentences[0]
    assert first.text == "Pump 3 stops at 85 degrees"
    assert first.heading == "Pump room > Alarms"
    assert {"85 degrees", "stops"} <= set(first.shared.values())
    assert len(found.digests) == len(statements_of(NOTE))


def test_sentences_that_still_stand_there_need_no_other_one_to_be_parsed() -> None:
    memory = "The key hangs behind the door."
    present = scored(memory, NOTE)
    support = support_of(memory, present)
    parts_of.cache_clear()
    assert edits_of(support, present) == ()
    stands_there = {sentence.text for sentence in support.sentences}
    headings = {sentence.heading for sentence in support.sentences}
    assert parts_of.cache_info().currsize <= len(stands_there | headings) < len(present)


DRIFTS = [
    ("Pump 3 stops at 85 degrees ([[pumps]]).", "at 85 degrees", "at 95 degrees"),
    ("Ines owns valve V1 ([[pumps]]).", "| V1 | open | Ines |", "| V1 | open | Zoe |"),
    ("The room is cleaned on Mondays ([[pumps]]).", "on Mondays", "on Fridays"),
    ("The key hangs behind the door ([[pumps]]).", "The key hangs behind the door.",
     "The key is at the office of Marek."),
]  # fmt: skip


@pytest.mark.parametrize(("memory", "old", "new"), DRIFTS)
def test_a_changed_value_is_drift_and_names_both_sentences(memory: str, old: str, new: str) -> None:
    found = judge(memory, NOTE.replace(old, new))
    assert found.is_drifted
    assert found.sentence is not None
    assert found.reasons
    assert judge(memory, NOTE).is_drifted is False


@pytest.mark.parametrize(("memory", "old", "new"), DRIFTS)
def test_a_link_behind_a_sentence_needs_no_brackets(memory: str, old: str, new: str) -> None:
    bare = memory.replace("([[pumps]])", "[[pumps]]")
    assert judge(bare, NOTE.replace(old, new)).is_drifted
    assert judge(bare, NOTE).is_drifted is False


def test_a_link_within_a_sentence_does_not_hide_drift() -> None:
    note = "# Team\n\nMirjam owns payroll. We decided to drop Kafka. Lunch is at noon."
    memory = "We decided in [[adr-4]] to drop Kafka."
    assert judge(memory, note.replace("to drop", "to keep"), before=note).is_drifted
    assert judge(memory, note, before=note).is_drifted is False


@pytest.mark.parametrize(("memory", "old", "new"), DRIFTS)
def test_edits_elsewhere_moves_and_formatting_are_no_drift(memory: str, old: str, new: str) -> None:
    lines = NOTE.replace("Lamps were replaced last year.", "Lamps burn for 900 hours.")
    moved = lines.replace("Visitors sign the book.", "") + "\n\nVisitors sign a *green* book.\n"
    bold = moved.replace(old, f"**{old}**") if "|" not in old else moved
    assert judge(memory, bold).is_drifted is False


@pytest.mark.parametrize(
    ("memory", "before", "after", "is_drift"),
    [
        ("The bakery opens at 9 ([[hours]]).", "The bakery opens at 9.", "9:00", False),
        ("The bakery opens at 9 ([[hours]]).", "The bakery opens at 9.", "9 am", False),
        ("The bakery opens at 9 ([[hours]]).", "The bakery opens at 9.", "10:00", True),
        ("Ines owns the depot ([[hours]]).", "Ines owns the depot.", "Ines Castro", False),
        ("Ines owns the depot ([[hours]]).", "Ines owns the depot.", "Zoe Castro", True),
    ],
)
def test_the_same_in_more_detail_is_no_drift(
    memory: str, before: str, after: str, is_drift: bool
) -> None:
    old = "Ines" if "Ines" in before else "9"
    note = f"# Town\n\n{before} Parking is free."
    assert judge(memory, note.replace(old, after), before=note).is_drifted is is_drift


def test_a_resolved_blocker_is_drift() -> None:
    before = "# Release\n\nThe licence is an open blocker for the release. Testing is done."
    after = before.replace("is an open blocker for the release", "blocker was resolved")
    memory = "The licence is an open blocker for the release ([[release]])."
    assert judge(memory, after, before=before).is_drifted
    assert judge(memory, before, before=before).is_drifted is False


def test_pointers_and_promoted_memories_never_drift() -> None:
    changed = NOTE.replace("85", "95")
    assert judge("How pump 3 stops is described in [[pumps]].", changed).is_drifted is False
    memory = "Pump 3 stops at 85 degrees ([[pumps]])."
    assert judge(memory, changed, tags=["promoted"]).is_drifted is False
    assert judge(memory, changed, tags=["other"]).is_drifted


def test_without_stored_support_only_claims_and_a_far_note_count() -> None:
    memory = "Pump 3 stops at 85 degrees ([[pumps]])."
    contradicted = judge(memory, "Pump 3 stops at 95 degrees.", before=None)
    assert (contradicted.is_drifted, contradicted.is_supported) == (True, False)
    reworded = judge(memory, "Pump 3 is monitored.", before=None)
    assert reworded.is_drifted is False
    assert "no support was stored" in reworded.reasons[-1]
    assert judge(memory, "Bees sleep in winter.", before=None).is_drifted


def test_a_model_without_calibration_judges_by_claims_only() -> None:
    memory = "Pump 3 stops at 85 degrees ([[pumps]])."
    gone = judge(memory, "Nothing is here.", model="other-model")
    assert (gone.is_drifted, gone.is_calibrated) == (False, False)
    assert gone.reasons == ("not calibrated for this model: claims only",)
    changed = NOTE.replace("85 degrees", "95 degrees")
    assert judge(memory, changed, model="other-model").is_drifted


def test_two_answers_to_one_question_are_drift() -> None:
    memory = "The night desk is looked after by Marek ([[desk]])."
    told = [Answer("Who owns the night desk?", "Marek")]
    note = "Ines owns the night desk."
    found = judge(memory, note, before="Marek owns the night desk.", answers=told)
    assert found.is_drifted
    assert found.evidence == CERTAIN


def test_a_note_that_never_carried_the_memory_cannot_stop_doing_so() -> None:
    memory = "Invoices of the vineyard are archived by harvest year ([[pumps]])."
    assert judge(memory, NOTE.replace("The key hangs", "A spare key hangs")).is_drifted is False
    assert judge(memory, "Nothing is left of it.").is_drifted is False


def test_a_higher_threshold_flags_less() -> None:
    memory = "The key hangs behind the door ([[pumps]])."
    after = NOTE.replace("The key hangs behind the door.", "The key is at the office of Marek.")
    found = judge(memory, after)
    assert found.is_drifted
    assert judge(memory, after, threshold=found.evidence + 0.001).is_drifted is False


@pytest.mark.parametrize(
    ("old", "new"),
    [("The key hangs behind the door.", "The key is at the office of Marek."),
     ("Visitors sign the book.", "Guests put their name in the book."),
     (NOTE.partition("## Alarms")[0], "# Pump room\n\nMondays are for cleaning.\n\n")],
)  # fmt: skip
def test_evidence_does_not_depend_on_how_long_the_rest_of_the_note_is(old: str, new: str) -> None:
    more = "\n".join(f"- Shelf {n} in the corridor has a label in colour {n}." for n in range(40))
    for memory in ("The key hangs behind the door.", "Visitors sign the book."):
        short = judge(memory, NOTE.replace(old, new))
        for long in ("{0}\n{1}\n", "{1}\n\n{0}"):
            before, after = (long.format(n, more) for n in (NOTE, NOTE.replace(old, new)))
            found = judge(memory, after, before=before)
            assert (found.is_drifted, found.evidence) == (short.is_drifted, short.evidence)


def test_a_support_that_does_not_know_what_was_near_counts_a_few_statements() -> None:
    memory = "The key hangs behind the door."
    present = scored(memory, NOTE.replace(memory, "The key is at the office of Marek."))
    support = support_of(memory, scored(memory, NOTE))
    record = support.as_record()
    del record["near"]
    earlier = Support.from_record(record)
    assert earlier.near == frozenset() != support.near
    found = evidence_of(memory, earlier, edits_of(earlier, present), present, estimate=None)
    assert (found.gone, found.gone_count) == (1 / 3, 1)


def test_an_empty_note_has_no_support_and_does_not_fail() -> None:
    memory = "Pump 3 stops at 85 degrees ([[pumps]])."
    assert support_of(memory, []).sentences == ()
    assert judge(memory, "", before="").is_drifted is False
    assert judge(memory, "").distance == 1.0


def test_every_calibration_weighs_every_feature() -> None:
    assert {len(one.weights) for one in CALIBRATIONS.values()} == {len(FEATURES)}


SHIFTS = """# Shifts

Requests for leave come in by mail. The ward sister signs each of them before it counts.

- Early shift: 6:00
- Late shift: 13:30
"""
LEAVE = "Holidays are granted at the nurses' desk ([[shifts]])."
SIGNER = Answer("Who signs requests for leave?", "the ward sister")
LATE = Answer("When does the late shift begin?", "13:30")


def test_what_stands_in_the_place_of_an_answer_is_compared_with_it() -> None:
    after = SHIFTS.replace("The ward sister", "The matron")
    found = judge(LEAVE, after, before=SHIFTS, answers=[SIGNER])
    assert (found.is_drifted, found.evidence) == (True, CERTAIN)
    assert found.reasons == (
        "Who signs requests for leave? The memory says the ward sister, the note matron",
    )
    assert found.before is not None
    assert found.before.text == "The ward sister signs each of them before it counts."
    assert judge(LEAVE, after, before=SHIFTS, answers=[SIGNER], model="other-model").is_drifted
    assert not judge(LEAVE, after, before=SHIFTS, answers=[LATE]).is_drifted


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("The ward sister signs each of them before it counts.",
         "None of them counts until the ward sister has signed it."),
        ("13:30", "14:00"),
        ("come in by mail", "are put into the box"),
        ("# Shifts", "# Rota of ward 4"),
    ],
)  # fmt: skip
def test_an_answer_that_is_still_given_is_no_drift(old: str, new: str) -> None:
    after = SHIFTS.replace(old, new)
    assert not judge(LEAVE, after, before=SHIFTS, answers=[SIGNER]).is_drifted


@pytest.mark.parametrize("written", ["1:30 pm", "13:30, in the summer, too"])
def test_an_answer_in_another_form_is_no_drift(written: str) -> None:
    memory = "Those who work until the evening come at half past one ([[shifts]])."
    assert not judge(
        memory, SHIFTS.replace("13:30", written), before=SHIFTS, answers=[LATE]
    ).is_drifted
    assert judge(memory, SHIFTS.replace("13:30", "14:00"), before=SHIFTS, answers=[LATE]).is_drifted


def test_an_answer_that_is_gone_with_its_sentence_is_named() -> None:
    after = SHIFTS.replace(
        "The ward sister signs each of them before it counts.", "Nobody has to sign them."
    )
    found = judge(LEAVE, after, before=SHIFTS, answers=[SIGNER])
    assert found.is_drifted
    assert "no longer answered: Who signs requests for leave? the ward sister" in found.reasons


MUSEUM = "# Museum\n\n## Closed\n\n- Mondays\n- 24 December\n\n## Tickets\n\nA ticket is 9 euros.\n"
CLOSED = "The museum is closed on Mondays ([[museum#Closed]])."


@pytest.mark.parametrize("name", ["Days off", "No visitors", "When it is closed", "Shut"])
def test_a_section_with_a_new_name_is_no_drift(name: str) -> None:
    after = MUSEUM.replace("## Closed", f"## {name}")
    assert not judge(CLOSED, after, before=MUSEUM).is_drifted


@pytest.mark.parametrize(
    "after",
    [
        MUSEUM.replace("## Closed", "## Open"),
        MUSEUM.replace("## Closed\n\n", ""),
        MUSEUM.replace("## Closed\n\n- Mondays\n- 24 December\n\n", "") + "\n- Mondays\n",
        MUSEUM.replace("- Mondays\n", "") + "\n- Mondays\n",
    ],
    ids=["turned round", "no heading", "under a known heading", "left its section"],
)
def test_a_statement_that_left_its_heading_is_drift(after: str) -> None:
    assert judge(CLOSED, after, before=MUSEUM).is_drifted


def test_a_heading_with_another_value_is_drift() -> None:
    memory = "The budget of 2024 for books is 300 euros ([[money#Budget 2024]])."
    before = "# Money\n\n## Budget 2024\n\nBooks: 300 euros.\n\n## Bank\n\nGLS.\n"
    assert judge(memory, before.replace("2024", "2025"), before=before).is_drifted
    assert not judge(memory, before.replace("Budget", "Plan for"), before=before).is_drifted


def test_a_support_without_headings_is_read_and_knows_no_new_names() -> None:
    record = support_of(CLOSED, scored(CLOSED, MUSEUM)).as_record()
    present = scored(CLOSED, MUSEUM.replace("## Closed", "## Days off"))
    calibration = CALIBRATIONS.get(MODEL)
    known = Support.from_record(record)
    assert not has_drifted(CLOSED, known, present, calibration=calibration).is_drifted
    del record["headings"]
    earlier = Support.from_record(record)
    assert has_drifted(CLOSED, earlier, present, calibration=calibration).is_drifted


@pytest.mark.parametrize(
    ("memory", "is_found"),
    [
        ("The shop opens at 9:00 ([[shop]]).", True),
        ("Dogs are allowed in the shop ([[shop]]).", True),
        ("The shop opens at 10:00 on weekdays ([[shop]]).", False),
        ("Wrapping costs 2 euros a parcel ([[shop]]).", False),
        ("The shop opens early ([[shop]]).", False),
    ],
)
def test_a_contradiction_from_the_start_is_found_where_the_nearest_statement_is_sure(
    memory: str, is_found: bool
) -> None:
    note = (
        "# Shop\n\nThe shop opens at 10:00. Marek books the stall at the market. Dogs are not"
        " allowed in the shop.\n\n| what | a parcel | a pallet |\n| --- | --- | --- |\n"
        "| wrapping | 2 euros | 30 euros |\n"
    )
    for later in (note, f"{note}\nShelves are white.\n"):
        found = judge(memory, later, before=note)
        assert found.is_drifted is is_found
        assert (FROM_THE_START in found.reasons) is is_found


TURNED = [
    ("Dogs may ride in the tram.", "Dogs are not allowed in the tram.", True),
    ("Dogs may ride in the tram.", "Dogs are forbidden in the tram.", True),
    ("Dogs are allowed in the tram.", "Dogs are excluded from the tram.", True),
    ("The tram has a night fare of 2 euros.", "The night fare of the tram was abolished.", True),
    ("The tram serves the fair for free.", "The tram no longer serves the fair.", True),
    ("Season tickets can be bought in the tram.", "Season tickets were dropped.", True),
    ("Skis stay in the tram.", "Skis stay outside the tram.", True),
    ("Dogs are not allowed in the tram.", "Dogs are forbidden in the tram.", False),
    ("Dogs are excluded from the tram.", "Dogs must not ride in the tram.", False),
    ("The night fare was abolished.", "The night fare no longer exists.", False),
    (
        "The trial of the night tram ended in May.",
        "The trial of the night tram stopped in May.",
        False,
    ),
    (
        "The trial of the night tram ended in May.",
        "The trial of the night tram was over in May.",
        False,
    ),
    (
        "The trial of the night tram ended in May.",
        "The trial of the night tram is open in May.",
        True,
    ),
    ("The tram leaves at half past six.", "The tram leaves at 6:30.", False),
    ("The tram leaves at nine o'clock in the evening.", "The tram leaves at 21:00.", False),
    ("The tram is closed on Mondays.", "On Mondays the tram stays closed.", False),
    (
        "The new stop is blocked: the city has not signed the plan of the tram.",
        "The new stop is no longer blocked: the city has signed the plan of the tram.",
        True,
    ),
    (
        "The tram is late, and the clock has not been set.",
        "The clock has not been set, and the tram is late.",
        False,
    ),
]


@pytest.mark.parametrize(("before", "after", "is_turned"), TURNED)
def test_what_ended_or_is_forbidden_is_told_from_the_same_in_other_words(
    before: str, after: str, is_turned: bool
) -> None:
    sentence = support_of(before, scored(before, before)).sentences[0]
    found = opposition(before, edit_between(sentence, Scored(Statement(after), 0.6)))
    assert bool(found) is is_turned
    note = f"# Tram 4\n\n{before} Line 4 has nine stops. Doors close by themselves."
    assert judge(before, note, before=note).is_drifted is False
    if "half past" in before or "o'clock" in before:
        assert judge(before, note.replace(before, after), before=note).is_drifted is False


@pytest.mark.parametrize("after", [one[1] for one in TURNED[:4]])
def test_a_permission_that_ended_is_drift(after: str) -> None:
    before = next(one[0] for one in TURNED if one[1] == after)
    note = f"# Tram 4\n\n{before} Line 4 has nine stops. Doors close by themselves."
    assert judge(before, note.replace(before, after), before=note).is_drifted


def test_a_negated_side_remark_counts() -> None:
    note = "# Hall\n\nThe rear hall has forty seats and a stage; hirers may cook there. Ask Ines."
    memory = "The rear hall has forty seats and a stage; hirers may cook there ([[hall]])."
    assert judge(memory, note.replace("may cook", "may not cook"), before=note).is_drifted
    assert not judge(memory, note.replace("may cook", "can cook"), before=note).is_drifted


STOPS = "Pump 3 stops at 85 degrees ([[pumps]])."


@pytest.mark.parametrize(
    ("old", "new", "is_removed"),
    [
        ("- Pump 3 stops at 85 degrees\n", "", True),
        ("- Pump 3 stops at 85 degrees\n", "- Bees sleep in winter\n", True),
        ("- Pump 3 stops at 85 degrees\n", "- Pump 3 stops when it is hot\n", False),
        ("- Pump 3 stops at 85 degrees\n", "- Whoever is on duty stops pump 3\n", False),
    ],
)
def test_a_removed_sentence_is_told_from_a_changed_one(
    old: str, new: str, is_removed: bool
) -> None:
    found = judge(STOPS, NOTE.replace(old, new))
    assert (found.is_drifted, found.is_removed) == (True, is_removed)
    word = "removed" if is_removed else "changed"
    assert found.reasons[0] == f"the supporting sentence was {word}"
    assert found.before is not None
    assert found.before.text == "Pump 3 stops at 85 degrees"
    assert (found.sentence is None) is is_removed
    if is_removed:
        assert not any(reason.startswith("said instead") for reason in found.reasons)


def test_a_sentence_that_was_moved_under_another_heading_is_not_removed() -> None:
    before = "# Pump 3\n\nIt stops at 85 degrees.\n\n# Pump 4\n\nIt has no alarm.\n"
    after = "# Pump 3\n\nIt is blue.\n\n# Pump 4\n\nIt stops at 85 degrees.\n"
    support = support_of(STOPS, scored(STOPS, before))
    [edit] = edits_of(support, scored(STOPS, after.replace("It is blue.\n\n", "")))
    assert edit.replacement is not None
    assert edit.replacement.text == "It stops at 85 degrees."
