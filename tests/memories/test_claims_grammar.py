"""Clauses, verbs, negation and meaning of words: the grammar under claim comparison."""

from __future__ import annotations

import pytest

from memories.core.claims import compare, read
from memories.core.clauses import fold_phrases, split
from memories.core.lexicon import OPPOSITES, concept_of, opposites_of
from memories.core.spelling import normalise, same_letters
from memories.core.tokeniser import sentences, tokenise


def verbs(text: str) -> list[str]:
    clauses = split(fold_phrases(tokenise(normalise(text))))
    return [clause.tokens[clause.verb].lower if clause.verb >= 0 else "" for clause in clauses]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("The cache lock expires after 5 s.", ["expires"]),
        ("Access logs are kept for a year.", ["kept"]),
        ("The release train leaves on Monday.", ["leaves"]),
        ("Run the migration before the deploy.", ["run"]),
        ("Moved the site to npm.", ["moved"]),
        ("Our builds need two approvals.", ["need"]),
        ("Pull requests require reviews.", ["require"]),
        ("Payments use Stripe.", ["use"]),
        ("POST /files accepts uploads.", ["accepts"]),
        ("TTL: 5 min", [":"]),
        ("The sea is calm and the boat leaves at noon.", ["is", "leaves"]),
        ("Ada reviews contracts, but Bo signs them.", ["reviews", "signs"]),
    ],
)
def test_main_verbs_of_clauses(text: str, expected: list[str]) -> None:
    assert verbs(text) == expected


@pytest.mark.parametrize(
    ("text", "polarity"),
    [
        ("The flag is on.", True),
        ("The flag isn't on.", False),
        ("We never ship on Fridays.", False),
        ("No parcels arrive on Sundays.", False),
        ("She must avoid milk.", False),
        ("She need not avoid milk.", True),
        ("It takes no more than 5 minutes.", True),
        ("Not only cats sleep here.", True),
        ("The file is stored in S3, not in GCS.", True),
    ],
)
def test_polarity_is_that_of_the_main_statement(text: str, polarity: bool) -> None:
    assert read(text).claims[0].polarity is polarity


@pytest.mark.parametrize(
    ("text", "denied"),
    [
        ("The file is stored in S3, not in GCS.", ["GCS"]),
        ("We use tabs instead of spaces.", ["spaces"]),
        ("We moved from npm to pnpm.", ["npm"]),
        ("Replaced cron with timers.", ["cron"]),
        ("The cake is gluten free.", ["gluten"]),
        ("The file is stored in S3.", []),
    ],
)
def test_single_words_are_denied(text: str, denied: list[str]) -> None:
    terms = [term for claim in read(text).claims for term in claim.terms]
    assert [term.text for term in terms if term.is_denied] == denied


@pytest.mark.parametrize(
    ("text", "count"),
    [("See e.g. the lift. It is old.", 2), ("- one thing\n- another thing", 2), ("", 0),
     ("v1.2 is out. Node.js v20 runs.", 2), ("Gorsk F.C. is owned by Ana Kolb.", 1),
     ("Yodel! was founded in Remol.", 1), ("Tolm Bros. has two shops.", 1),
     ("J. K. Ferro wrote it. It sold.", 2), ("It was written by G. R. R. Moser.", 1),
     ("We chose plan B. The depot closes.", 2), ("It is vitamin C. It is sour.", 2),
     ("It runs! We ship.", 2)],
)  # fmt: skip
def test_sentences_end_where_they_end(text: str, count: int) -> None:
    assert len(sentences(normalise(text))) == count


def test_opposites_are_mutual_and_never_reflexive() -> None:
    for word, others in OPPOSITES.items():
        assert word not in others
        for other in others:
            assert other in opposites_of(word)
            assert word in opposites_of(other)


@pytest.mark.parametrize(
    ("a", "b"), [("erased", "deletes"), ("prod", "production"), ("k8s", "Kubernetes"),
                 ("databases", "db"), ("approval", "approves"), ("colour", "colors")]
)  # fmt: skip
def test_synonyms_and_forms_share_a_concept(a: str, b: str) -> None:
    assert concept_of(a.lower()) == concept_of(b.lower())


@pytest.mark.parametrize(
    ("a", "b"), [("container", "contains"), ("customer", "custom"), ("news", "new"),
                 ("server", "serves"), ("settings", "set")]
)  # fmt: skip
def test_words_of_one_stem_but_another_meaning_stay_apart(a: str, b: str) -> None:
    assert concept_of(a) != concept_of(b)


@pytest.mark.parametrize(
    ("a", "b"), [("signed", "unsigned"), ("enabled", "disabled"), ("open", "closed"),
                 ("sync", "asynchronous"), ("always", "never"), ("legal", "illegal"),
                 ("clockwise", "anticlockwise"), ("inwards", "outward"), ("sharp", "blunt")]
)  # fmt: skip
def test_antonyms(a: str, b: str) -> None:
    assert concept_of(b) in opposites_of(concept_of(a))


def test_same_letters_ignores_case_space_and_full_stop() -> None:
    assert same_letters("The  flag is ON.", "the flag is on")
    assert not same_letters("The flag is on", "The flag is off")


def test_a_pronoun_carries_the_words_it_may_point_to() -> None:
    first, second = read("Contractors may skip MFA. It is optional.").claims
    carried = {term.key: term.weight for term in second.terms if term.region == "subject"}
    assert carried == {"contractor": 0.5, "mfa": 0.5}
    assert first.subject == {"contractor"}


def test_who_changes_a_thing_is_not_what_changed() -> None:
    (claim,) = read("Outside counsel changed the governing law from Texas to Delaware.").claims
    assert claim.subject == {"govern", "law"}


@pytest.mark.parametrize(
    "reported",
    ["The user said that", "User told me that", "The user has just mentioned that", "User said:"],
)
def test_what_the_user_said_is_a_fact(reported: str) -> None:
    told = read(f"{reported} the pier closes at 18:00.")
    assert [claim.modality for claim in told.claims] == ["fact"]
    assert compare(told, "The pier closes at 20:00.").relation == "contradicts"


def test_what_others_said_is_a_quotation() -> None:
    assert read("Ana said that the pier closes at 18:00.").claims[0].modality == "quote"


def test_a_span_from_one_hour_to_another_leaves_no_value() -> None:
    span = "Parcels are handed out on Wednesdays from two to five in the hall."
    again = "Every Wednesday between two and five parcels are given out in the hall."
    assert compare(span, again).relation != "contradicts"


def test_not_even_after_a_negation_denies_nothing_more() -> None:
    first = "Nobody may take the books home, not even staff."
    again = "Taking the books home is not allowed, for staff either."
    assert compare(first, again).relation != "contradicts"
    assert compare("Staff may take the books home.", first).relation != "same"
