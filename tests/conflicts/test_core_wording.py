"""The word diff: nothing of either statement is lost, and changes read as phrases."""

from hypothesis import given
from hypothesis import strategies as st

from conflicts.core.wording import MAX_WORDS, Span, word_diff

TEXT = st.text(max_size=200)


def spell(spans: tuple[Span, ...]) -> str:
    return "".join(span.text for span in spans)


def test_word_diff_marks_the_changed_value() -> None:
    assert word_diff("Limit is 100 per minute.", "Limit is 5,000 per minute.").spans == (
        Span("same", "Limit is "),
        Span("gone", "100"),
        Span("new", "5,000"),
        Span("same", " per minute."),
    )


def test_word_diff_keeps_versions_and_times_whole() -> None:
    spans = word_diff("Runs v2.1.0 at 10:30", "Runs v2.2.0 at 11:30").spans
    assert [s.text for s in spans if s.change == "gone"] == ["v2.1.0", "10:30"]


def test_word_diff_joins_changes_that_only_a_blank_separates() -> None:
    assert word_diff("We use blue widgets", "We use red gadgets").spans == (
        Span("same", "We use "),
        Span("gone", "blue widgets"),
        Span("new", "red gadgets"),
    )


def test_word_diff_of_equal_statements_is_one_shared_span() -> None:
    diff = word_diff("The same.", "The same.")
    assert (diff.spans, diff.likeness) == ((Span("same", "The same."),), 1.0)


def test_word_diff_of_empty_statements_is_empty() -> None:
    assert (word_diff("", "").spans, word_diff("", "").likeness) == ((), 1.0)


def test_word_diff_of_long_texts_falls_back_to_sentences() -> None:
    long = "One two three. " * MAX_WORDS
    diff = word_diff(long + "Old end.", long + "New end.")
    assert [s for s in diff.spans if s.change != "same"] == [
        Span("gone", "Old end."),
        Span("new", "New end."),
    ]


@given(TEXT, TEXT)
def test_word_diff_spells_both_statements(before: str, after: str) -> None:
    diff = word_diff(before, after)
    assert (spell(diff.before), spell(diff.after)) == (before, after)
    assert 0 <= diff.likeness <= 1


@given(TEXT)
def test_word_diff_with_itself_changes_nothing(text: str) -> None:
    assert {span.change for span in word_diff(text, text).spans} <= {"same"}
