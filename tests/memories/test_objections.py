"""People are asked "say the same?" only where nothing in the pair speaks against it."""

from __future__ import annotations

import pytest

from memories.core.claims import read
from memories.core.objections import objection
from tests.conftest import Tenant

EXCLUDING = [
    ("Mrs Ito is allergic to penicillin.", "Mrs Ito has no known drug allergies."),
    ("Bed 4 is nil by mouth before the operation.",
     "Bed 4 gets a light breakfast before the operation."),
    ("Phones are allowed in the exam hall.", "Phones are not allowed in the exam hall."),
    ("Pupils may use phones in the exam hall.",
     "The use of phones in the exam hall is not allowed for pupils."),
    ("Mr Ito is treated with aspirin for his heart.", "For his heart Mr Ito gets warfarin."),
    ("The lathe in hall 2 is reserved for the apprentices on Monday.",
     "The lathe in hall 2 is reserved for whoever has booked it."),
    ("The side gate is open on Sundays for walkers.",
     "For walkers the side gate stays shut on Sundays."),
    ("The matchmaking sorts by ping first and by rank second.",
     "The matchmaking sorts by rank first and by ping second."),
]  # fmt: skip
IN_OTHER_WORDS = [
    ("Deleted files can be restored for 30 days.",
     "For thirty days it is possible to bring deleted files back."),
    ("Guests without a badge wait at the desk.", "At the desk guests wait who have no badge."),
    ("No more than 5 guests fit in the boat.", "The boat takes up to five guests."),
    ("The archive is closed on Friday.", "No service at the archive on Friday, it is closed."),
    ("Ana and Bert decide about the budget.", "Bert and Ana decide about the budget."),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b"), EXCLUDING)
def test_a_pair_that_excludes_itself_is_not_put_to_people(tenant: Tenant, a: str, b: str) -> None:
    for first, second, scope in ((a, b, "forth"), (b, a, "back")):
        tenant.agent.post("memories", {"content": first, "scope": scope})
        answer = tenant.agent.post("memories", {"content": second, "scope": scope}).json()
        assert answer["outcome"] in ("created", "kept_apart")
    assert tenant.reader.get("merge-suggestions").json()["results"] == []


@pytest.mark.parametrize(("a", "b"), EXCLUDING[:2] + EXCLUDING[4:])
def test_what_speaks_against_a_pair_is_named_either_way_round(a: str, b: str) -> None:
    assert objection(read(a), read(b))
    assert objection(read(b), read(a))


@pytest.mark.parametrize(("a", "b"), IN_OTHER_WORDS)
def test_nothing_speaks_against_other_words(a: str, b: str) -> None:
    assert objection(read(a), read(b)) == objection(read(b), read(a)) == ""


def test_other_words_for_one_fact_are_still_put_to_people(tenant: Tenant) -> None:
    tenant.agent.post("memories", {"content": IN_OTHER_WORDS[0][0]})
    answer = tenant.agent.post("memories", {"content": IN_OTHER_WORDS[0][1]}).json()
    assert answer["outcome"] == "suggested"
