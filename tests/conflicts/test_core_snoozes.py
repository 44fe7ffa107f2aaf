"""The days until which an item may be put off never coincide."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

from conflicts.core.snoozes import days_to_put_off, moments_to_put_off


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


def test_at_every_hour_the_moments_are_on_different_days_in_order() -> None:
    for hour in range(24 * 14):
        now = datetime(2026, 11, 20, tzinfo=ZoneInfo("Europe/Berlin")) + timedelta(hours=hour)
        moments = list(moments_to_put_off(now).values())
        assert moments == sorted(moments)
        assert now < moments[0]
        assert len({moment.date() for moment in moments}) == len(moments)


def test_hours_are_offered_while_they_end_on_the_same_day() -> None:
    before, after = (datetime(2026, 11, 28, hour, 59, tzinfo=UTC) for hour in (20, 21))
    assert moments_to_put_off(before)["later"] == datetime(2026, 11, 28, 23, 59, tzinfo=UTC)
    assert list(moments_to_put_off(after)) == ["tomorrow", "week", "month"]
    assert moments_to_put_off(after)["tomorrow"] == datetime(2026, 11, 29, 8, tzinfo=UTC)


def test_three_hours_are_three_hours_where_the_clock_is_put_back() -> None:
    berlin = ZoneInfo("Europe/Berlin")
    later = moments_to_put_off(datetime(2026, 10, 25, 1, tzinfo=berlin))["later"]
    assert (later.hour, later.tzinfo) == (3, berlin)
