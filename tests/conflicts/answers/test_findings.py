"""What writers say that their memories answer: two answers, an answer that returns, one gone."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conflicts.core.answers.index import MAX_STATED
from conflicts.core.comparisons import Comparisons
from conflicts.core.detective import detect
from conflicts.core.facts import Fact, Finding
from conflicts.core.findings import split_by_subject
from conflicts.core.subjects import are_of_other_subjects, note_of
from memories.core.answers import Answer
from tests.conflicts.test_core_detective import NOW, similar, story

REFUNDS = "Who approves refunds?"


Told = tuple[str, *tuple[Answer, ...]]


def told(*facts: Told) -> list[Fact]:
    """Return statements with their answers as facts, a day apart, the oldest first."""
    made = story(*(text for text, *_ in facts))
    return [
        replace(fact, answers=tuple(answers))
        for fact, (_, *answers) in zip(made, facts, strict=True)
    ]


def found(*facts: Told) -> list[Finding]:
    """Return what is found by answers; all questions have one vector, so that words decide."""
    made = told(*facts)
    vector = np.array([1.0, 0.0], dtype=np.float32)
    questions = {answer.question: vector for fact in made for answer in fact.answers}
    findings = detect(made, similar(made, 0.3), now=NOW, questions=questions)
    return [finding for finding in findings if "answer" in finding.rules[0]]


def rules(*facts: Told) -> list[str]:
    return [finding.rules[0] for finding in found(*facts)]


LEAD = ("Refunds cross the desk of the support lead.", Answer(REFUNDS, "the support lead"))
TREASURER = ("Money back? The treasurer has the last word.", Answer(REFUNDS, "the treasurer"))


def test_two_answers_to_one_question_are_an_ambiguity() -> None:
    [finding] = found(LEAD, TREASURER)
    assert (finding.kind, finding.rules) == ("ambiguity", ("ambiguity.two-answers",))
    assert finding.yes_keeps == finding.fact_ids[1:]
    assert REFUNDS.rstrip("?") in finding.reasoning


def test_the_same_answer_in_other_words_is_no_finding() -> None:
    again = ("Refunds: Priya Nair decides.", Answer(REFUNDS, "Priya Nair"))
    assert rules(("Priya decides about refunds.", Answer(REFUNDS, "Priya")), again) == []


def test_many_answers_to_one_question_are_one_finding() -> None:
    third = ("Refunds need the board.", Answer(REFUNDS, "the board"))
    [finding] = found(LEAD, TREASURER, third)
    assert len(finding.fact_ids) == 3


def test_a_name_that_a_change_left_in_one_matter_may_stay_in_another() -> None:
    cheques, leases = "Who signs cheques at the dock?", "Who signs leases at the dock?"
    facts = told(
        (
            "Cheques at the dock are now signed by Mallory instead of Helga.",
            Answer(cheques, "Mallory", was="Helga"),
        ),
        ("Leases at the dock: Helga signs.", Answer(leases, "Helga")),
    )
    near = {cheques: np.array([1.0, 0.0], np.float32), leases: np.array([0.75, 0.66], np.float32)}
    assert detect(facts, similar(facts, 0.5), now=NOW, questions=near) == []


def test_each_further_answer_that_agrees_with_a_side_belongs_to_the_same_finding() -> None:
    again = [(f"Desk of the support lead, {day}.", LEAD[1]) for day in ("May", "June", "July")]
    [finding] = found(TREASURER, LEAD, *again)
    assert len(finding.fact_ids) == 5
    assert finding.yes_keeps == finding.fact_ids[1:]


def test_an_answer_is_found_behind_many_newer_ones() -> None:
    leads = [(f"Note {n}: refunds go to the support lead.", LEAD[1]) for n in range(MAX_STATED + 9)]
    oldest = told(TREASURER)[0].id
    assert [finding for finding in found(TREASURER, *leads) if oldest in finding.fact_ids]


def test_one_statement_that_returns_two_answers_is_two_reversals() -> None:
    carts, sessions = "Where are carts stored?", "Where are sessions stored?"
    facts = told(
        ("Carts moved.", Answer(carts, "Valkey", was="Memcached")),
        ("Sessions moved.", Answer(sessions, "Postgres", was="Oracle")),
        ("Both.", Answer(carts, "Memcached"), Answer(sessions, "Oracle")),
    )
    vectors = {carts: np.array([1.0, 0.0], np.float32), sessions: np.array([0.0, 1.0], np.float32)}
    made = detect(facts, similar(facts, 0.3), now=NOW, questions=vectors)
    assert [f.fact_ids for f in made if f.kind == "reversal"] == [
        (facts[0].id, facts[2].id),
        (facts[1].id, facts[2].id),
    ]


@pytest.mark.parametrize(
    ("question", "given"),
    [
        (
            "Who locks the ice rink in the evening?",
            {
                "Otto": ["locks the ice rink at eight"],
                "Ines": ["locks the ice rink at closing time"],
            },
        ),
        (
            "Who mixes the dough?",
            {
                "Pia": ["mixes the dough at two", "mixes the dough in the big bowl"],
                "Luc": ["mixes the dough by machine", "mixes the dough after his break"],
            },
        ),
        (
            "Which team maintains the parser?",
            {
                "Team Amber": ["maintains the parser since its rewrite"],
                "Team Cobalt": ["maintains the parser with two people"],
            },
        ),
        (
            "Which crane unloads the barges?",
            {
                "Goliath": ["unloads the barges at pier two", "unloads the barges by night"],
                "Samson": ["unloads the barges while the tide is high"],
            },
        ),
    ],
)
def test_an_answer_that_is_the_subject_of_its_sentence_is_on_the_card_of_the_other_one(
    question: str, given: dict[str, list[str]]
) -> None:
    facts = [(f"{who} {what}.", Answer(question, who)) for who in given for what in given[who]]
    [finding] = found(*facts)
    notes = {fact.id: note_of(fact) for fact in told(*facts)}
    [part] = split_by_subject(finding, notes, Comparisons())
    assert len(part.fact_ids) == len(facts)
    newest = list(given)[-1]
    assert len(part.yes_keeps) == len(given[newest])


def test_a_part_of_a_finding_without_another_answer_is_no_finding() -> None:
    facts = [
        ("Backups of Etna are kept in the vault.", Answer(KEPT, "in the vault")),
        ("Backups of Etna are kept for us in the vault.", Answer(KEPT, "in the vault")),
        ("Backups of Ural are kept in the attic.", Answer(KEPT, "in the attic")),
    ]
    notes = {fact.id: note_of(fact) for fact in told(*facts)}
    ids = tuple(notes)
    answers = tuple(zip(ids, (one.answer for _, one in facts), strict=True))
    [some] = found(LEAD, TREASURER)
    finding = replace(some, fact_ids=ids, yes_keeps=ids[-1:], answers=answers)
    assert are_of_other_subjects(notes[ids[0]], notes[ids[2]])
    assert split_by_subject(finding, notes, Comparisons()) == []


@pytest.mark.parametrize(
    ("question", "earlier", "new", "other"),
    [
        ("When does the lake ferry leave?", "6 am", "6:00", "8:00"),
        ("How long is the lake ferry crossing?", "90 minutes", "1 h 30 min", "240 minutes"),
        ("How much is the lake ferry charter?", "1.000 €", "1000 €", "400 €"),
    ],
)
def test_an_earlier_answer_of_the_same_value_is_no_change(
    question: str, earlier: str, new: str, other: str
) -> None:
    first = (f"Lake ferry: {other}.", Answer(question, other))
    given = (f"The lake ferry stands at {new}.", Answer(question, new, was=earlier))
    assert rules(first, given) == ["ambiguity.two-answers"]


@pytest.mark.parametrize(
    ("question", "text", "length", "newer", "other"),
    [
        ("How long may a film be borrowed?", "Films go home for a week.", "7 days",
         "Readers bring films back after three weeks.", "21 days"),
        ("How long may a reel be borrowed?", "Reels go home for a week.", "a week",
         "Readers bring reels back after three weeks.", "three weeks"),
        ("How long are samples frozen?", "Samples lie in the freezer for four days.", "96 hours",
         "The freezer gives samples back after a fortnight.", "14 days"),
        ("How long do trainees sit at the desk?", "Trainees sit at the desk for two weeks.",
         "14 days", "Trainees leave the desk after five weeks.", "5 weeks"),
        ("How long is laundry soaked?", "Laundry soaks in the tub for a day.", "24 hours",
         "Laundry comes out of the tub after three days.", "three days"),
    ],
)  # fmt: skip
def test_a_length_in_another_unit_is_no_interim(
    question: str, text: str, length: str, newer: str, other: str
) -> None:
    older = (text, Answer(question, length))
    assert rules(older, (newer, Answer(question, other))) == ["ambiguity.two-answers"]


@pytest.mark.parametrize(
    ("question", "text", "answer", "interim", "other"),
    [
        ("Where are flu shots given?", "Flu shots are given upstairs.", "upstairs",
         "For two weeks flu shots are given in the lobby.", "in the lobby"),
        ("How many people are at the desk?", "Two people are at the desk.", "two",
         "For a week three people are at the desk.", "three"),
        ("How long may a film be borrowed?", "Films go home for a week.", "7 days",
         "During the festival films go home for two days.", "2 days"),
    ],
)  # fmt: skip
def test_what_holds_for_a_span_of_time_is_an_interim(
    question: str, text: str, answer: str, interim: str, other: str
) -> None:
    assert rules((text, Answer(question, answer)), (interim, Answer(question, other))) == []


KEPT = "Where are backups kept?"
FINE = "Is there a fine for late sledges?"
NO_FINE = ("Late sledges cost nothing more.", Answer(FINE, "no"))


def test_a_later_answer_that_presupposes_what_was_denied_is_an_ambiguity() -> None:
    high = ("Three euros an hour.", Answer("How high is the fine for late sledges?", "three euros"))
    [finding] = found(NO_FINE, high)
    assert (finding.kind, finding.rules) == ("ambiguity", ("ambiguity.answer-denied",))
    assert finding.yes_keeps == finding.fact_ids[1:]


@pytest.mark.parametrize(
    ("denial", "question", "answer"),
    [
        ("no, unless it snows", "How high is the fine for late sledges?", "three euros"),
        ("no", "How high is the fine for late skis?", "three euros"),
        ("no", "How high is the fine for late sledges in Bern?", "three euros"),
        ("no", "Why is there a fine for late sledges?", "to have them back"),
        ("no", "How high is the fine for late sledges?", "no"),
    ],
)
def test_a_denial_of_one_case_or_another_thing_is_not(
    denial: str, question: str, answer: str
) -> None:
    assert rules(("Late sledges.", Answer(FINE, denial)), ("Paid.", Answer(question, answer))) == []


def test_an_announced_fine_settles_the_denial() -> None:
    new = (
        "Since May late sledges cost a fine of 3 euros.",
        Answer("How high is the fine for late sledges?", "3 euros"),
    )
    assert rules(NO_FINE, new) == []


def test_an_end_that_names_a_successor_makes_the_older_answer_no_stale_one() -> None:
    old = ("The desk is at Kiln Road 12.", Answer("Where is the desk?", "Kiln Road 12"))
    moved = (
        "All is at Mill Square now, the keys to Kiln Road were handed back.",
        Answer("What is our address?", "Mill Square", was="Kiln Road"),
    )
    assert "stale.answer-gone" not in rules(old, moved)


def test_a_thing_without_a_capital_is_gone_where_it_is_the_whole_answer() -> None:
    gone = ("zipfinder is switched off.", Answer("Is zipfinder still running?", "no", was="yes"))
    used = ("The form asks it.", Answer("Which service finds the town of the form?", "zipfinder"))
    assert rules(gone, used) == ["stale.answer-gone"]


def test_an_announced_change_settles_what_was_answered_before() -> None:
    changed = ("The board does it.", Answer(REFUNDS, "the board", was="the support lead"))
    assert rules(LEAD, changed) == []


def test_a_change_told_by_the_text_alone_settles_too() -> None:
    changed = ("Refunds were handed over to the board.", Answer(REFUNDS, "the board"))
    assert rules(LEAD, changed) == []


def test_an_answer_from_before_a_change_is_a_reversal() -> None:
    changed = ("The board does it.", Answer(REFUNDS, "the board", was="the support lead"))
    [finding] = found(LEAD, changed, ("Ask the support lead.", Answer(REFUNDS, "support lead")))
    assert (finding.kind, finding.rules) == ("reversal", ("reversal.answer-returns",))
    assert len(finding.fact_ids) == 3
    assert finding.yes_keeps == (finding.fact_ids[0], finding.fact_ids[2])


def test_a_change_that_names_the_earlier_answer_needs_no_earlier_memory() -> None:
    changed = ("The board does it.", Answer(REFUNDS, "the board", was="the support lead"))
    [finding] = found(changed, ("Ask the support lead.", Answer(REFUNDS, "support lead")))
    assert (finding.kind, len(finding.fact_ids)) == ("reversal", 2)


def test_an_announced_return_is_no_reversal() -> None:
    changed = ("The board does it.", Answer(REFUNDS, "the board", was="the support lead"))
    back = ("The support lead again.", Answer(REFUNDS, "the support lead", was="the board"))
    assert rules(LEAD, changed, back) == []


def test_an_answer_that_something_is_gone_makes_older_answers_stale() -> None:
    [finding] = found(
        ("Mireille nods through rules.", Answer("Who approves rule changes?", "Mireille")),
        ("Cake for Mireille on Friday.", Answer("Does Mireille still work here?", "no")),
    )  # fmt: skip
    assert (finding.kind, finding.rules) == ("stale", ("stale.answer-gone",))
    assert finding.yes_keeps == finding.fact_ids[:1]


def test_a_successor_leaves_nothing_stale() -> None:
    asked = "Who approves rule changes?"
    assert rules(
        ("Rule changes need a nod from Mireille.", Answer(asked, "Mireille")),
        ("Mireille starts at the bank.", Answer("Does Mireille still work here?", "no", "yes")),
        ("Rule changes go to Jonas.", Answer(asked, "Jonas", was="Mireille")),
    ) == []  # fmt: skip


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (Answer("How long does the build take?", "38 minutes"),
         Answer("How long does the build take?", "21 minutes")),
        (Answer("Is ticket 7 done?", "no"), Answer("Is ticket 7 done?", "yes")),
        (Answer("Who is host this week?", "Ana"), Answer("Who is host?", "Ben")),
    ],
)  # fmt: skip
def test_measurements_progress_and_passing_weeks_are_no_findings(
    first: Answer, second: Answer
) -> None:
    day = ("Noted.", first)
    assert rules(day, *[("Nothing new.",)] * 9, ("Noted again.", second)) == []


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("What does entry cost?", "How much does entry cost?"),
        ("What is the entry fee?", "How high is the entry fee?"),
    ],
)
def test_a_price_is_set_and_not_measured(one: str, other: str) -> None:
    adults = ("Entry is 5 euros for grown-ups.", Answer(one, "5 euros"))
    desk = ("Grown-ups pay seven at the desk.", Answer(other, "7 euros"))
    assert rules(adults, desk) == ["ambiguity.two-answers"]


def test_two_answers_may_be_the_subjects_of_their_sentences() -> None:
    cheques = "Who signs cheques?"
    one = ("The treasurer signs cheques.", Answer(cheques, "the treasurer"))
    other = ("The chair signs cheques.", Answer(cheques, "the chair"))
    assert rules(one, other) == ["ambiguity.two-answers"]


def test_values_of_two_subjects_stay_apart() -> None:
    capacity = "How much does the tank hold?"
    etna = ("Tank of Etna holds 10 litres.", Answer(capacity, "10 litres"))
    ural = ("Tank of Ural holds 20 litres.", Answer(capacity, "20 litres"))
    assert rules(etna, ural) == []


def test_a_name_that_is_told_from_its_namesakes_is_not_the_bare_name() -> None:
    analyst = ("Jonas (the analyst) works from Porto.", Answer("Where is Jonas?", "Porto"))
    leader = ("Jonas sits in Leipzig with his map people.", Answer("Where is Jonas?", "Leipzig"))
    assert rules(analyst, leader) == []
    same = ("The analyst Jonas sits in Leipzig.", Answer("Where is Jonas?", "Leipzig"))
    assert rules(analyst, same) == ["ambiguity.two-answers"]


def test_who_takes_something_is_not_measured() -> None:
    fare = "What does it cost to take a bike along?"
    free = ("Bikes travel free.", Answer(fare, "nothing"))
    assert rules(free, ("A bike needs a two-euro ticket.", Answer(fare, "2 euros"))) == [
        "ambiguity.two-answers"
    ]


def test_what_two_purchases_did_cost_is_no_contradiction() -> None:
    retreat = "How much did the retreat cost?"
    first = ("The retreat came to 4,200 euros.", Answer(retreat, "4,200 euros"))
    assert rules(first, ("The retreat was 5,100 euros.", Answer(retreat, "5,100 euros"))) == []


def test_a_duration_that_is_the_answer_is_no_interim() -> None:
    kept = "How long are logs kept?"
    month = ("Logs are dropped after 30 days.", Answer(kept, "30 days"))
    assert rules(month, ("For 90 days you find the logs.", Answer(kept, "90 days"))) == [
        "ambiguity.two-answers"
    ]
    interim = ("For two weeks logs go to tape.", Answer("Where do logs go?", "to tape"))
    disk = ("Logs go to disk.", Answer("Where do logs go?", "to disk"))
    assert rules(disk, interim) == []


def test_an_answer_of_the_other_value_to_a_near_question_shows_that_it_is_known() -> None:
    own, sidecar = (
        Answer("Which port does geo use?", "8088"),
        Answer("Which port does geo use in its sidecar?", "8080"),
    )
    assert rules(
        ("geo's sidecar is on 8080.", sidecar, own),
        ("geo is on 8080?", Answer("Which port does geo use?", "8080")),
    ) == []  # fmt: skip


def test_a_finding_of_hundreds_of_answers_has_the_newest() -> None:
    asked = "When does the gate close?"
    many = [(f"Gate {n} closes at {n % 24}:00.", Answer(asked, f"{n % 24}:00")) for n in range(300)]
    for finding in found(*many):
        assert len(finding.fact_ids) <= 60


def test_an_end_makes_stale_what_presupposes_its_thing() -> None:
    [finding] = found(
        ("Dad has Eliquis at breakfast.", Answer("Which blood thinner does Dad take?", "Eliquis")),
        ("Blood thinning was ended on discharge.",
         Answer("Does Dad take a blood thinner?", "no", "yes")),
    )  # fmt: skip
    assert (finding.kind, finding.rules) == ("stale", ("stale.answer-gone",))


def test_who_says_that_a_thing_was_left_relies_on_it_no_more() -> None:
    moved = Answer("Where are logs searched?", "Loki", "Elastic")
    kept = Answer("Where are logs kept for 14 days?", "Elastic")
    assert rules(
        ("Search in Loki, Elastic is read-only.", moved, kept),
        ("Elastic cluster removed.", Answer("Is Elastic still running?", "no", "yes")),
    ) == []  # fmt: skip


def test_the_same_words_about_two_things_of_a_kind_are_no_contradiction() -> None:
    first, second = told(
        ("Requests are cut after 30 s.", Answer("What is the timeout?", "30 s")),
        ("We give up after 10 s.", Answer("What is the timeout?", "10 s")),
    )
    apart = [replace(first, scope="svc:billing"), replace(second, scope="svc:search")]
    assert detect(apart, similar(apart, 0.3), now=NOW) == []
    together = [replace(fact, scope="svc:billing") for fact in (first, second)]
    [finding] = detect(together, similar(together, 0.3), now=NOW)
    assert finding.rules == ("ambiguity.two-answers",)


def test_a_return_told_by_rule_and_writer_is_one_finding() -> None:
    asked = "Where are carts stored?"
    story_of_carts = told(
        ("The storefront keeps carts in Memcached.",),
        ("Moved the storefront carts from Memcached to Valkey.",
         Answer(asked, "Valkey", "Memcached")),
        ("Cart lookups of the storefront read Memcached.", Answer(asked, "Memcached")),
    )  # fmt: skip
    [finding] = detect(story_of_carts, similar(story_of_carts, 0.7), now=NOW)
    assert set(finding.rules) == {"reversal.answer-returns", "reversal.value-returns"}
    assert len(finding.fact_ids) == 3


def test_a_change_that_the_text_does_not_speak_of_settles_nothing() -> None:
    claimed = Answer("How many seats does the Lund shop have?", "90", was="24")
    assert rules(
        ("The Lund shop has 24 seats.", Answer("How many seats does the Lund shop have?", "24")),
        ("It rained, so everybody stayed in.", claimed),
    ) == ["ambiguity.two-answers"]  # fmt: skip


def test_values_of_two_months_and_members_of_a_list_are_no_contradiction() -> None:
    made = "What is the production of the mill?"
    assert rules(
        ("The mill made 300 t in May.", Answer(made, "300 t")),
        ("The mill made 320 t in June.", Answer(made, "320 t")),
    ) == []  # fmt: skip
    pets = "Which pets does the team have?"
    assert rules(
        ("There is a dog called Rex.", Answer(pets, "Rex")),
        ("A cat, Minka, lives in the office.", Answer(pets, "Minka")),
    ) == []  # fmt: skip


LEFT = ("Farewell drinks for Mireille.", Answer("Does Mireille still work here?", "no", "yes"))
RELIES = ("Mireille nods through rules.", Answer("Who approves rule changes?", "Mireille"))


def test_a_newer_answer_that_relies_on_what_is_gone_is_stale_too() -> None:
    [finding] = found(LEFT, RELIES)
    assert (finding.kind, finding.rules) == ("stale", ("stale.answer-gone",))
    assert finding.fact_ids == ("f0", "f1")
    assert "says that it is back" in finding.reasoning


@pytest.mark.parametrize(
    "between",
    [
        ("Mireille is back from the bank.", Answer("Who is back?", "Mireille")),
        ("Rule changes moved from Mireille to Jonas.", Answer("When is the handover?", "Tuesday")),
    ],
)
def test_what_is_told_of_it_since_its_end_settles(between: Told) -> None:
    assert rules(LEFT, between, RELIES) == []


@pytest.mark.parametrize(
    "fate", ["sold to a farm", "It was scrapped.", "stolen last night", "given away"]
)
def test_the_fate_of_a_thing_tells_that_it_is_gone(fate: str) -> None:
    told_fate = ("News of the red mower.", Answer("What happened to the red mower?", fate))
    used = ("The lawn is cut by the red mower.", Answer("What cuts the lawn?", "the red mower"))
    assert rules(told_fate, used) == ["stale.answer-gone"]


@pytest.mark.parametrize("fate", ["oiled", "lost its cover", "left outside", "closed early"])
def test_a_fate_that_is_no_end_makes_nothing_stale(fate: str) -> None:
    told_fate = ("News of the red mower.", Answer("What happened to the red mower?", fate))
    used = ("The lawn is cut by the red mower.", Answer("What cuts the lawn?", "the red mower"))
    assert rules(told_fate, used) == []


def test_an_identifier_names_a_thing_by_itself() -> None:
    gone = ("Card 8812 was blocked.", Answer("Is the fuel card ending in 8812 valid?", "no", "yes"))
    used = ("Fuel goes on 8812.", Answer("Which card pays for fuel?", "8812"))
    assert rules(gone, used) == ["stale.answer-gone"]


def test_a_number_alone_does_not_name_the_thing() -> None:
    gone = ("Machine 2030 is sold.", Answer("Is machine 2030 still in service?", "no", "yes"))
    room = ("The printer is in room 2030.", Answer("Where is the printer?", "room 2030"))
    price = ("The pump costs 2030 EUR.", Answer("What does the pump cost?", "2030 EUR"))
    assert (rules(room, gone), rules(gone, room), rules(gone, price)) == ([], [], [])


def test_the_owner_of_what_is_gone_is_not_gone() -> None:
    gone = ("Ana's laptop was stolen.", Answer("Does Ana's laptop still exist?", "no", "yes"))
    assert rules(gone, ("Ana keeps the keys.", Answer("Who keeps the keys?", "Ana"))) == []


BOUGHT = (
    "We left Tilling for the rye of Brand.",
    Answer("Where do we buy rye?", "Brand", was="Tilling"),
)


def named_again(question: str, cosine: float) -> list[str]:
    """Return what is found where Tilling answers another question, by the questions' cosine."""
    made = told(BOUGHT, ("Rye sacks by Tilling.", Answer(question, "Tilling")))
    far = np.array([cosine, np.sqrt(1 - cosine**2)], dtype=np.float32)
    questions = {"Where do we buy rye?": np.array([1.0, 0.0], dtype=np.float32), question: far}
    findings = detect(made, similar(made, 0.3), now=NOW, questions=questions)
    return [finding.rules[0] for finding in findings]


