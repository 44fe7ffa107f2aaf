"""Labels: every rule, their order, and what nothing can push them beyond."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.labels import Evidence, is_flat, label

STRONG, WEAK = 0.7, 0.2

RULES = {
    # the judge's word; without it nothing is known
    "judged": (Evidence(relevance=0.4), STRONG, 0.4, 0.4),
    "judged, shown": (Evidence(relevance=0.4, was_injected=True), STRONG, 0.4, 0.4),
    "unjudged": (Evidence(), STRONG, None, None),
    "judge unsure": (Evidence(is_unsure=True), STRONG, None, None),
    "judge unsure, searched once": (Evidence(is_unsure=True, hit_count=1), STRONG, None, 0.3),
    "judge unsure, shown": (Evidence(is_unsure=True, was_injected=True), WEAK, None, None),
    "unjudged in a weak session": (Evidence(), WEAK, None, None),
    "shown, unjudged, weak": (Evidence(was_injected=True), WEAK, None, None),
    "shown, unjudged": (Evidence(was_injected=True, hit_count=3), STRONG, None, None),
    # injected
    "matched": (Evidence(relevance=0.4, was_injected=True, hit_count=1), STRONG, 0.4, 0.5),
    "matched often": (Evidence(relevance=0.4, was_injected=True, hit_count=9), WEAK, 0.4, 0.5),
    "matched, top": (Evidence(relevance=0.95, was_injected=True, hit_count=1), STRONG, 0.95, 1),
    "weak, unmatched": (Evidence(relevance=0.4, was_injected=True), WEAK, 0.4, 0.3),
    "weak, worthless": (Evidence(relevance=0.0, was_injected=True), WEAK, 0.0, -0.1),
    "not that weak": (Evidence(relevance=0.4, was_injected=True), 0.3, 0.4, 0.4),
    # not injected
    "searched once": (Evidence(hit_count=1), STRONG, None, 0.3),
    "searched twice": (Evidence(hit_count=2), STRONG, None, 0.6),
    "searched, judged lower": (Evidence(relevance=0.1, hit_count=5), STRONG, 0.1, 0.6),
    "searched, judged higher": (Evidence(relevance=0.9, hit_count=5), STRONG, 0.9, 0.9),
    "missing": (Evidence(is_named_missing=True), STRONG, None, 0.7),
    "missing and searched": (Evidence(is_named_missing=True, hit_count=4), STRONG, None, 0.7),
    "missing, judged higher": (Evidence(relevance=0.9, is_named_missing=True), STRONG, 0.9, 0.9),
    "not shown in a weak session": (Evidence(relevance=0.4), WEAK, 0.4, 0.4),
    # the agent's feedback comes first
    "feedback": (Evidence(relevance=0.9, feedback=-0.5), STRONG, 0.9, -0.5),
    "feedback, shown, weak": (Evidence(relevance=0, was_injected=True, feedback=0.5), WEAK, 0, 0.5),
    "feedback and matches": (Evidence(relevance=0.4, feedback=0.0, hit_count=7), STRONG, 0.4, 0.0),
    "feedback on the unjudged": (Evidence(was_injected=True, feedback=0.8), STRONG, None, 0.8),
    "feedback too high": (Evidence(feedback=7.0), STRONG, None, 1.0),
    "feedback too low": (Evidence(feedback=-7.0), STRONG, None, -1.0),
    # what was done to the memory afterwards only lowers
    "superseded": (Evidence(relevance=0.9, superseded=True), STRONG, 0.9, -0.3),
    "superseded, unjudged": (Evidence(was_injected=True, superseded=True), STRONG, None, -0.3),
    "superseded, +": (Evidence(relevance=0.9, feedback=1, superseded=True), STRONG, 0.9, -0.3),
    "superseded, -": (Evidence(relevance=0.9, feedback=-1, superseded=True), STRONG, 0.9, -1.0),
    "forgotten": (
        Evidence(relevance=0.9, was_injected=True, forgotten_by_person_within_24h=True),
        STRONG, 0.9, -0.5,
    ),
    "forgotten, never shown": (
        Evidence(relevance=0.9, forgotten_by_person_within_24h=True), STRONG, 0.9, 0.9,
    ),
    "both": (
        Evidence(was_injected=True, superseded=True, forgotten_by_person_within_24h=True),
        STRONG, None, -0.5,
    ),
    # merged or culled
    "withdrawn": (Evidence(relevance=0.9, feedback=1.0, is_withdrawn=True), STRONG, None, None),
}  # fmt: skip


@pytest.mark.parametrize("name", RULES)
def test_rules_of_labels(name):
    evidence, session_score, raw, final = RULES[name]

    found = label(evidence, session_score=session_score)

    assert (found.raw, found.final) == (pytest.approx(raw), pytest.approx(final))


def test_a_label_names_its_rules_in_order():
    evidence = Evidence(relevance=0.2, hit_count=2, is_named_missing=True, superseded=True)

    assert label(evidence, session_score=STRONG).reasons == (
        "judged",
        "matched twice or more",
        "named as missing",
        "superseded",
    )


def facts(**fixed):
    return st.builds(
        Evidence,
        relevance=fixed.get("relevance", st.none() | st.floats(0, 1)),
        was_injected=st.booleans(),
        hit_count=st.integers(0, 1000),
        feedback=fixed.get("feedback", st.none() | st.floats(-1, 1)),
        is_named_missing=fixed.get("is_named_missing", st.booleans()),
        superseded=fixed.get("superseded", st.booleans()),
        forgotten_by_person_within_24h=fixed.get("forgotten", st.booleans()),
        is_withdrawn=st.booleans(),
    )


@given(facts(), st.floats(0, 1))
def test_labels_stay_within_one(evidence, score):
    found = label(evidence, session_score=score)

    assert found.final is None or -1 <= found.final <= 1
    assert found.raw is None or 0 <= found.raw <= 1


@given(facts(feedback=st.none(), is_named_missing=st.just(False)), st.floats(0, 1))
def test_no_matches_raise_a_label_beyond_a_tenth_or_six_tenths(evidence, score):
    """Crafted words that match every prompt: the most that they can gain."""
    found = label(evidence, session_score=score)

    if evidence.relevance is None and not evidence.is_withdrawn and not evidence.superseded:
        assert found.final is None or found.final <= 0.6
    if found.raw is not None:
        most = found.raw + 0.1 if evidence.was_injected else max(found.raw, 0.6)
        assert found.final <= most + 1e-9


@given(facts(feedback=st.floats(-1, 1)), st.floats(0, 1))
def test_no_words_outweigh_the_agents_feedback(evidence, score):
    found = label(evidence, session_score=score)

    assert found.final is None or found.final <= evidence.feedback


@given(facts(superseded=st.just(False), forgotten=st.just(False)), st.floats(0, 1))
def test_only_what_was_done_to_a_memory_lowers_it_beyond_a_tenth(evidence, score):
    """Without a correction or the agent's own word nothing falls below -0.1."""
    found = label(evidence, session_score=score)

    if evidence.feedback is None and found.raw is not None:
        assert found.final >= found.raw - 0.1 - 1e-9


@pytest.mark.parametrize(
    ("relevances", "expected"),
    [([], True), ([0.7], True), ([0.2, 0.3], True), ([0.2, 0.31], False), ([0.3, 0.2, 0.1], False)],
)
def test_flat_is_all_within_a_tenth(relevances, expected):
    assert is_flat(relevances) is expected
