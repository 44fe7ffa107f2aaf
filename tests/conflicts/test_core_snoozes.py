"""The days until which an item may be put off never coincide."""

from __future__ import annotations

from datetime import date, timedelta

from conflicts.core.snoozes import days_to_put_off


def test_on_each_day_of_a_leap_year_the_choices_are_different_days_in_order() -> None:
    for number in range(366):
        today = date(2028, 1, 1) + timedelta(days=number)
        days = list(days_to_put_off(today).values())
        assert len(set(days)) == len(days)
        assert days == sorted(days)
        assert days[0] == today + timedelta(days=1)


def test_next_week_begins_on_its_monday_but_not_tomorrow() -> None:
    friday, sunday = date(2026, 11, 27), date(2026, 11, 29)
    assert days_to_put_off(friday)["week"] == date(2026, 11, 30)
    assert days_to_put_off(sunday)["tomorrow"] == date(2026, 11, 30)
    assert days_to_put_off(sunday)["week"] == date(2026, 12, 7)
