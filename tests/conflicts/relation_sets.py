"""Statements of functional relations with invented names, and look-alikes that are no conflict.

`functional_statements` fills forty relations ("The capital of X is Y") in several sentence shapes;
some things get a second value, which is a contradiction. `look_alikes` returns pairs in twenty
shapes that name two things, two people or two matters: none of them is a contradiction.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass

_ONSETS = [*"bcdfghjklmnprstvwz", "br", "dr", "fl", "gr", "pr", "st", "tr"]
_VOWELS = ["a", "e", "i", "o", "u", "ai", "ea", "ou"]
_CODAS = ["l", "m", "n", "r", "s", "t", "nd", "rk", "lt", "ss"]


def invent_name(rng: random.Random, syllables: int = 2) -> str:
    """Return an invented proper name: "Stelmou"."""
    parts = [rng.choice(_ONSETS) + rng.choice(_VOWELS) for _ in range(syllables)]
    return ("".join(parts) + rng.choice(_CODAS)).capitalize()


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation with one value at a time: what its things and values are, and its sentences.

    ``{x}`` stands for the thing, ``{y}`` for the value.
    """

    name: str
    thing: str
    value: str
    shapes: tuple[str, ...]


def _relation(name: str, thing: str, value: str, *shapes: str) -> Relation:
    return Relation(name, thing, value, shapes)


