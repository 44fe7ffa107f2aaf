"""Wordings of a note that take back what a memory says, and those that say the same."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.drift.calibration import CALIBRATIONS, Calibration
from memories.core.drift.edits import Edit, edit_between
from memories.core.drift.exchange import find_exchange
from memories.core.drift.narrowing import narrowing
from memories.core.drift.parts import parts_of
from memories.core.drift.passages import Statement, statements_of
from memories.core.drift.phrases import other_phrase
from memories.core.drift.pointers import is_pointer
from memories.core.drift.substitution import substitution
from memories.core.drift.support import Scored, support_of
from memories.core.drift.verdict import REPLACED, Verdict, has_drifted
from memories.core.likelihood import Likelihood


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("Bills go out by post.", "Bills go out by e-mail.", "by post vs by e-mail"),
        ("Cancel over the phone.", "Cancel by letter.", "over the phone vs by letter"),
        ("Anyone may open the till.", "Only leads may open the till.", "Anyone vs Only"),
        ("We meet on the first Monday.", "We meet on the last Monday.",
         "first Monday vs last Monday"),
        ("The fair is on the 2nd Sunday.", "The fair is on the third Sunday.",
         "2nd Sunday vs third Sunday"),
        ("Pay before entry.", "Pay after entry.", "before vs after"),
    ],
)  # fmt: skip
def test_what_stands_in_the_place_of_a_deciding_word(old: str, new: str, found: str) -> None:
    assert find_exchange(old, new) == found


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("Bills go out by post.", "Bills go out by letter."),
        ("Bills go out by e-mail.", "Bills go out by mail."),
        ("Bills go out by post.", "Bills go out by post or by e-mail."),
        ("Bills go out by post.", "Bills go out by Friday."),
        ("Everyone may open the till.", "All staff may open the till."),
        ("Only leads may deploy.", "Only leads and owners may deploy."),
        ("We meet on the second Monday.", "We meet on the 2nd Monday."),
        ("We meet on the first Monday.", "We meet on the first Tuesday."),
    ],
)
def test_words_that_decide_nothing_are_no_exchange(old: str, new: str) -> None:
    assert find_exchange(old, new) == ""


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The sauna is on floor 3.", "The sauna is on the third floor."),
        ("The lockers are on the 2nd floor.", "The lockers are on the second floor."),
        ("The shop is open Monday to Friday.", "The shop is open Mon\u2013Fri."),
        ("The shop is open Tuesday to Saturday.", "The shop is open Tue-Sat."),
        ("The kiln is out of order.", "The kiln does not work."),
        ("The attic is off limits.", "The attic is forbidden."),
    ],
)
def test_spellings_of_one_value_are_the_same(one: str, other: str) -> None:
    assert compare(one, other).relation == compare(other, one).relation == "same"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The sauna is on floor 3.", "The sauna is on the fourth floor."),
        ("The shop is open Monday to Friday.", "The shop is open Mon\u2013Sat."),
        ("The kiln is out of order.", "The kiln works."),
        ("Guests are let in.", "Guests are turned away."),
    ],
)
def test_other_values_exclude_each_other(one: str, other: str) -> None:
    assert compare(one, other).relation == compare(other, one).relation == "contradicts"


@pytest.mark.parametrize(
    ("text", "points"),
    [
        ("The gate is green. [[house]]", False),
        ("The sauna is on floor 3. [[house]]", False),
        ("Contacts are here. [[house]]", True),
        ("Everything about travel is in this note. [[house]]", True),
        ("What is where: [[house]]", True),
    ],
)
def test_a_state_before_a_link_of_its_own_is_no_pointer(text: str, points: bool) -> None:
    assert is_pointer(text) is points


def _edit(memory: str, old: str, new: str) -> tuple[Edit, list[Scored]]:
    present = [Scored(Statement(new, ""), 0.8)]
    support = support_of(memory, [Scored(Statement(old, ""), 0.9)])
    return edit_between(support.sentences[0], *present), present


@pytest.mark.parametrize(
    ("memory", "old", "new", "found"),
    [
        ("All cooks may use the slicer.", "All cooks may use the slicer.",
         "All cooks may use the slicer, except trainees.", "a limit joined it: except"),
        ("The bakery delivers to offices.", "The bakery delivers to offices.",
         "The bakery delivers to offices only if they order ten boxes.",
         "a limit joined it: only"),
        ("The kit holds a torch, a whistle and chalk.", "The kit: torch, whistle and chalk.",
         "The kit: torch and whistle.", "left the list: chalk"),
    ],
)  # fmt: skip
def test_an_edit_narrows_what_a_memory_says(memory: str, old: str, new: str, found: str) -> None:
    assert narrowing(memory, *_edit(memory, old, new)) == found


@pytest.mark.parametrize(
    ("memory", "old", "new"),
    [
        ("All cooks but trainees may use the slicer, except on Sundays.",
         "All cooks may use the slicer.", "All cooks may use the slicer, except trainees."),
        ("The bakery delivers to offices.", "The bakery delivers to offices.",
         "The bakery delivers to offices in its green van."),
        ("The kit holds a torch, a whistle and chalk.", "The kit: torch, whistle and chalk.",
         "The kit: chalk, torch and whistle."),
    ],
)  # fmt: skip
def test_details_and_known_limits_narrow_nothing(memory: str, old: str, new: str) -> None:
    assert narrowing(memory, *_edit(memory, old, new)) == ""


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("Python 3.9 is the minimum.", "Python 3.10 is the minimum.", "3.9 vs 3.10"),
        ("We host in eu-west-1.", "We host in eu-central-1.", "eu-west-1 vs eu-central-1"),
        ("The launch is planned for Q3.", "The launch is planned for Q4.", "Q3 vs Q4"),
        ("Der Schlüssel hängt im Schuppen.", "Der Schlüssel hängt im Büro.", "Schuppen vs Büro"),
        ("All services use TLS.", "Some services use TLS.", "all vs some"),
        ("Every member votes.", "Most members vote.", "every vs most"),
        ("Users must enable 2FA.", "Users may enable 2FA.", "must vs may"),
        ("Backups are required to be encrypted.", "Backups can be encrypted.", "required vs can"),
        ("The rollout is finished.", "The rollout is almost finished.", "it is only almost"),
        ("Alice is on call.", "Bob is on call.", "Alice vs Bob"),
        ("The queue is SQS.", "The queue was SQS.", "is vs was"),
        ("Alice owns the billing service.", "Alice owned the billing service.", "owns vs owned"),
        ("The alarm is off by default.", "The alarm is on by default.", "off vs on"),
    ],
)  # fmt: skip
def test_an_edit_of_one_place_puts_another_value_or_degree_there(
    old: str, new: str, found: str
) -> None:
    assert substitution(old, *_edit(old, old, new)) == found


@pytest.mark.parametrize(
    ("memory", "old", "new"),
    [
        ("Refunds take 24 hours.", "Refunds take 24 hours.", "Refunds take one day."),
        ("Tickets go to Anna Berg.", "Tickets go to Anna Berg.", "Tickets are for Anna Berg."),
        ("Billing is monthly.", "Billing is monthly.", "Invoicing is monthly."),
        ("The queue was SQS.", "The queue was SQS.", "The queue is SQS."),
        # The memory knows of both, or says nothing of the value.
        ("Python 3.9 was the minimum, now 3.10.", "Python 3.9 is the minimum.",
         "Python 3.10 is the minimum."),
        ("Python has a minimum.", "Python 3.9 is the minimum.", "Python 3.10 is the minimum."),
        # Two places: a sentence that was written anew.
        ("All services use TLS 1.2.", "All services use TLS 1.2.", "Some machines use TLS 1.3."),
        ("Logs go to Loki.", "Logs go to Loki.", "Logs go to Loki and to disk."),
    ],
)  # fmt: skip
def test_other_edits_put_nothing_in_the_place_of_what_a_memory_says(
    memory: str, old: str, new: str
) -> None:
    assert substitution(memory, *_edit(memory, old, new)) == ""


def judged(memory: str, before: str, after: str, *, near: float = 0.2) -> Verdict:
    """Return the verdict on a note that was edited, by a model that knows no likelihood."""
    support = support_of(memory, [Scored(one, 0.9) for one in statements_of(before)])
    present = [Scored(one, 0.7) for one in statements_of(after)]
    known = CALIBRATIONS["all-MiniLM-L6-v2"]
    return has_drifted(
        memory, support, present, calibration=known, estimate=Told(near=near), threshold=0.75
    )


REST = "\n\nThe yard is swept daily. Lamps burn until ten. Bins are emptied at noon."


def test_a_replaced_phrase_is_drift_and_lowers_no_evidence() -> None:
    short = judged(CARD, PAID[0], PAID[1])
    assert (short.is_drifted, short.evidence) == (True, REPLACED)
    assert short.reasons[0] == "bank transfer vs credit card"
    long = judged(CARD, PAID[0] + REST, PAID[1] + REST)
    assert long.evidence >= REPLACED
    assert long.evidence >= judged(CARD, PAID[0] + REST, PAID[1] + REST, near=0.9).evidence
    assert not judged(CARD, PAID[0], PAID[1], near=0.9).is_drifted


def test_a_removed_sentence_is_replaced_by_none_that_stood_beside_it() -> None:
    twin = "We pay suppliers by credit card."
    found = judged(CARD, f"{PAID[0]}\n\n{twin}{REST}", f"{twin}{REST}")
    assert found.is_removed
    assert "bank transfer vs credit card" not in found.reasons


def test_a_model_that_was_not_measured_compares_no_phrases() -> None:
    support = support_of(CARD, [Scored(Statement(PAID[0], ""), 0.9)])
    present = [Scored(Statement(PAID[1], ""), 0.7)]
    found = has_drifted(CARD, support, present, calibration=Calibration(), estimate=Told())
    assert "bank transfer vs credit card" not in found.reasons


class Told:
    """A model that says of two wordings and two phrases what it is told."""

    def __init__(self, *, same: float = 0.1, contradicts: float = 0.1, near: float = 0.2) -> None:
        rest = 1.0 - same - contradicts
        self._found = Likelihood(contradicts, same, refines=0.0, different=rest, updates=0.0)
        self._near = near

    def __call__(self, before: str, after: str) -> Likelihood:
        return self._found

    def nearness(self, one: str, other: str) -> float:
        return self._near


CARD = "Suppliers are paid by bank transfer."
PAID = ("We pay suppliers by bank transfer.", "We pay suppliers by credit card.")


@pytest.mark.parametrize(
    ("model", "found"),
    [
        (Told(), "bank transfer vs credit card"),
        (Told(contradicts=0.8, near=0.9), "bank transfer vs credit card"),
        (Told(same=0.6), ""),  # both wordings may well say the same
        (Told(near=0.5), ""),  # both phrases may be names of one thing
    ],
)
def test_words_of_a_memory_that_others_replaced(model: Told, found: str) -> None:
    assert other_phrase(CARD, _edit(CARD, *PAID)[0], model, near=0.45) == found


@pytest.mark.parametrize(
    ("memory", "old", "new"),
    [
        ("Suppliers are paid in time.", *PAID),  # says nothing of the transfer
        ("Suppliers are paid by bank transfer, never by credit card.", *PAID),
        ("A GP signs the form.", "The form is signed by a GP.",
         "The form is signed by a general practitioner."),
        ("GPs sign the form.", "The form is signed by GPs.",
         "The form is signed by general practitioners."),
        ("Bees are fed once a week.", "Feed the bees once a week.",
         "Feed the bees weekly, in dry weather."),
        (CARD, PAID[0], "All suppliers are paid by credit card now."),
        (CARD, PAID[0], "We pay suppliers by bank transfer of course."),
    ],
)  # fmt: skip
def test_other_edits_replace_no_words_of_a_memory(memory: str, old: str, new: str) -> None:
    assert other_phrase(memory, _edit(memory, old, new)[0], Told(), near=0.45) == ""


def test_an_order_turned_round_is_another_claim() -> None:
    before, after = "Plates are rinsed before drying.", "Plates are rinsed after drying."
    assert [one.signature for one in parts_of(before)] != [one.signature for one in parts_of(after)]