def test_a_name_that_a_change_left_may_return_in_another_question_on_its_matter() -> None:
    assert named_again("Which mill delivers the rye?", 0.5) == ["reversal.answer-returns"]


@pytest.mark.parametrize(
    ("question", "cosine"),
    [
        ("Which mill delivers the wheat?", 0.5),  # no word in common
        ("Which mill delivers the rye?", 0.4),
        ("Which mill delivered rye in 2019?", 0.5),
        ("Where do we buy the sacks of the rye?", 0.55),  # of a part of it
    ],
)
def test_a_name_in_a_question_on_another_matter_is_no_return(question: str, cosine: float) -> None:
    assert named_again(question, cosine) == []


def test_two_writers_who_answer_plainly_know_of_no_condition() -> None:
    asked = "Are calls recorded?"
    assert rules(
        ("We do not tape calls.", Answer(asked, "no")),
        ("If a caller insists, Milan listens to the recording.", Answer(asked, "yes")),
    ) == ["ambiguity.two-answers"]  # fmt: skip


def test_who_is_with_us_no_more_is_named_in_the_question() -> None:
    gone = ("Ida's last day was today.", Answer("Where does Ida Falk work?", "Trieste", was="here"))
    used = ("Lasers: see Ida first.", Answer("Who gives the briefing?", "Ida Falk"))
    assert rules(gone, used) == ["stale.answer-gone"]


