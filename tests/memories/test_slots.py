"""Which part of a sentence names the thing, which the attribute, and which the value."""

from __future__ import annotations

import pytest

from memories.core.claims import compare
from memories.core.slots import slot_of


@pytest.mark.parametrize(
    ("text", "attribute", "thing", "value"),
    [
        ("The capital of Ostria is Remol.", "capital", {"ostria"}, {"remol"}),
        ("Remol is the capital of Ostria.", "capital", {"ostria"}, {"remol"}),
        ("Ostria's capital is Remol.", "capital", {"ostria"}, {"remol"}),
        ("The novel Fraim was written by Ana Kolb.", "by write", {"fraim"}, {"ana", "kolb"}),
        ("The author of the novel Fraim is Ana Kolb.", "by write", {"fraim"}, {"ana", "kolb"}),
        ("Ana Kolb wrote the novel Fraim.", "by write", {"fraim"}, {"ana", "kolb"}),
        ("Ana Kolb was born in the city of Remol.", "birth", {"ana", "kolb"}, {"remol"}),
        ("Ana Kolb plays the position of goalkeeper.", "position", {"ana", "kolb"},
         {"goalkeeper"}),
        ("The CEO of Tolka Works is Ana Kolb.", "chief execut", {"tolka", "works"},
         {"ana", "kolb"}),
        ("The capital of the Isle of Ostria is Remol.", "capital", {"isle", "ostria"}, {"remol"}),
        ("The director of the film Dusk in Remol is Ana Kolb.", "by direct", {"dusk", "remol"},
         {"ana", "kolb"}),
        ("Ana Kolb serves as mayor of Remol.", "mayor", {"remol"}, {"ana", "kolb"}),
        ("Ana Kolb is head coach of the Remol Otters.", "by coach", {"remol", "otters"},
         {"ana", "kolb"}),
        ("Tolka Works' registered seat is Remol.", "regist seat", {"tolka", "works"}, {"remol"}),
        ("Ostria has Remol as its capital.", "capital", {"ostria"}, {"remol"}),
        ("It was in Remol that Ana Kolb died.", "death", {"ana", "kolb"}, {"remol"}),
        ("The place where Ana Kolb died is Remol.", "death", {"ana", "kolb"}, {"remol"}),
        ("Remol is where Ana Kolb was born.", "birth", {"ana", "kolb"}, {"remol"}),
        ("Remol is the town Ana Kolb lives in.", "residence", {"ana", "kolb"}, {"remol"}),
        ("The novel Fraim was first published in 1987.", "publish", {"fraim"}, {"1987"}),
        ("Fraim's year of first publication is 1987.", "publish", {"fraim"}, {"1987"}),
        ("Fraim is led by principal Ana Kolb.", "principal", {"fraim"}, {"ana", "kolb"}),
        ("Fraim is led by CEO Ana Kolb.", "chief execut", {"fraim"}, {"ana", "kolb"}),
        ("Ana Kolb is a native speaker of Gorkish.", "nativ languag", {"ana", "kolb"}, {"gorkish"}),
        ("The pump-log service is owned by the Kite team.", "by own", {"pump-log"},
         {"kite"}),
        ("The Kite team owns the pump-log service.", "by own", {"pump-log"},
         {"kite"}),
        ("Fraim is licensed under the MIT License.", "licence", {"fraim"}, {"mit", "license"}),
        ("Ana Kolb works for Tolka Works.", "by employ", {"ana", "kolb"}, {"tolka", "works"}),
        ("Tenant 4471 is on the Pro plan.", "plan", {"tenant", "4471"}, {"pro"}),
        ("Patient Ana Kolb is under the care of Dr. Moser.", "doctor", {"ana", "kolb"},
         {"dr.", "moser"}),
        ("The indexer is exposed on port 7070.", "port", {"index"}, {"7070"}),
        ("ledger-sync stores its data in Postgres.", "database", {"ledger-sync"}, {"postgres"}),
        ("Ana Kolb has been placed in Otter House.", "house", {"ana", "kolb"}, {"otter"}),
        ("Fraim was established in 1820.", "found", {"fraim"}, {"1820"}),
        ('"Winter in Quillan" was painted by Ana Kolb.', "by paint", {"winter_in_quillan"},
         {"ana", "kolb"}),
        ("The film Dusk in Remol was directed by Ana Kolb.", "by direct", {"dusk", "remol"},
         {"ana", "kolb"}),
        ("The Fraim 320 milling machine is built by Tolka Works.", "by build",
         {"fraim", "320", "mill", "machin"}, {"tolka", "works"}),
        ("The Otter was launched in 1978.", "launch", {"otter"}, {"1978"}),
        ("The launch year of the Otter is 1978.", "launch", {"otter"}, {"1978"}),
        ("The year of Ana Kolb's death is 1915.", "death", {"ana", "kolb"}, {"1915"}),
        ("The death of Ana Kolb occurred in 1915.", "death", {"ana", "kolb"}, {"1915"}),
        ("Fraim Library has exactly seven floors.", "number floor", {"fraim", "library"}, {"7"}),
        ("The floor count of Fraim Library is seven.", "number floor", {"fraim", "library"},
         {"7"}),
        ("Ana Kolb has the blood type AB negative.", "blood type", {"ana", "kolb"},
         {"ab", "negative"}),
        ("The Otter has its home port at Remol.", "home port", {"otter"}, {"remol"}),
        ("The sea into which the Otter flows is the Skell Sea.", "mouth", {"otter"},
         {"skell", "sea"}),
        ("The owning team of pump-log is Kite.", "by own", {"pump-log"}, {"kite"}),
        ("Port 5601 is the default port of pump-log.", "default port", {"pump-log"}, {"5601"}),
        ("The House of Larch was the royal house of Queen Ana.", "royal hous",
         {"queen", "ana"}, {"house", "larch"}),
        ("The Otter Waltz was composed in the key of B minor.", "key", {"otter", "waltz"},
         {"b", "minor"}),
        ("Ana Kolb holds the post of treasurer at Tolka Works.", "treasurer", {"tolka", "works"},
         {"ana", "kolb"}),
        ("The town of Remol has 5,600 inhabitants.", "number inhabit", {"remol"}, {"5600"}),
        ("Fraim is a greyhound by breed.", "breed", {"fraim"}, {"greyhound"}),
        ("In the Fraim repository, next is the default branch.", "default branch", {"fraim"},
         {"next"}),
    ],
)  # fmt: skip
def test_each_part_is_read(text: str, attribute: str, thing: set[str], value: set[str]) -> None:
    slot = slot_of(text)
    assert slot is not None
    assert (slot.attribute, slot.thing, slot.value) == (attribute, thing, value)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "The capital of Ostria is not Remol.",
        "Tank alpha's limit is 10 litres.",
        "Backups are kept in S3, and logs in GCS.",
        "the of is",
        "is " * 200,
        "Ana speaks the language of Gork.",  # one of many
        "The team uses the Slack app.",
        "Fraim also runs on port 443.",
        "One of the owners of Fraim is Ana Kolb.",
        "The reason for the delay is snow.",
        "The next speaker of the series is Ana Kolb.",
        "It was in Remol that.",
        "The place where is Remol.",
    ],
)
def test_other_sentences_fill_no_slot(text: str) -> None:
    assert slot_of(text) is None


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("The capital of Ostria is Remol.", "Tolba is the capital of Ostria."),
        ("Fraim was founded by Ana Kolb.", "The founder of Fraim is Bert Moser."),
        ("Ana Kolb was born in the city of Remol.", "The birthplace of Ana Kolb is Tolba."),
        ("Fraim was founded in 1820.", "The founding year of Fraim is 1904."),
        ("The platform team owns the ingress.", "The owner of the ingress is the network team."),
        ("Ana Kolb leads the audio group.", "The audio group is headed by Bert Moser."),
        ("The hub of the airline Tolka is Remol.", "The airline Tolka has its hub in Gorsk."),
    ],
)
def test_a_second_value_contradicts_in_another_sentence_shape(a: str, b: str) -> None:
    assert compare(a, b).relation == compare(b, a).relation == "contradicts"


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("Ana Kolb was born in Remol.", "Bert Moser died in Remol."),
        ("Ana Kolb was born in Remol.", "Ana Kolb died in Tolba."),
        ("Ana Kolb is the mayor of Remol.", "Bert Moser is the treasurer of Remol."),
        ("Chapter 3 is written by Ana.", "Chapter 4 is written by Bert."),
        ("The chairperson of Fraim is Ana.", "The chairperson of Fraim is Ana Kolb."),
        ("The mayor of Remol was Ana Kolb.", "The mayor of Remol is Bert Moser."),
        ("Fraim is located in the city of Remol.", "Fraim is located in the country of Ostria."),
        (
            "The licence of Fraim is the MIT License.",
            "The licence of Fraim CLI is the ISC License.",
        ),
        ("The timeout for the cart API is 30 s.", "The timeout for the refund API is 45 s."),
        ("Room 12 seats 25.", "Room 14 seats 25."),
        ("The Remol office closes at 16:00.", "The East Remol office closes at 17:00."),
        (
            "The teacher of the blue class at Remol is Ana.",
            "The teacher of the red class at Remol is Bert.",
        ),
    ],
)
def test_another_thing_attribute_or_time_does_not_contradict(a: str, b: str) -> None:
    assert compare(a, b).relation != "contradicts"
