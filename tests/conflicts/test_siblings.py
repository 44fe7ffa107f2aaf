"""The words before nouns by which a workspace tells its things apart."""

from __future__ import annotations

from conflicts.core.siblings import find_siblings
from tests.conflicts.test_functional_relations import findings

UPLOADS = (
    "Uploads to the billing portal are capped at 5 MB.",
    "The upload limit of the login service is 50 MB.",
)
# The workspace speaks of services and portals by the same words.
SPOKEN_OF = (
    "The billing service is written in Go.",
    "The login portal has a dark theme.",
    "The stock service and the stock portal share a queue.",
)


def test_words_of_one_kind_tell_nouns_of_one_kind_apart() -> None:
    assert find_siblings([*UPLOADS, *SPOKEN_OF]).are_apart(*UPLOADS)
    assert not find_siblings(UPLOADS).are_apart(*UPLOADS)  # "portal" may be another word for it


def test_a_word_that_both_texts_have_tells_nothing_apart() -> None:
    known = find_siblings([*UPLOADS, *SPOKEN_OF])
    assert not known.are_apart(
        "The billing portal caps uploads at 5 MB; the login service follows.", UPLOADS[1]
    )


def test_what_the_workspace_tells_apart_opens_no_card() -> None:
    assert findings(UPLOADS) != []
    assert findings([*UPLOADS, *SPOKEN_OF]) == []


def test_one_word_before_two_nouns_needs_several_facts_of_each() -> None:
    archive = [f"The mail archive has {n} shelves." for n in (1, 2, 3)]
    relay = [f"The mail relay has {n} workers." for n in (1, 2, 3)]
    pair = (archive[0], relay[0])
    assert find_siblings([*archive, *relay]).are_apart(*pair)
    assert not find_siblings([*archive, relay[0]]).are_apart(*pair)