def test_part_of_a_name_of_what_is_gone_is_enough_with_the_rest() -> None:
    gone = (
        "The hatch on Elm Street is closed for good.",
        Answer("Is the evening hatch on Elm Street open?", "no", was="yes"),
    )
    used = ("Pick it up on Elm Street.", Answer("Where is it?", "the hatch on Elm Street"))
    other = ("Pick it up on Elm Street.", Answer("Where is it?", "the bakery on Elm Street"))
    assert (rules(gone, used), rules(gone, other)) == (["stale.answer-gone"], [])


def test_what_begins_this_week_has_no_end() -> None:
    asked = "Who clears transfers?"
    changed = ("As of this week Dublin clears them.", Answer(asked, "Dublin", was="Sanne Berg"))
    assert rules(changed, ("Write to Sanne.", Answer(asked, "Sanne Berg"))) == [
        "reversal.answer-returns"
    ]


@pytest.mark.parametrize(
    ("question", "one", "other"),
    [
        (
            "Who approves the loan of a costume?",
            ("No costume leaves the house without Odile's signature.", "Odile"),
            ("Other stages ask for costumes: ring Bartek, he says yes or no.", "Bartek"),
        ),
        (
            "Until when is a ticket refunded?",
            ("Tickets are taken back up to 48 hours before.", "48 hours before the show"),
            ("Two evenings ahead I sent a guest away.", "until 3 days before the show"),
        ),
        (
            "Where do lorries unload?",
            ("Lorries unload at the canal gate.", "the canal gate"),
            ("Told the haulier to back up to the dock.", "the dock"),
        ),
    ],
)
def test_writers_of_one_question_contradict_in_whatever_words(
    question: str, one: tuple[str, str], other: tuple[str, str]
) -> None:
    facts = [(text, Answer(question, answer)) for text, answer in (one, other)]
    assert rules(*facts) == ["ambiguity.two-answers"]


