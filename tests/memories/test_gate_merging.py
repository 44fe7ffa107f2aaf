"""Taking a merge out of a memory leaves what it would hold without it."""

from __future__ import annotations

from functools import reduce
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from memories.core.merging import MergeStep, fold, without

QUESTIONS = ["Who?", "What?", "When?"]
CLASSES = ["user_stated", "episode_summary", "assistant_derived"]


@st.composite
def statements(draw: Any) -> dict[str, Any]:
    return {
        "content": draw(st.sampled_from("abcdefgh")),
        "provenance": draw(st.sampled_from(CLASSES)),
        "confidence": draw(st.sampled_from([0.1, 0.5, 0.7, 1.0])),
        "importance": draw(st.sampled_from([0.2, 0.5, 0.9])),
        "kind": draw(st.sampled_from(["semantic", "decision", "constraint"])),
        "pinned": draw(st.booleans()),
        "metadata": draw(st.dictionaries(st.sampled_from("xy"), st.integers(0, 2))),
        "source": draw(st.sampled_from([None, "runbook"])),
        "expires_at": draw(st.sampled_from([None, "2026-01-01T00:00:00+00:00"])),
        "tags": sorted(draw(st.sets(st.sampled_from("pqr")))),
        "derived_from": [],
        "answers": [
            {"question": question, "answer": draw(st.sampled_from(["yes", "no"])), "was": None}
            for question in draw(st.lists(st.sampled_from(QUESTIONS), unique=True))
        ],
    }


BASE = {
    "importance": 0.5, "kind": "semantic", "pinned": False, "metadata": {}, "source": None,
    "expires_at": None, "tags": [], "derived_from": [], "answers": [],
    "provenance": "assistant_derived", "confidence": 0.7,
}  # fmt: skip
MERGED = st.lists(st.tuples(statements(), st.booleans()), min_size=1, max_size=4)


def merged(first: dict[str, Any], rest: list[tuple[dict[str, Any], bool]]) -> list[MergeStep]:
    steps: list[MergeStep] = []
    fields = first
    for incoming, takes in rest:
        after = fold(fields, incoming, takes_wording=takes)
        steps.append(MergeStep(fields, incoming, after))
        fields = after
    return steps


@given(statements(), MERGED, st.data())
def test_without_is_the_fold_of_the_others(
    first: dict[str, Any], rest: list[tuple[dict[str, Any], bool]], data: Any
) -> None:
    steps = merged(first, rest)
    position = data.draw(st.integers(0, len(steps) - 1))
    undone = without(steps[position], steps[position + 1 :], steps[-1].after)
    others = [s for n, s in enumerate(steps) if n != position]
    expected = reduce(
        lambda fields, s: fold(fields, s.incoming, takes_wording=s.takes_wording), others, first
    )
    assert undone.fields == expected
    assert undone.kept == ()


@given(statements(), statements(), st.booleans(), st.sampled_from("uvw"))
def test_what_was_changed_by_hand_stays_and_is_named(
    first: dict[str, Any], incoming: dict[str, Any], takes: bool, wording: str
) -> None:
    (step,) = merged(first, [(incoming, takes)])
    current = {**step.after, "content": wording}
    undone = without(step, [], current)
    is_spared = step.after["content"] != first["content"]
    assert undone.fields == {**first, "content": wording}
    assert undone.kept == (("content",) if is_spared else ())


def test_answers_that_were_added_later_stay_when_a_merge_is_undone() -> None:
    asked = {q: {"question": q, "answer": "yes", "was": None} for q in QUESTIONS}
    first = {**BASE, "content": "a", "answers": [asked["Who?"]]}
    (step,) = merged(first, [({**BASE, "content": "b", "answers": [asked["What?"]]}, False)])
    added = {**step.after, "answers": [*step.after["answers"], asked["When?"]]}
    undone = without(step, [], added)
    assert undone.fields["answers"] == [asked["Who?"], asked["When?"]]
    assert undone.kept == ()


def test_an_answer_of_a_merge_that_was_changed_by_hand_stays_and_is_named() -> None:
    who, what = ({"question": q, "answer": "yes", "was": None} for q in QUESTIONS[:2])
    first = {**BASE, "content": "a", "answers": [who]}
    (step,) = merged(first, [({**BASE, "content": "b", "answers": [what]}, False)])
    changed = {**step.after, "answers": [who, what | {"answer": "no"}]}
    undone = without(step, [], changed)
    assert undone.fields["answers"] == [who, what | {"answer": "no"}]
    assert undone.kept == ("answers",)


def test_a_merge_stored_before_there_were_answers_is_undone() -> None:
    who = {"question": "Who?", "answer": "yes", "was": None}
    before = {name: value for name, value in BASE.items() if name != "answers"} | {"content": "a"}
    step = MergeStep.stored(before, {**BASE, "content": "b"}, {**before, "tags": ["x"]})
    undone = without(step, [], {**BASE, "content": "a", "tags": ["x"], "answers": [who]})
    assert (undone.fields["tags"], undone.fields["answers"]) == ([], [who])


@given(statements(), statements(), st.booleans())
def test_merging_loses_nothing_beside_the_wording(
    a: dict[str, Any], b: dict[str, Any], takes: bool
) -> None:
    both = fold(a, b, takes_wording=takes)
    asked = [{one["question"] for one in fields["answers"]} for fields in (a, b, both)]
    assert asked[2] == asked[0] | asked[1]
    assert all(one in both["answers"] for one in a["answers"])
    assert set(both["tags"]) == {*a["tags"], *b["tags"]}
    assert both["metadata"].keys() == a["metadata"].keys() | b["metadata"].keys()
    assert both["pinned"] == (a["pinned"] or b["pinned"])
    assert (both["kind"] == "constraint") == ("constraint" in (a["kind"], b["kind"]))
    assert (both["expires_at"] is None) == (None in (a["expires_at"], b["expires_at"]))
    assert CLASSES.index(both["provenance"]) == min(
        CLASSES.index(a["provenance"]), CLASSES.index(b["provenance"])
    )


def test_the_survivor_keeps_the_higher_class_with_that_rows_confidence() -> None:
    base = {
        "importance": 0.5, "kind": "semantic", "pinned": False, "metadata": {}, "source": None,
        "expires_at": None, "tags": [], "derived_from": [], "answers": [],
    }  # fmt: skip
    derived = {**base, "content": "a", "provenance": "assistant_derived", "confidence": 0.9}
    stated = {**base, "content": "b", "provenance": "user_stated", "confidence": 0.6}
    for pair in ((derived, stated), (stated, derived)):
        both = fold(*pair, takes_wording=False)
        assert (both["provenance"], both["confidence"]) == ("user_stated", 0.6)
    surer = {**derived, "confidence": 0.95}
    assert fold(derived, surer, takes_wording=False)["confidence"] == 0.95


def test_metadata_that_would_outgrow_its_limit_stay_as_stored() -> None:
    base = {
        "content": "a", "provenance": "user_stated", "confidence": 1.0, "importance": 0.5,
        "kind": "semantic", "pinned": False, "source": None, "expires_at": None, "tags": [],
        "derived_from": [], "answers": [],
    }  # fmt: skip
    stored, incoming = {"x": "s" * 5000}, {"y": "i" * 5000}
    both = fold({**base, "metadata": stored}, {**base, "metadata": incoming}, takes_wording=False)
    assert both["metadata"] == stored
