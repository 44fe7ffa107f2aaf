from datetime import UTC, datetime, timedelta, timezone

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from predictor.core.features import (
    WidthError,
    clock_of,
    log_effectiveness,
    project_slot,
    signals,
    token_buckets,
)
from predictor.core.types import SIGNALS

PLAIN = {
    "age_days": 3.0,
    "importance": 0.5,
    "access_count": 2,
    "hour": 6.0,
    "weekday": 0.0,
    "month": 3.0,
    "gap_hours": 1.0,
    "is_embedded": True,
    "is_superseded": False,
}


def test_signals_stand_in_their_columns():
    row = dict(zip(SIGNALS, signals(**PLAIN)[0].tolist(), strict=True))
    assert row == pytest.approx(
        {
            "log_age_days": np.log(3),
            "importance": 0.5,
            "log_access_count": np.log(3),
            "hour_sin": 1.0,
            "hour_cos": 0.0,
            "weekday_sin": 0.0,
            "weekday_cos": 1.0,
            "month_sin": 1.0,
            "month_cos": 0.0,
            "log_gap_hours": np.log(2),
            "is_embedded": 1.0,
            "is_superseded": 0.0,
        },
        abs=1e-12,
    )


def test_signals_of_arrays_are_those_of_their_rows():
    ages, importances = np.array([1.0, 40.0]), np.array([0.2, 0.9])
    rows = signals(**PLAIN | {"age_days": ages, "importance": importances})
    assert rows.shape == (2, 12)
    for row, age, importance in zip(rows, ages, importances, strict=True):
        alone = signals(**PLAIN | {"age_days": age, "importance": importance})
        assert (alone[0] == row).all()


def test_a_clock_that_went_backwards_counts_as_no_time():
    past = signals(**PLAIN | {"age_days": 0.0, "gap_hours": 0.0})
    assert (signals(**PLAIN | {"age_days": -5.0, "gap_hours": -2.0}) == past).all()


def test_pitfall_31_columns_of_different_length_are_refused():
    with pytest.raises(WidthError):
        signals(**PLAIN | {"age_days": np.ones(3), "importance": np.ones(2)})


def test_the_clock_is_read_in_utc():
    at = datetime(2026, 3, 16, 12, 0, tzinfo=UTC)  # a Monday
    assert clock_of(at) == pytest.approx((12.0, 0.5, 2 + 15.5 / 31))
    assert clock_of(at.astimezone(timezone(timedelta(hours=-9)))) == clock_of(at)


@given(st.datetimes(timezones=st.just(UTC)))
def test_the_clock_stays_on_its_faces(at):
    hour, weekday, month = clock_of(at)
    assert 0 <= hour < 24
    assert 0 <= weekday < 7
    assert 0 <= month < 12


@given(st.text())
def test_words_of_any_text_have_buckets(text):
    buckets = token_buckets(text)
    assert buckets.dtype == np.int64
    assert (np.diff(buckets) > 0).all()
    assert not buckets.size or (buckets[0] >= 0 and buckets[-1] < 16_384)


def test_words_do_not_depend_on_case_form_order_or_repetition():
    assert (token_buckets("Ｐostgres FAST") == token_buckets("fast fast postgres, FAST!")).all()
    assert len(token_buckets("fast postgres")) == 2


def test_buckets_are_those_of_every_process():
    published = {"a": 0xE40C292C, "foobar": 0xBF9CF968}  # of FNV-1a, 32 bits
    for word, value in published.items():
        assert token_buckets(word).tolist() == [value % 16_384]
        assert project_slot(word) == value % 32


def test_a_script_without_spaces_gives_a_word_a_character():
    assert len(token_buckets("東京に住む")) == 5


def test_texts_without_words_have_no_buckets():
    assert token_buckets("").size == token_buckets(" ?!—\n").size == 0


def test_projects_have_slots_and_nothing_has_none():
    assert project_slot("") is None
    assert project_slot("   ") is None
    assert project_slot("Engram ") == project_slot("engram")
    assert {project_slot(f"project {i}") for i in range(400)} == set(range(32))


def test_log_effectiveness_is_finite_at_zero():
    assert log_effectiveness([0.0, 1e-9, 1.0]).tolist() == pytest.approx([np.log(1e-4)] * 2 + [0])


@pytest.mark.parametrize("score", [float("nan"), float("inf"), float("-inf")])
def test_a_baseline_score_that_is_no_number_is_refused(score):
    with pytest.raises(ValueError, match="not finite"):
        log_effectiveness([0.5, score])
