"""Numbers, units, dates and versions as claim comparison reads them."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memories.core import dates, measures
from memories.core.claims import compare, read
from memories.core.measures import Quantity
from memories.core.spelling import normalise
from memories.core.tokeniser import tokenise


def only_quantity(text: str) -> tuple[float, str]:
    (claim,) = read(f"The thing is {text}.").claims
    (quantity,) = claim.quantities
    return round(quantity.value, 9), quantity.unit


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("30 s", 30.0, "s"),
        ("30,000 ms", 30.0, "s"),
        ("half an hour", 1800.0, "s"),
        ("two weeks", 1209600.0, "s"),
        ("5m", 300.0, "s"),
        ("5 m", 5.0, "m"),
        ("5 M", 5e6, "count"),
        ("300 k", 300000.0, "count"),
        ("300 K", 300.0, "kelvin"),
        ("3 MJ", 3e6, "joule"),
        ("3 mJ", 0.003, "joule"),
        ("3 kilojoules", 3000.0, "joule"),
        ("8 Mib", 1048576.0, "byte"),
        ("10 mm²", 1e-5, "m2"),
        ("5 mg/ml", 0.005, "kg/l"),
        ("36 m³/h", 10.0, "l/s"),
        ("80 cm", 0.8, "m"),
        ("1 GiB", 1073741824.0, "byte"),
        ("25MB", 25e6, "byte"),
        ("€1,200.50", 1200.5, "eur"),
        ("250k EUR", 250000.0, "eur"),
        ("2.4M", 2400000.0, "count"),
        ("2,5 %", 2.5, "percent"),
        ("half of it", 50.0, "percent"),
        ("-20 °C", -20.0, "celsius"),
        ("21 degrees", 21.0, "celsius"),
        ("twenty five users", 25.0, "count"),
        ("a dozen eggs", 12.0, "count"),
        ("120 km/h", 33.333333333, "m/s"),
        ("120 rps", 120.0, "count/s"),
        ("7200 requests per hour", 2.0, "count/s"),
        ("250 req/s", 250.0, "count/s"),
        ("every 5 minutes", 0.003333333, "count/s"),
        ("twice a day", 0.000023148, "count/s"),
        ("nightly", 0.000011574, "count/s"),
        ("10 working days", 10.0, "working day"),
    ],
)
def test_quantity_is_read_in_its_base_unit(text: str, value: float, unit: str) -> None:
    assert only_quantity(text) == (value, unit)


@pytest.mark.parametrize(
    ("text", "bound"),
    [("at most 5 MB", "most"), ("up to 5 MB", "most"), ("no more than 5 MB", "most"),
     ("within the last 5 MB", "most"), ("5 MB or more", "least"), ("5 MB and below", "most"),
     ("at least 5 MB", "least"), ("more than 5 MB", "least"), ("about 5 MB", "about"),
     ("5 MB", "exact")],
)  # fmt: skip
def test_bounds_are_kept(text: str, bound: str) -> None:
    (claim,) = read(f"The file has {text}.").claims
    assert [quantity.bound for quantity in claim.quantities] == [bound]
    assert claim.polarity is True


@pytest.mark.parametrize(
    "text", ["between -25 and -15 degrees", "minus 25 to minus 15 degrees", "-25 to -15 °C"]
)
def test_ranges_may_be_negative(text: str) -> None:
    (claim,) = read(f"The freezer is kept {text}.").claims
    assert [(q.value, q.upper, q.unit) for q in claim.quantities] == [(-25.0, -15.0, "celsius")]


@pytest.mark.parametrize("text", ["3-5 days", "3 to 5 days", "between 3 and 5 days", "3–5 days"])
def test_a_range_is_one_quantity_with_an_upper_end(text: str) -> None:
    (claim,) = read(f"Delivery takes {text}.").claims
    assert [(q.value, q.upper, q.unit) for q in claim.quantities] == [(259200.0, 432000.0, "s")]


def quantity(value: float, bound: str = "exact", upper: float | None = None) -> Quantity:
    return Quantity(value, "s", f"{value} s", bound, "", upper)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        (quantity(5), quantity(7), True),
        (quantity(5, "least"), quantity(7), False),
        (quantity(5, "most"), quantity(7), True),
        (quantity(5, "most"), quantity(5, "least"), True),
        (quantity(3, upper=8), quantity(7), False),
        (quantity(3, upper=8), quantity(9), True),
        (quantity(100, "about"), quantity(104), False),
        (quantity(100, "about"), quantity(150), True),
    ],
)
def test_conflict_of_bounds(a: Quantity, b: Quantity, expected: bool) -> None:
    assert measures.conflict(a, b) is expected
    assert measures.conflict(b, a) is expected


numbers = st.floats(min_value=0, max_value=1e9, allow_nan=False)
bounds = st.sampled_from(["exact", "most", "least", "about"])
any_quantity = st.builds(quantity, numbers, bounds)


@given(any_quantity, any_quantity)
def test_agreement_and_conflict_are_symmetric(a: Quantity, b: Quantity) -> None:
    assert measures.agree(a, b) == measures.agree(b, a)
    assert measures.conflict(a, b) == measures.conflict(b, a)
    assert measures.agree(a, a)


def test_a_month_may_be_thirty_days_and_a_year_is_twelve_months() -> None:
    month, days = (read(f"It takes {text}.").claims[0].quantities[0] for text in
                   ("one month", "30 days"))  # fmt: skip
    assert not measures.agree(month, days)
    assert not measures.conflict(month, days)
    year, months = (read(f"It takes {text}.").claims[0].quantities[0] for text in
                    ("one year", "12 months"))  # fmt: skip
    assert measures.agree(year, months)


@pytest.mark.parametrize(
    ("text", "iso"),
    [
        ("on 31 March 2026", "2026-03-31"),
        ("on March 31, 2026", "2026-03-31"),
        ("on 2026-03-31", "2026-03-31"),
        ("in March 2026", "2026-03"),
        ("on the 3rd of May", "--05-03"),
        ("in June", "--06"),
        ("in 2025", "2025"),
        ("in Q3 2025", "2025-q3"),
        ("on Tuesdays", "tuesday"),
        ("at 8 am", "08:00"),
        ("at 7:30 pm", "19:30"),
        ("at noon", "12:00"),
        ("at nine o'clock", "09:00~"),
        ("at 9 o\u2019clock pm", "21:00"),
        ("at 14 o'clock", "14:00"),
        ("at half past six", "06:30~"),
        ("at half past six in the evening", "18:30"),
        ("at a quarter to one", "12:45~"),
        ("at quarter past 12 o'clock", "12:15~"),
        ("until two in the afternoon", "14:00"),
        ("at 02:00 CET", "01:00z"),
        ("at 20:00 EST", "01:00z"),
        ("last year", "last-year"),
    ],
)
def test_dates_are_partial_iso(text: str, iso: str) -> None:
    (claim,) = read(f"The fair opens {text}.").claims
    assert claim.dates == {iso}


@pytest.mark.parametrize(
    "text",
    [
        "Guests may park here.",
        "They march on.",
        "The sun sat low.",
        "We bake ten in the morning.",
        "It rose from a quarter to ten percent.",
        "Half of it is past its time.",
    ],
)
def test_words_that_look_like_dates_are_none(text: str) -> None:
    assert read(text).claims[0].dates == frozenset()


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("2026-03", "--03-31", True),
        ("2026-03-31", "2026-03-30", False),
        ("08:00", "08:00z", True),
        ("08:00~", "20:00", True),
        ("12:15", "12:15~", True),
        ("12:15~", "00:15", True),
        ("08:00~", "08:30~", False),
        ("08:00~", "09:00z", False),
        ("08:00z", "09:00z", False),
        ("monday", "tuesday", False),
        ("2025-q3", "q3", True),
        ("monday", "08:00", False),
    ],
)
def test_partial_dates_agree(a: str, b: str, expected: bool) -> None:
    assert dates.agree(a, b) is expected
    assert dates.agree(b, a) is expected


@pytest.mark.parametrize(
    ("text", "versions"),
    [
        ("We run Postgres 17.", {"postgres 17"}),
        ("We run PostgreSQL v17.", {"postgres 17"}),
        ("We run Python 3.11.4.", {"python 3.11.4"}),
        ("The lowest version is 2.3.1.", {"version 2.3.1"}),
        ("We run Node.js v20.", {"nodejs 20"}),
        ("We run Node 20.", {"nodejs 20"}),
        ("We run 3 nodes.", set()),
        ("We run Postgres for 14 days.", set()),
    ],
)
def test_versions_carry_the_word_they_belong_to(text: str, versions: set[str]) -> None:
    assert read(text).claims[0].versions == versions


@pytest.mark.parametrize("text", ["0x1f is set.", "Use 2FA.", "10.0.0.1 is up.", "s3 is full."])
def test_digits_inside_names_are_no_quantities(text: str) -> None:
    assert read(text).claims[0].quantities == ()


@given(st.text(max_size=80))
def test_tokens_stand_in_order_and_point_into_the_text(text: str) -> None:
    cleaned = normalise(text)
    assert len(cleaned) == len(text)
    tokens = tokenise(cleaned)
    assert all(0 <= token.start <= token.end <= len(cleaned) for token in tokens)
    assert [token.start for token in tokens] == sorted(token.start for token in tokens)


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("The job takes two and a half hours.", "The job takes 150 minutes.", "same"),
        ("The job takes two hours and a half.", "The job takes 150 minutes.", "same"),
        ("The job takes two and a half hours.", "The job takes 120 minutes.", "contradicts"),
        ("Order 17637213491 shipped.", "Order 17637213492 shipped.", "contradicts"),
        ("We store 2,000,000,000 rows.", "We store 2 billion rows.", "same"),
    ],
)
def test_halves_count_and_long_numbers_are_exact(a: str, b: str, relation: str) -> None:
    assert compare(a, b).relation == relation


@pytest.mark.parametrize(
    ("a", "b", "relation"),
    [
        ("The timeout is a minute and a half.", "The timeout is 90 seconds.", "same"),
        ("The timeout is an hour and a half.", "The timeout is 30 minutes.", "contradicts"),
        ("Gate seven opens at 6 am.", "Gate 7 opens at 6 am.", "same"),
        ("Gate seven opens at 6 am.", "Gate seven opens at 8 am.", "contradicts"),
        ("Gate seven opens at 6.", "Gate seven opens at 6:00.", "same"),
        ("Gate seven opens at 6 pm.", "Gate seven opens at 6.", "refines"),
        ("Gate seven opens at 6.", "Gate seven opens at 18:00.", "refines"),
        ("Gate seven opens at 6.", "Gate seven opens at 6:30.", "contradicts"),
        ("Gate seven opens at 6.", "Gate seven opens at 7:00.", "contradicts"),
        ("Gate seven opens at six o'clock.", "Gate seven opens at 6:00.", "same"),
        ("Gate seven opens at six o'clock.", "Gate seven opens at 6.", "same"),
        ("Gate seven opens at half past six.", "Gate seven opens at 18:30.", "refines"),
        ("Gate seven opens at half past six.", "Gate seven opens at 6 o'clock.", "contradicts"),
        ("Gate seven opens at noon.", "Gate seven opens at half past nine.", "contradicts"),
        ("Gate seven costs 90 euros a month.", "Gate seven costs EUR 90 monthly.", "same"),
        ("Gate seven costs 90 euros yearly.", "Gate seven costs EUR 90 monthly.", "contradicts"),
        ("Server one is in Oslo.", "Server two is in Oslo.", "different"),
        ("Idem one.", "Idem two.", "different"),
        ("The fund is 50% owned by Ana.", "The fund is 0.5 owned by Ana.", "different"),
    ],
)
def test_spelled_numbers_measure_or_name(a: str, b: str, relation: str) -> None:
    assert (compare(a, b).relation, compare(b, a).relation) == (relation, relation)


@pytest.mark.parametrize(
    ("plain", "adjective"),
    [
        ("Children under 12 travel free.", "Children younger than 12 travel free."),
        ("Guests over 65 get a discount.", "Guests older than 65 get a discount."),
        ("Parcels over 30 kg go by truck.", "Parcels heavier than 30 kg go by truck."),
        ("Rooms below 20 m² have one fan.", "Rooms smaller than 20 m² have one fan."),
        ("Files of at most 10 MB are kept.", "Files no larger than 10 MB are kept."),
        ("Pumps of at least 3 bar are kept.", "Pumps no smaller than 3 bar are kept."),
    ],
)
def test_a_bound_may_be_said_with_an_adjective_of_size_or_age(plain: str, adjective: str) -> None:
    assert compare(plain, adjective).relation == "same"
    assert compare(adjective, plain).relation == "same"


@pytest.mark.parametrize(
    ("stored", "incoming"),
    [
        ("Children under 12 travel free.", "Children younger than 14 travel free."),
        ("Guests older than 65 get a discount.", "Guests younger than 65 get a discount."),
    ],
)
def test_bounds_said_with_adjectives_contradict_each_other(stored: str, incoming: str) -> None:
    assert compare(stored, incoming).relation == "contradicts"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Logs are kept for 30 days in production.", "Logs are kept for 7 days in staging."),
        ("The timeout is 30 s in production.", "The timeout is 5 s in staging."),
        ("Orders use Postgres in production.", "Orders use MySQL in staging."),
        ("The pool opens at 8:00 in summer.", "The pool opens at 10:00 in winter."),
        ("The price is 20 euros on Mondays.", "The price is 30 euros on Fridays."),
        ("The pool closes at 18:00 on weekdays.", "The pool closes at 16:00 on weekends."),
        ("The shop opens at 9 on Saturdays.", "The shop opens at 11 on Sundays."),
    ],
)
def test_two_values_of_two_places_or_days_may_both_hold(one: str, other: str) -> None:
    assert compare(one, other).relation == "different"
    assert compare(other, one).relation == "different"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("The job runs in production.", "The job runs in staging."),
        ("Logs are kept for 30 days in production.", "Logs are kept for 7 days in production."),
        ("The meeting is on Tuesday at 10.", "The meeting is on Wednesday at 11."),
        ("The shop opens at 9 on Saturdays.", "The shop opens at 11 on Saturdays."),
    ],
)
def test_one_place_or_one_moved_date_is_a_contradiction(one: str, other: str) -> None:
    assert compare(one, other).relation == "contradicts"


def test_the_present_of_a_plural_is_no_past() -> None:
    assert compare("Tickets cost 5 euros.", "A ticket costs 5 euros.").relation == "same"
    assert compare("Tickets cost 5 euros.", "A ticket costs 7 euros.").relation == "contradicts"
