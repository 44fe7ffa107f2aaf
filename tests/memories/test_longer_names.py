"""Subjects whose names differ by a word."""

from __future__ import annotations

import pytest

from memories.core.claims import read
from memories.core.longer_names import other_longer_name


def reason(a: str, b: str) -> str:
    (one,), (other,) = read(a).claims, read(b).claims
    return other_longer_name(one, other)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Holm opens at 9.", "Old Holm opens at 10."),
        ("The Dun Museum opens at 9.", "The Dun Toy Museum opens at 10."),
        ("The Lindal grant ends in May.", "The Lindal follow-up grant ends in June."),
        ("The Trailmate app sleeps after 5 minutes.", "The Trailmate Pro app sleeps after 9."),
        ("The booking service runs on Go.", "The booking archive service runs on Rust."),
    ],
)
def test_a_word_more_is_another_subject(a: str, b: str) -> None:
    assert reason(a, b).startswith("other subject: ")
    assert reason(b, a).startswith("other subject: ")


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ana Kolb starts in May.", "Ana Maria Kolb starts in June."),
        ("Priya starts in May.", "Priya Nair starts in June."),
        ("Mr Kern pays 200 euros.", "Kern pays 300 euros."),
        ("Acme pays within 30 days.", "Acme Inc pays within 60 days."),
        ("The Acme contract ends in May.", "The contract with Acme ends in June."),
        ("The wedding is in York.", "The wedding is in New York."),  # the value
        ("The platform lead decides.", "The platform team lead decides."),
        ("The RSA key pair expires in May.", "The RSA public key expires in June."),
    ],
)
def test_short_names_of_one_subject_are_not(a: str, b: str) -> None:
    assert reason(a, b) == reason(b, a) == ""


def test_many_names_are_read_in_bounded_time() -> None:
    many = "The " + " and the ".join(f"Ana{n} Bert{n} grant" for n in range(400)) + " ends."
    claims = read(many).claims
    assert all(other_longer_name(one, other) == "" for one in claims for other in claims)
