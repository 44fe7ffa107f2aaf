"""What a judge reads of a long transcript."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from memories.core.extraction.turns import read_turns
from predictor.core.excerpt import GAP, excerpt
from tests.growth import MOST_GROWTH, growth

SMALL_TALK = "".join(
    f"User: And how was day {n} of the holidays?\nAssistant: Sunny, we swam and walked.\n"
    for n in range(200)
)
TOLD = (
    "User: Why did the deploy fail?\n"
    "Assistant: The zone allows only Sectigo to issue certificates.\n"
)
NOTE = "Certificates of the zone are issued by Sectigo."


def test_a_short_transcript_is_read_whole() -> None:
    assert excerpt(f" {TOLD} ", [NOTE], most=4_000) == TOLD.strip()


def test_what_speaks_of_the_notes_is_read_wherever_it_stands_and_the_end() -> None:
    for transcript in (TOLD + SMALL_TALK, SMALL_TALK + TOLD + SMALL_TALK):
        read = excerpt(transcript, [NOTE], most=2_000)
        assert "only Sectigo to issue" in read
        assert read.endswith("Sunny, we swam and walked.")
        assert GAP in read
        assert len(read) <= 2_000
        assert {turn.role for turn in read_turns(read)} == {"user", "assistant"}


def test_without_notes_the_end_is_read() -> None:
    read = excerpt(SMALL_TALK, [], most=2_000)
    assert 1_500 < len(read) <= 2_000
    assert SMALL_TALK.strip().endswith(read)


def test_a_part_of_a_long_turn_keeps_its_speaker() -> None:
    long = "User: Read this.\nAssistant: " + "Nothing new here. " * 300 + NOTE + " So far." * 300
    read = excerpt(long, [NOTE], most=2_500)
    [part] = [turn for turn in read_turns(read) if NOTE in read[turn.start : turn.end]]
    assert part.role == "assistant"


@given(st.text(max_size=600), st.lists(st.text(max_size=60), max_size=4), st.integers(40, 400))
def test_no_text_is_too_odd(transcript: str, notes: list[str], most: int) -> None:
    assert len(excerpt(transcript, notes, most=most)) <= most


def test_it_is_linear_in_the_transcript() -> None:
    def make(length: int) -> str:
        return (SMALL_TALK * (length // len(SMALL_TALK) + 1))[:length]

    assert growth(make, lambda text: excerpt(text, [NOTE], most=2_000), 20_000) < MOST_GROWTH
