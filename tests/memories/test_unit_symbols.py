"""Symbols of units that only their case tells apart are never one statement."""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import combinations

import pytest

from memories.core.claims import compare, read
from memories.core.content import content_hash
from memories.core.symbols import BY_LETTERS, SYMBOLS, Symbol, fold
from memories.core.units import unit_of
from tests.conftest import Tenant
from tests.memories.test_gate_insertions import outcome

APART = (
    "The probe reads 5 {}.", "The relay carries 12.5 {} every day.", "five {} are left over.",
    "The fee is 3 EUR per {}.", "The rig holds 12 {}/kg at most.", "A 5-{} load is usual."
)  # fmt: skip
ATTACHED = ("The probe reads 5{}.", "Limit: 20{}/s")


def pairs() -> Iterator[tuple[str, str]]:
    """Every two spellings of two symbols with the same letters."""
    spellings: dict[str, list[str]] = {}
    for spelling in SYMBOLS:
        spellings.setdefault(fold(spelling), []).append(spelling)
    for alike in spellings.values():
        for one, two in combinations(alike, 2):
            if SYMBOLS[one] != SYMBOLS[two]:
                yield one, two


def assert_apart(a: str, b: str) -> None:
    assert content_hash(a) != content_hash(b), (a, b)
    for x, y in ((a, b), (b, a)):
        assert compare(x, y).relation in ("contradicts", "different"), (x, y)
        assert outcome(x, y) != "merged", (x, y)


def test_the_table_has_the_pairs_that_were_mixed_up() -> None:
    wanted = {("mJ", "MJ"), ("kB", "kb"), ("mΩ", "MΩ"), ("mSv", "MSv"), ("MiB", "Mib"),
              ("Mbps", "MBps"), ("mm", "Mm"), ("mS", "ms"), ("K", "k"), ("GB", "Gb")}  # fmt: skip
    found = {frozenset(pair) for pair in pairs()}
    assert {frozenset(pair) for pair in wanted} <= found
    assert len(found) > 100


@pytest.mark.parametrize("text", APART + ATTACHED)
def test_symbols_that_differ_in_case_are_never_one_statement(text: str) -> None:
    for one, two in pairs():
        if text in ATTACHED and {one, two} == {"k", "K"}:
            continue  # "300K users" are 300k users
        assert_apart(text.format(one), text.format(two))


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The panel has 10 mm² of copper.", "The panel has 10 Mm² of copper."),
        ("The dose is 5 mg/L.", "The dose is 5 Mg/L."),
        ("The file has 5 MBs.", "The file has 5 Mbs."),
        ("Cooled to 300 K.", "Cooled to 300 k."),
        ("The crane lifts 5 tons.", "The crane lifts 5 tonnes."),
        ("The disk has 1 TB of space.", "The disk has 1 TiB of space."),
        ("The cache has 64 KB of memory.", "The cache has 64 KiB of memory."),
        ("The disk has 1 to 2 TB of space.", "The disk has 1 to 2 TiB of space."),
        ("The trial lasts 1 month.", "The trial lasts 30 days."),
        ("The trial lasts a year and a half.", "The trial lasts 547 days."),
    ],
)
def test_units_of_another_size_are_never_one_statement(a: str, b: str) -> None:
    assert_apart(a, b)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The crane lifts 5 tons.", "The crane lifts 5 tonnes."),
        ("The disk has 1 TB of space.", "The disk has 1 TiB of space."),
        ("The trial lasts 1 month.", "The trial lasts 30 days."),
    ],
)
def test_what_loose_speech_may_call_one_is_suggested(a: str, b: str) -> None:
    assert (outcome(a, b), outcome(b, a)) == ("suggested", "suggested")


def unusual_spellings(symbol: Symbol) -> Iterator[str]:
    letters = fold(symbol.text)
    for spelling in (letters, letters.upper()):
        if spelling not in SYMBOLS and fold(spelling) == letters:
            yield spelling