def test_what_is_done_tonight_on_a_condition_is_done_on_any_day() -> None:
    asked = "Which system sells tickets?"
    changed = ("The box office went from Tixel to Spektrix.", Answer(asked, "Spektrix", "Tixel"))
    used = ("If you want to know what is left for tonight, open Tixel.", Answer(asked, "Tixel"))
    assert rules(changed, used) == ["reversal.answer-returns"]


def test_a_condition_that_is_not_the_answer_parts_two_answers() -> None:
    asked = "Where is the market?"
    assert rules(
        ("If it rains the market is in the hall.", Answer(asked, "in the hall")),
        ("The market is on the square.", Answer(asked, "on the square")),
    ) == []  # fmt: skip


def test_the_card_of_a_name_that_returns_tells_both_questions() -> None:
    made = told(BOUGHT, ("Rye sacks by Tilling.", Answer("Which mill brings the rye?", "Tilling")))
    vector = np.array([1.0, 0.0], dtype=np.float32)
    questions = {answer.question: vector for fact in made for answer in fact.answers}
    questions["Which mill brings the rye?"] = np.array([0.5, 0.75**0.5], dtype=np.float32)
    [finding] = detect(made, similar(made, 0.3), now=NOW, questions=questions)
    assert "Where do we buy rye" in finding.reasoning
    assert "Which mill brings the rye" in finding.reasoning


def test_a_house_that_has_a_thing_no_more_is_not_gone() -> None:
    gone = (
        "We sold the scissor lift.",
        Answer("Does the theatre have a scissor lift?", "no", "yes"),
    )
    used = ("Lamps take the scissor lift.", Answer("What do lamps take?", "the scissor lift"))
    house = ("We meet in the theatre.", Answer("Where do we meet?", "the theatre"))
    assert (rules(gone, used), rules(gone, house)) == (["stale.answer-gone"], [])
