"""Sentences that say of a thing without a name where it is, what runs it, or who looks after it.

`memories/core/slots.py` reads what is said of named things. Here the thing is common words, equal
on both sides, and the value a name: "Scans are archived in S3", "Search runs on Solr", "The safety
officer of the plant is Ana Kolb", "Ana Kolb looks after the spare keys".
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from memories.core.calendar_words import DAYS_OF_WEEKS, FESTIVALS, MONTHS
from memories.core.function_words import ADDITIVES, NEGATORS, OPERATORS, PREPOSITIONS, words_of
from memories.core.lexicon import KINDS, concept_of, is_product
from memories.core.slot_nouns import ONE_OF_MANY
from memories.core.value_likeness import may_be_one_name

MAX_CHARS: Final = 160
_THING: Final = r"(?P<thing>[^\s,;:()\"][^,;:()\"]{1,80}?)"
_VALUE: Final = r"(?P<value>[^,;:()\"]{2,60})"
_IS: Final = r"\s(?:is|are)\s(?:now\s|currently\s)?"
# What a sentence says of a thing: the participles and verbs that lead to the value.
_LEADS: Final = {
    "place": rf"(?:{_IS}(?:stored|kept|held|archived|saved|hosted|located|filed|housed|parked)|"
    r"\s(?:lives?|sits?|resides?|takes?\splace|happens?))\s(?:in|on|at)",
    "platform": rf"(?:{_IS}(?:powered\sby|built\son)|\sruns?\son(?:\stop\sof)?)",
    "language": rf"{_IS}(?:written|implemented|coded|developed)\sin",
    "channel": rf"(?:{_IS}(?:processed|handled|settled|routed)\s(?:by|through|via)|"
    r"\s(?:go|goes|runs?)\s(?:through|via))",
    "source": rf"(?:{_IS}(?:served|provided|delivered|supplied)\sby|\scomes?\sfrom)",
}
_STATES: Final = {
    attribute: re.compile(rf"^{_THING}{lead}\s{_VALUE}$") for attribute, lead in _LEADS.items()
}
_GOES_TO: Final = re.compile(rf"^{_THING}\sgo(?:es)?\s(?:in)?to\s{_VALUE}$")
# "Terraform state is in S3", where only software can be meant; "the code is in Rust" is no place.
_IS_IN: Final = re.compile(rf"^{_THING}{_IS}in\s{_VALUE}$")
_NO_PLACES: Final = frozenset(
    ["language", "tongue", "format", "api style", "protocol", "transport", "framework", "license",
     "indentation"]
)  # fmt: skip
_OF_STREETS: Final = frozenset(map(concept_of, words_of("street road lane avenue square way")))
_FULL_NAME: Final = r"[A-Z][\w'’-]*(?:\s[A-Z][\w'’.-]*){0,2}"
_ROLES: Final = (
    re.compile(rf"^(?P<value>{_FULL_NAME})\sis\s(?:now\s|currently\s)?(?P<thing>(?:the|our)\s.+)$"),
    re.compile(rf"^(?P<thing>\S.{{1,100}}?)\sis\s(?:now\s)?(?P<value>{_FULL_NAME})$"),
)
_DEFINITE: Final = re.compile(r"^(?:the|our)\s|['’]s\s", re.IGNORECASE)
_CARE: Final = {
    "handle": "handles|handled", "manage": "manages|managed", "run": "runs|run",
    "lead": "leads|led", "maintain": "maintains|maintained", "approve": "approves|approved",
    "review": "reviews|reviewed", "sign": "signs|signed", "keep": "keeps|kept",
    "look after": "looks after|looked after", "organise": "organises|organised",
}  # fmt: skip
_VERBS: Final = {form: verb for verb, forms in _CARE.items() for form in forms.split("|")}
_FORMS: Final = "|".join(_VERBS)
_DOES: Final = re.compile(
    rf"^(?P<value>{_FULL_NAME})\s(?P<verb>{_FORMS})\s(?P<thing>(?:the|our)\s.+)$"
)
_DONE: Final = re.compile(
    rf"^(?P<thing>(?:[Tt]he|[Oo]ur)\s.+?)\s(?:is|are)\s(?P<verb>{_FORMS})\sby\s"
    rf"(?P<value>{_FULL_NAME})$"
)
_PURPOSE: Final = re.compile(r"\sfor\s\w{1,30}ing$")
_WORD: Final = re.compile(r"[^\s]{1,60}")
_NAMING: Final = re.compile(r"(?:[A-Z]|[a-z]{1,30}[A-Z])[\w&.'’/+-]{0,60}|\w{0,30}\d\w{0,30}")
_CLASS: Final = re.compile(r"[a-z][a-z-]{1,24}")
_IDLE: Final = words_of("the a an our their its my your team's company's of for in at to on")
_NOT_THE_ONE: Final = ONE_OF_MANY | words_of("new old main it this that they he she who there here")
_UNSURE: Final = ADDITIVES | NEGATORS | OPERATORS | words_of("and or either sometimes if when")
_TIMES: Final = frozenset((*MONTHS, *DAYS_OF_WEEKS, *FESTIVALS)) | words_of("utc gmt")


@dataclass(frozen=True, slots=True)
class State:
    """What one sentence says of a thing: ``names`` of the value, and the noun that classes it.

    ``thing`` is the concepts of its words. ``is_product`` says that the value is software or has
    digits, as no town and no person has; ``is_of_person`` that only a person does what is said.
    """

    attribute: str
    thing: frozenset[str]
    names: frozenset[str]
    sort: str
    written: str
    is_product: bool
    is_of_person: bool


def are_exclusive(a: State, b: State) -> bool:
    """Return whether two sentences give one thing values that exclude each other."""
    if a.attribute != b.attribute or a.thing != b.thing or a.sort != b.sort:
        return False
    is_place = a.attribute == "place"
    if is_place and not a.sort and a.is_product != b.is_product:
        return False  # where it is kept, and in what: "in Lyon", "in Postgres"
    if may_be_one_name(a.written, b.written, is_place=is_place):
        return False
    mine, theirs = a.names - a.thing - _OF_STREETS, b.names - b.thing - _OF_STREETS
    return bool(mine and theirs) and mine.isdisjoint(theirs)


@lru_cache(maxsize=4096)  # of short texts only
def states_of(text: str) -> tuple[State, ...]:
    """Return the readings of a sentence about an unnamed thing; none when it has another form."""
    line = _PURPOSE.sub("", text.strip().rstrip(".!"))
    if len(line) > MAX_CHARS or not _UNSURE.isdisjoint(line.lower().split()):
        return ()
    return tuple(state for state in _readings(line) if state)


def _readings(line: str) -> Iterator[State | None]:
    for attribute, pattern in _STATES.items():
        if found := pattern.match(line):
            yield _state(attribute, found["thing"], found["value"])
    if found := _IS_IN.match(line):
        state = _state("place", found["thing"], found["value"])
        yield state if state and state.is_product and _are_places(state.names) else None
    if found := _GOES_TO.match(line):
        state = _state("place", found["thing"], found["value"])
        yield state if state and state.sort else None  # else it may go to a person
    for pattern in (_DOES, _DONE):
        if found := pattern.match(line):
            yield _state(_VERBS[found["verb"]], found["thing"], found["value"], of_person=True)
    for pattern in _ROLES:
        if (found := pattern.match(line)) and _DEFINITE.search(found["thing"]):
            yield _state("role", found["thing"], found["value"], of_person=True)


def _are_places(names: frozenset[str]) -> bool:
    """Return whether no name is of a language, a format or the like, in which something is."""
    return all(KINDS.get(name, frozenset()).isdisjoint(_NO_PLACES) for name in names)


def _state(attribute: str, thing: str, value: str, *, of_person: bool = False) -> State | None:
    described = [word.removesuffix("'s").removesuffix("’s") for word in thing.lower().split()]
    concepts = frozenset(concept_of(word) for word in described if word not in _IDLE)
    is_limited = " for " in value  # "on port 80 for guests"
    if not concepts or is_limited or not _NOT_THE_ONE.isdisjoint(thing.lower().split()):
        return None
    words = [word for word in _WORD.findall(value) if word.lower() not in _IDLE]
    names = [word for word in words if _NAMING.fullmatch(word) or is_product(concept_of(word))]
    classes = [word for word in words if word not in names]
    if not names or len(names) > 4 or len(classes) > 1:
        return None
    if not all(_CLASS.fullmatch(word) and word not in PREPOSITIONS for word in classes):
        return None
    lowered = frozenset(word.lower() for word in names)
    if not _TIMES.isdisjoint(lowered) or all(map(str.isdigit, lowered)):
        return None
    known = any(is_product(concept_of(word)) or not word.isalpha() for word in lowered)
    if of_person and known:
        return None
    keys = frozenset(map(concept_of, lowered))
    sort = concept_of(classes[0]) if classes else ""
    return State(attribute, concepts, keys, sort, " ".join(words), known, of_person)
