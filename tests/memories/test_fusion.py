"""One score, recomputable from its factors."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core.fusion import (
    Candidate,
    FusionWeights,
    choose_leading,
    freshness,
    fuse,
)
from memories.core.named_agents import find_named_agents

ALONE = FusionWeights(text=0.5, late=0.5, previous=0.0, next=0.0, session=0.0, other_agent=1.0)
share = st.floats(0, 1)
candidates = st.lists(
    st.builds(
        Candidate,
        id=st.just(0),
        cosine=st.none() | st.floats(-1, 1),
        text=st.none() | share,
        previous=st.none() | st.integers(0, 9),
        next=st.none() | st.integers(0, 9),
        agent=st.sampled_from(["", "Ada", "Bob"]),
        provenance_weight=share,
        confidence=share,
        freshness=st.floats(0.85, 1),
        late=st.none() | share,
        session=st.sampled_from(["", "s1", "s2"]),
        hour=st.floats(0, 3),
        words=st.integers(0, 2000),
        weight_factor=st.floats(0.2, 1),
        confidence_factor=st.floats(0.2, 1),
        question=st.none() | st.floats(-1, 1),
    ),
    max_size=10,
).map(lambda found: [c._replace(id=i) for i, c in enumerate(found)])


def ids(factors):
    return [f.id for f in factors]


def test_text_and_vector_are_weighed():
    [factors] = fuse([Candidate("a", cosine=0.6, text=0.2)], weights=ALONE)

    assert factors.own == pytest.approx(0.4)
    assert (factors.score, factors.text, factors.vector) == (factors.own, 0.2, 0.6)


def test_missing_and_negative_signals_count_as_nothing():
    found = [Candidate("a", cosine=-0.5, text=0.4), Candidate("b", cosine=0.4), Candidate("c")]

    assert [f.own for f in fuse(found, weights=ALONE)] == [0.2, 0.2, 0.0]


def test_a_query_without_vector_is_judged_by_its_words_alone():
    [factors] = fuse([Candidate("a", text=0.8)], has_vector=False, weights=ALONE)

    assert (factors.own, factors.text_weight) == (0.8, 1.0)


def test_a_query_without_terms_is_judged_by_its_vector_alone():
    [factors] = fuse([Candidate("a", cosine=0.8)], has_terms=False, weights=ALONE)

    assert (factors.own, factors.text_weight) == (0.8, 0.0)


def test_neighbours_in_a_session_lend_part_of_their_score():
    weights = FusionWeights(text=0.5, previous=0.5, next=0.25, session=0.0)
    found = [
        Candidate("question", cosine=0.8, text=0.8, next="answer"),
        Candidate("answer", cosine=0.4, text=0.0, previous="question"),
        Candidate("other", cosine=0.4, text=0.0),
    ]

    scores = {f.id: f for f in fuse(found, weights=weights)}

    assert scores["question"].fused == pytest.approx(0.8 + 0.2 * 0.25 * 0.2)
    assert scores["answer"].fused == pytest.approx(0.2 + 0.8 * 0.5 * 0.8)
    assert scores["other"].fused == pytest.approx(0.2)


def test_a_long_memory_takes_and_lends_less():
    weights = FusionWeights(text=0.5, previous=0.5, next=0.0, session=0.0)

    def second(words, words_before):
        found = [
            Candidate("before", cosine=0.8, text=0.8, words=words_before),
            Candidate("it", cosine=0.2, text=0.2, previous="before", words=words),
        ]
        return {f.id: f for f in fuse(found, weights=weights)}["it"].context

    assert second(20, 30) == pytest.approx(0.4)
    assert second(80, 30) == pytest.approx(0.2)  # the square root of a quarter
    assert second(20, 120) == pytest.approx(0.1)  # a quarter


def test_a_long_memory_of_a_session_lifts_others_less_and_is_lifted_less():
    weights = replace(ALONE, session=0.4)

    def other(words, words_of_best):
        found = [
            Candidate("best", cosine=0.8, text=0.8, session="s", words=words_of_best),
            Candidate("other", cosine=0.2, text=0.2, session="s", words=words),
        ]
        return {f.id: f.fused for f in fuse(found, weights=weights)}["other"]

    assert other(20, 30) == pytest.approx(0.6 * 0.2 + 0.4 * 0.8)
    assert other(20, 60) == pytest.approx(0.6 * 0.2 + 0.4 * 0.4)
    assert other(20, 600) == pytest.approx(0.2)  # its own turn is better than what is lent
    assert other(80, 30) == pytest.approx(0.8 * 0.2 + 0.2 * 0.8)


def test_memories_of_other_agents_weigh_less_only_when_one_is_named():
    found = [Candidate("a", text=1.0, agent="Ada"), Candidate("b", text=1.0, agent="Bob")]
    weights = FusionWeights(text=1.0, other_agent=0.7)

    assert [f.score for f in fuse(found, weights=weights)] == [1.0, 1.0]
    named = fuse(found, named_agents={"Bob"}, weights=weights)
    assert [(f.id, f.agent, f.score) for f in named] == [("b", 1.0, 1.0), ("a", 0.7, 0.7)]


def test_a_question_that_a_memory_answers_is_another_text_of_it():
    weights = replace(ALONE, question=0.6)
    found = [
        Candidate("told", cosine=0.2, text=0.0, question=0.81),
        Candidate("other", cosine=0.2, text=0.0, question=0.1),
        Candidate("opposite", cosine=0.2, text=0.0, question=-0.9),
        Candidate("silent", cosine=0.2, text=0.0),
    ]
    told, *rest = fuse(found, weights=weights)
    assert (told.id, told.own) == ("told", pytest.approx(0.6 * 0.81**1.5))
    assert (told.question, told.question_weight) == (0.81, 0.6)
    assert ids(rest) == ["other", "opposite", "silent"]
    assert [f.own for f in rest] == pytest.approx([0.1] * 3)
    assert [(f.question, f.question_weight) for f in rest] == [(0.1, 0.6), (0.0, 0.6), (None, 0.0)]


def test_a_question_does_not_lower_a_memory_that_matches_by_itself():
    [factors] = fuse([Candidate("a", cosine=0.9, text=0.9, question=0.5)], weights=ALONE)
    assert factors.own == pytest.approx(0.9)


@given(candidates, st.integers(0, 10))
def test_the_leading_candidates_are_the_first_of_the_order(found, limit):
    assert choose_leading(found, limit) == ids(fuse(found))[:limit]


def test_trust_multiplies():
    found = [Candidate("a", 1.0, 1.0, provenance_weight=0.9, confidence=0.5, freshness=0.9)]

    [factors] = fuse(found, weights=ALONE)

    assert factors.fused == 1.0
    assert factors.score == pytest.approx(0.9 * 0.75 * 0.9)


def test_ties_keep_the_order_they_came_in():
    found = [Candidate(name, cosine=0.5) for name in "zaq"]

    assert ids(fuse(found)) == ["z", "a", "q"]


@given(candidates, st.sets(st.sampled_from(["Ada", "Bob"])))
def test_every_score_can_be_recomputed_and_stays_in_range(found, named):
    for f in fuse(found, named_agents=named):
        first = f.text_weight * f.text + (1 - f.text_weight) * f.vector
        said = (1 - f.late_weight) * first + f.late_weight * (f.late or 0.0)
        own = max(said, f.question_weight * (f.question or 0.0) ** 1.5)
        turn = (own + (1 - own) * f.context) * f.agent
        fused = (1 - f.session_weight) * turn + f.session_weight * f.session
        term = max(0.2, (0.5 + 0.5 * f.confidence) * f.confidence_factor)
        score = fused * f.provenance_weight * f.weight_factor * term * f.freshness
        assert (f.own, f.turn, f.fused, f.score) == pytest.approx((own, turn, fused, score))
        assert -1e-12 <= f.score <= f.fused <= 1 + 1e-12
        assert f.session >= f.turn


@given(candidates)
def test_without_distrust_the_order_is_the_fused_order(found):
    """Pitfall 20."""
    trusted = [
        c._replace(
            provenance_weight=1.0,
            weight_factor=1.0,
            confidence=1.0,
            confidence_factor=1.0,
            freshness=1.0,
        )
        for c in found
    ]

    factors = fuse(trusted)

    assert [f.score for f in factors] == [f.fused for f in factors]
    assert [f.fused for f in factors] == sorted((f.fused for f in factors), reverse=True)


def test_the_confidence_term_has_a_floor():
    [factors] = fuse([Candidate("a", 1.0, 1.0, confidence=0.0, confidence_factor=0.2)])

    assert factors.confidence_term == 0.2


def test_what_the_second_stage_read_is_mixed_in_and_what_it_did_not_read_is_not():
    found = [Candidate("a", cosine=0.4, text=0.4, late=0.8), Candidate("b", cosine=0.4, text=0.4)]

    read, unread = fuse(found, weights=ALONE)

    assert (read.own, read.late_weight) == (pytest.approx(0.6), 0.5)
    assert (unread.own, unread.late, unread.late_weight) == (pytest.approx(0.4), None, 0.0)


def test_the_best_turn_of_a_session_lifts_what_was_said_within_the_hour():
    weights = replace(ALONE, session=0.25)
    found = [
        Candidate("best", cosine=0.8, text=0.8, session="s", hour=0.0),
        Candidate("near", cosine=0.4, text=0.4, session="s", hour=0.9),
        Candidate("later", cosine=0.4, text=0.4, session="s", hour=2.5),
        Candidate("elsewhere", cosine=0.4, text=0.4),
    ]

    fused = {f.id: f.fused for f in fuse(found, weights=weights)}

    assert fused == pytest.approx(
        {"best": 0.8, "near": 0.75 * 0.4 + 0.25 * 0.8, "later": 0.4, "elsewhere": 0.4}
    )


@given(candidates, candidates)
def test_other_candidates_change_no_score(found, others):
    alone = [Candidate(c.id, c.cosine, c.text, agent=c.agent) for c in found]
    more = [Candidate(f"other {c.id}", c.cosine, c.text) for c in others]

    expected = {f.id: f.score for f in fuse(alone)}
    assert {f.id: f.score for f in fuse(alone + more) if f.id in expected} == expected


@pytest.mark.parametrize(
    ("query", "named"),
    [
        ("When did Caroline go?", {"Caroline"}),
        ("What's Caroline's plan with Tim?", {"Caroline", "Tim"}),
        ("when did caroline go?", set()),  # a single word might be an ordinary one
        ("what did @caroline say?", {"Caroline"}),
        ("what did the deploy agent say?", {"deploy-agent"}),
        ("Does the build run?", set()),
        ("Carolines and timing", set()),
        ("", set()),
    ],
)
def test_agents_are_named_by_all_their_words(query, named):
    assert find_named_agents(query, ["Caroline", "Tim", "deploy-agent", "build", "", "--"]) == named


def test_freshness_halves_the_way_to_its_floor_each_year():
    assert freshness(0) == 1.0
    assert freshness(-3) == 1.0
    assert freshness(365) == pytest.approx(0.925)
    assert freshness(1e9) == pytest.approx(0.85)


@given(st.floats(0, 1e6), st.floats(0, 1e6))
def test_freshness_never_rises_with_age(a, b):
    assert freshness(min(a, b)) >= freshness(max(a, b))
    assert 0.85 <= freshness(a) <= 1