RELATIONS = (
    _relation("chairperson", "company", "person", "The chairperson of {x} is {y}.",
              "{y} is the chairperson of {x}.", "{x}'s chairperson is {y}."),
    _relation("chief executive", "company", "person", "The chief executive of {x} is {y}.",
              "{y} is the chief executive of {x}.", "The CEO of {x} is {y}."),
    _relation("headquarters", "company", "city", "The headquarters of {x} is in {y}.",
              "{x} is headquartered in {y}.", "{x} has its headquarters in {y}."),
    _relation("founder", "company", "person", "{x} was founded by {y}.",
              "The founder of {x} is {y}."),
    _relation("founding year", "company", "year", "{x} was founded in {y}.",
              "The founding year of {x} is {y}."),
    _relation("parent company", "company", "company", "The parent company of {x} is {y}.",
              "{x} is owned by {y}."),
    _relation("birthplace", "person", "city", "{x} was born in the city of {y}.",
              "{x} was born in {y}.", "The birthplace of {x} is {y}."),
    _relation("death place", "person", "city", "{x} died in the city of {y}.",
              "{x} died in {y}."),
    _relation("birth year", "person", "year", "{x} was born in {y}.",
              "The birth year of {x} is {y}."),
    _relation("spouse", "person", "person", "{x} is married to {y}.", "The spouse of {x} is {y}."),
    _relation("employer", "person", "company", "The employer of {x} is {y}.",
              "{x} is employed by {y}."),
    _relation("residence", "person", "city", "{x} lives in {y}.", "{x} resides in {y}."),
    _relation("citizenship", "person", "country", "{x} is a citizen of {y}.",
              "The citizenship of {x} is {y}."),
    _relation("mother", "person", "person", "The mother of {x} is {y}.", "{x}'s mother is {y}."),
    _relation("capital", "country", "city", "The capital of {x} is {y}.",
              "{y} is the capital of {x}."),
    _relation("currency", "country", "unit", "The currency of {x} is the {y}.",
              "{x}'s currency is the {y}."),
    _relation("head of state", "country", "person", "The head of state of {x} is {y}.",
              "{y} is the head of state of {x}."),
    _relation("official language", "country", "tongue", "The official language of {x} is {y}.",
              "{x}'s official language is {y}."),
    _relation("continent", "country", "region", "{x} is located in the continent of {y}.",
              "The continent of {x} is {y}."),
    _relation("mayor", "city", "person", "The mayor of {x} is {y}.", "{y} is the mayor of {x}."),
    _relation("region", "city", "region", "{x} is located in {y}.",
              "The city of {x} lies in {y}."),
    _relation("journal editor", "journal", "person", "The editor of the journal {x} is {y}.",
              "{y} edits the journal {x}."),
    _relation("journal publisher", "journal", "company", "The journal {x} is published by {y}.",
              "The publisher of the journal {x} is {y}."),
    _relation("author", "novel", "person", "The author of the novel {x} is {y}.",
              "The novel {x} was written by {y}."),
    _relation("original language", "novel", "tongue", "The novel {x} was written in {y}.",
              "The original language of the novel {x} is {y}."),
    _relation("director", "film", "person", "The director of the film {x} is {y}.",
              "The film {x} was directed by {y}."),
    _relation("composer", "opera", "person", "The composer of the opera {x} is {y}.",
              "The opera {x} was composed by {y}."),
    _relation("architect", "tower", "person", "The architect of the {x} tower is {y}.",
              "The {x} tower was designed by {y}."),
    _relation("height", "mountain", "metres", "The height of mount {x} is {y} metres.",
              "Mount {x} is {y} metres high."),
    _relation("river mouth", "river", "sea", "The river {x} flows into the {y}.",
              "The mouth of the river {x} is the {y}."),
    _relation("river length", "river", "kilometres", "The river {x} is {y} kilometres long.",
              "The length of the river {x} is {y} kilometres."),
    _relation("coach", "club", "person", "The head coach of {x} is {y}.", "{x} is coached by {y}."),
    _relation("stadium", "club", "stadium", "The home stadium of {x} is {y}.",
              "{x} plays its home games at {y}."),
    _relation("dean", "faculty", "person", "The dean of the faculty of {x} is {y}.",
              "{y} is the dean of the faculty of {x}."),
    _relation("museum location", "museum", "city", "The museum {x} is located in {y}.",
              "The museum {x} is in {y}."),
    _relation("manufacturer", "device", "company", "The manufacturer of the {x} is {y}.",
              "The {x} is manufactured by {y}."),
    _relation("developer", "game", "company", "The developer of the game {x} is {y}.",
              "The game {x} was developed by {y}."),
    _relation("airline hub", "airline", "city", "The hub of the airline {x} is {y}.",
              "The airline {x} has its hub in {y}."),
    _relation("captain", "ship", "person", "The captain of the ship {x} is {y}.",
              "{y} is the captain of the ship {x}."),
    _relation("discoverer", "comet", "person", "The discoverer of the comet {x} is {y}.",
              "The comet {x} was discovered by {y}."),
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Statement:
    """A statement and the matter that it is about: relation and thing."""

    text: str
    matter: str
    is_second: bool = False  # another value than an earlier statement of the matter


class _Names:
    """Draw names by kind; things of one kind recur, so that several relations share them."""

    def __init__(self, rng: random.Random):
        self._rng = rng
        self._cities = [invent_name(rng) for _ in range(8)]
        self._regions = [f"{invent_name(rng)}ia" for _ in range(6)]
        self._things: dict[str, list[str]] = {}

    def value(self, kind: str) -> str:
        rng, name = self._rng, invent_name
        if kind in ("city", "region", "country"):
            return rng.choice(self._cities if kind == "city" else self._regions)
        if kind in ("year", "metres", "kilometres"):
            return str(rng.randint(1802, 1999) if kind == "year" else rng.randint(210, 5900))
        last = {
            "person": name(rng, 3),
            "company": rng.choice(["Group", "Works", "Systems", "Press"]),
            "sea": "Sea",
            "stadium": "Park",
        }
        return f"{name(rng)} {last.get(kind, '')}".strip()

    def things(self, kind: str, count: int) -> list[str]:
        known = self._things.setdefault(kind, [])
        while len(known) < count:
            known.append(self._new_thing(kind))
        return known[:count]

    def _new_thing(self, kind: str) -> str:
        if kind in ("person", "company"):
            return self.value(kind)
        if kind == "city":
            return self._cities[len(self._things.get("city", ()))]
        if kind == "club":
            return f"{invent_name(self._rng)} United"
        return invent_name(self._rng) + ("ia" if kind == "country" else "")


def functional_statements(
    rng: random.Random, relations: tuple[Relation, ...], *, things: int = 6, share: float = 0.3
) -> list[Statement]:
    """Return statements in a random order, a share of whose things have a second value later."""
    names = _Names(rng)
    first, second = [], []
    for relation in relations:
        for thing in names.things(relation.thing, things):
            matter = f"{relation.name} of {thing}"
            value = names.value(relation.value)
            first.append(Statement(_sentence(rng, relation, thing, value), matter))
            if rng.random() < share:
                other = names.value(relation.value)
                while other == value:
                    other = names.value(relation.value)
                text = _sentence(rng, relation, thing, other)
                second.append(Statement(text, matter, is_second=True))
    rng.shuffle(first)
    rng.shuffle(second)
    return first + second


def _sentence(rng: random.Random, relation: Relation, thing: str, value: str) -> str:
    text = rng.choice(relation.shapes).format(x=thing, y=value)
    return text[0].upper() + text[1:]


# Two texts each; names in braces are drawn anew for each pair.
LOOK_ALIKES: dict[str, tuple[str, str]] = {
    "tenants": ("Uploads of tenant {a} may have {m} MB.", "Uploads of tenant {b} may have {n} MB."),
    "kids": ("The kids of the {a} family go to bed at {h}:00.",
             "The parents of the {a} family go to bed at {i}:30."),
    "rooms": ("Room {m} at the {a} clinic has {h} beds.",
              "Room {n} at the {a} clinic has {i} beds."),
    "shards": ("Shard {m} of the {a} index holds {h} GB.",
               "Shard {n} of the {a} index holds {i} GB."),
    "episodes": ("Episode {m} of {a} was recorded on {h} March.",
                 "Episode {n} of {a} was recorded on {i} March."),
    "offices": ("The {a} office opens at {h}:00.", "The {b} office opens at {i}:00."),
    "stores": ("Orders of {a} are stored in Postgres.", "Order events of {a} are sent to Kafka."),
    "doctor": ("Dr. {a} operates on Mondays.", "Dr. {a} holds clinic on Thursdays."),
    "districts": ("Waste in the district {a} is collected on Tuesdays.",
                  "Waste in the district {b} is collected on Fridays."),
    "bakery": ("{a} bakes {m} rye rolls every Saturday at {h}.",
               "{a} bakes {n} walnut loaves every Thursday at {i}."),
    "life": ("{a} {c} was born in {b}.", "{a} {c} died in {d}."),
    "posts": ("The president of {a} is {b} {c}.", "The treasurer of {a} is {d} {c}."),
    "readings": ("The {a} pump is checked every {h} days.",
                 "The {b} pump is checked every {i} days."),
    "environments": ("The staging cluster of {a} has {h} nodes.",
                     "The production cluster of {a} has {i} nodes."),
    "versions": ("The {a} client for iOS is at version {h}.2.",
                 "The {a} client for Android is at version {i}.1."),
    "terms": ("Draft invoices of {a} are kept for {m} days.",
              "Paid invoices of {a} are kept for {n} days."),
    "branches": ("The {a} branch is run by {b} {c}.", "The {d} branch is run by {b}'s sister {e}."),
    "pets": ("The dog of the {a} family eats {m} grams a day.",
             "The cat of the {a} family eats {n} grams a day."),
    "limits": ("Endpoint /{a}/list allows {m} requests per minute.",
               "Endpoint /{b}/list allows {n} requests per minute."),
    "lessons": ("{a} has piano lessons on Mondays.", "{b} has piano lessons on Wednesdays."),
}  # fmt: skip


def look_alikes(rng: random.Random, each: int) -> Iterator[tuple[str, str, str]]:
    """Yield the shape and two texts that are about two matters, ``each`` times a shape."""
    for shape, texts in LOOK_ALIKES.items():
        for _ in range(each):
            hour, other = rng.sample(range(6, 21), 2)
            amount, another = rng.sample(range(11, 97), 2)
            names = dict(zip("abcde", (invent_name(rng) for _ in range(5)), strict=True))
            filled = (text.format(m=amount, n=another, h=hour, i=other, **names) for text in texts)
            yield (shape, *filled)