def test_a_word_that_is_no_symbol_means_the_usual_one() -> None:
    count = 0
    for symbol, *_ in BY_LETTERS.values():
        for spelling in unusual_spellings(symbol):
            for text in APART[:4] + ATTACHED:
                a, b = text.format(symbol.text), text.format(spelling)
                assert content_hash(a) == content_hash(b), (a, b)
                assert compare(a, b).relation == "same", (a, b)
                count += 1
    assert count > 500


@pytest.mark.parametrize(
    ("word", "symbol"),
    [("mb", "MB"), ("mB", "MB"), ("KB", "kB"), ("Kb", "kb"), ("hz", "Hz"), ("KHZ", "kHz"),
     ("Mhz", "MHz"), ("MS", "ms"), ("KG", "kg"), ("MM", "mm"), ("mbps", "Mbps"), ("mib", "MiB"),
     ("mpa", "MPa"), ("kwh", "kWh"), ("mL", "ml"), ("cm", "cm")],
)  # fmt: skip
def test_usual_spellings_are_read_as_the_unit(word: str, symbol: str) -> None:
    assert unit_of(word) == unit_of(symbol) is not None
    say = "The sensor of the north lab shows {} today.".format
    a, b = say(f"5 {symbol}"), f"Today the sensor of the north lab shows 5 {word}."
    assert compare(a, b).relation == "same"


@pytest.mark.parametrize(
    ("text", "unit"),
    [("5 UK offices", "count"), ("3 US customers", "count"), ("a 7b model", ""),
     ("300K users", "count"), ("$300 K", "usd"), ("300 K", "kelvin"), ("5 MN", "newton"),
     ("5 mn EUR", "eur"), ("5 megajoules", "joule"), ("3 mg/dl", "kg/l")],
)  # fmt: skip
def test_what_only_looks_like_a_symbol_is_none(text: str, unit: str) -> None:
    units = [found.unit for claim in read(f"The team has {text}.").claims
             for found in claim.quantities]  # fmt: skip
    assert units == ([unit] if unit else [])


@pytest.mark.parametrize("noun", ["Room", "Platform", "Gate"])
def test_a_letter_behind_the_number_of_a_name_is_no_unit(noun: str) -> None:
    for letter in "ABKMNST":
        (claim,) = read(f"{noun} 5 {letter} is closed.").claims
        assert claim.quantities == ()


def test_an_ordinary_word_behind_a_number_has_no_case() -> None:
    say = "The firm ran {} this year."
    for one, two in (("5 UK trials", "5 uk trials"), ("3 A/B tests", "3 a/b tests"),
                     ("7 Audits", "7 audits"), ("4K demos", "4k demos"), ("ten Seas", "ten seas"),
                     ("TENS of trials", "tens of trials")):  # fmt: skip
        assert content_hash(say.format(one)) == content_hash(say.format(two))


COMMITTED = [("mJ", "MJ"), ("kB/s", "kb/s"), ("mΩ", "MΩ"), ("mSv", "MSv"), ("MiB", "Mib"),
             ("Mbps", "MBps"), ("mm", "Mm"), ("mS", "ms"), ("K", "k"), ("GB", "Gb"),
             ("tons", "tonnes"), ("TB", "TiB")]  # fmt: skip


@pytest.mark.parametrize(("one", "two"), COMMITTED)
def test_a_commit_never_merges_them(tenant: Tenant, one: str, two: str) -> None:
    for place, (first, second) in enumerate(((one, two), (two, one))):
        for content in (f"The north probe reads 5 {first}.", f"The north probe reads 5 {second}."):
            body = {"content": content, "scope": f"lab{place}"}
            answer = tenant.agent.post("memories", body).json()
            assert answer["outcome"] not in ("merged", "duplicate"), (content, answer["outcome"])
            assert answer["memory"]["content"] == content


def test_what_rules_read_has_no_mark_of_case() -> None:
    """The marks that keep the case of units are in no word that anybody is shown."""
    for claim in read("The link does 5 MB/s, the relay 3 Mbps.").claims:
        assert not re.search("\u2060", claim.text + "".join(term.text for term in claim.terms))
